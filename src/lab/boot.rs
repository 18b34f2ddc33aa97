//! How a lab starts. Steps that do not need each other run at the same time; the first that fails ends all.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::unistd::Pid;

use super::conf::{self, Conf};
use super::daemon::Daemon;
use super::home::{self, Home, Record};
use super::ports::Ports;
use super::process::Process;
use super::program::Program;
use super::ready::{ClusterStatus, Lack};
use super::{DaemonName, Error, LabSpec, Watcher, keys, random_uuid};

/// A lab that starts.
pub(super) struct Boot<'a> {
    spec: &'a LabSpec,
    home: &'a Home,
    record: &'a Record,
    watcher: &'a Watcher<'a>,
    began: Instant,
    /// Daemons that must not die any more.
    started: Mutex<Vec<(DaemonName, Pid)>>,
    /// Set once a step failed: the others are to end too.
    failed: AtomicBool,
}

type Step<'a> = &'a (dyn Fn() -> Result<(), Error> + Sync);

impl<'a> Boot<'a> {
    pub(super) fn new(
        spec: &'a LabSpec,
        home: &'a Home,
        record: &'a Record,
        watcher: &'a Watcher<'a>,
    ) -> Self {
        let (started, failed) = (Mutex::default(), AtomicBool::new(false));
        Self { spec, home, record, watcher, began: Instant::now(), started, failed }
    }

    /// Brings all daemons up and waits until they are ready.
    pub(super) fn run(&self, ports: &Ports) -> Result<(), Error> {
        let spec = self.spec;
        self.write_files(ports)?;
        self.watcher.say(&format!("starting mon and mgr at {}", self.record.monitor));
        let osd_uuids: Vec<String> = (0..spec.osds).map(|_| random_uuid()).collect::<Result<_, _>>()?;
        self.together(&[&|| self.start_mon_and_mgr(), &|| self.make_osds(&osd_uuids)])?;
        self.watcher
            .say(&format!("starting {} OSD(s) on {}, {} each", spec.osds, spec.objectstore, spec.size));
        self.together(&[&|| self.start_osds(&osd_uuids), &|| self.make_pools()])?;
        self.together(&[&|| self.wait_until_ready(), &|| self.init_pools()])
    }

    fn write_files(&self, ports: &Ports) -> Result<(), Error> {
        let (spec, home) = (self.spec, self.home);
        let modules = self.link_mgr_modules()?;
        let conf = Conf::of(spec, home, &self.record.fsid, ports, modules.as_deref());
        home::write_private(&home.conf(), &conf.to_string())?;
        let daemons = DaemonName::all(spec.osds, spec.mds);
        let keyring = keys::write(home, &daemons, &|| self.go_on())?;
        home::write_private(&home.scratch("keyring"), &keyring)?;
        let (monmap, addresses) = (home.scratch("monmap"), conf::monitor_addresses(spec, ports));
        let arguments =
            ["--create", "--fsid", &self.record.fsid, "--addv", "a", &addresses, &monmap.to_string_lossy()];
        Program::Monmaptool.run(&arguments, &|| self.go_on()).map(drop)
    }

    /// At its start the mgr loads every Python module there is, which takes half of a lab's start on a busy host. Those
    /// that Ceph wants always are enough.
    fn link_mgr_modules(&self) -> Result<Option<PathBuf>, Error> {
        const ALWAYS_ON: [&str; 10] = [
            "balancer",
            "crash",
            "devicehealth",
            "orchestrator",
            "pg_autoscaler",
            "progress",
            "rbd_support",
            "status",
            "telemetry",
            "volumes",
        ];
        let installed = Path::new("/usr/share/ceph/mgr");
        let Ok(entries) = fs::read_dir(installed) else { return Ok(None) };
        let own = self.home.scratch("mgr-modules");
        home::make_private(&own)?;
        for entry in entries.flatten() {
            let name = entry.file_name();
            let is_library = Path::new(&name).extension().is_some_and(|extension| extension == "py");
            if is_library || ALWAYS_ON.iter().any(|module| name == *module) {
                let link = own.join(&name);
                symlink(entry.path(), &link).map_err(Error::io("link", &link))?;
            }
        }
        Ok(Some(own))
    }

    fn start_mon_and_mgr(&self) -> Result<(), Error> {
        let (monmap, keyring) = (self.home.scratch("monmap"), self.home.scratch("keyring"));
        let mkfs = ["--monmap", &monmap.to_string_lossy(), "--keyring", &keyring.to_string_lossy()];
        Daemon::new(self.home, DaemonName::mon()).mkfs(&mkfs, &|| self.go_on())?;
        self.start(DaemonName::mon())?;
        self.start(DaemonName::mgr())
    }

    fn make_osds(&self, uuids: &[String]) -> Result<(), Error> {
        let make = |number: u32, uuid: &str| {
            let osd = Daemon::new(self.home, DaemonName::osd(number));
            // The monitor may not be there yet, and is not needed for it.
            osd.mkfs(&["--osd-uuid", uuid, "--no-mon-config"], &|| self.go_on())
        };
        uuids.iter().zip(0..).try_for_each(|(uuid, number)| make(number, uuid))
    }

    fn start_osds(&self, uuids: &[String]) -> Result<(), Error> {
        uuids.iter().zip(0..).try_for_each(|(uuid, number)| {
            self.ceph(&["osd", "new", uuid, &number.to_string()])?;
            self.start(DaemonName::osd(number))
        })
    }

    fn make_pools(&self) -> Result<(), Error> {
        // Else the mgr makes a pool of its own at some later moment, amid a measurement.
        self.ceph(&["config", "set", "mgr", "mgr/devicehealth/enable_monitoring", "false", "--force"])?;
        let file_system: &[&str] = if self.spec.mds { &["cephfs_metadata", "cephfs_data"] } else { &[] };
        let pgs = self.spec.pgs.to_string();
        for pool in self.spec.pools.iter().map(String::as_str).chain(file_system.iter().copied()) {
            self.ceph(&["osd", "pool", "create", pool, &pgs])?;
        }
        if self.spec.mds {
            self.ceph(&["fs", "new", "cephfs", "cephfs_metadata", "cephfs_data"])?;
            self.start(DaemonName::mds())?;
        }
        Ok(())
    }

    fn init_pools(&self) -> Result<(), Error> {
        self.spec.pools.iter().try_for_each(|pool| {
            super::command(Program::Rbd, self.home, &["pool", "init", pool], &|| self.go_on()).map(drop)
        })
    }

    fn wait_until_ready(&self) -> Result<(), Error> {
        let mut last = None;
        loop {
            let lack = self.lack()?;
            let Some(now) = lack else { return Ok(()) };
            if self.began.elapsed() > self.spec.timeout {
                return Err(self.not_ready(&now));
            }
            if last.as_ref() != Some(&now) {
                self.watcher.say(&format!("waiting: {now}"));
                last = Some(now);
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn lack(&self) -> Result<Option<Lack>, Error> {
        let text = self.ceph(&["status", "-f", "json"])?;
        let status: ClusterStatus = serde_json::from_str(&text).unwrap_or_default();
        Ok(status.lack(self.record))
    }

    fn ceph(&self, arguments: &[&str]) -> Result<String, Error> {
        super::command(Program::Ceph, self.home, arguments, &|| self.go_on())
    }

    fn start(&self, name: DaemonName) -> Result<(), Error> {
        let daemon = Daemon::new(self.home, name);
        daemon.launch(&|| self.go_on())?;
        let process = daemon.process().ok_or_else(|| daemon.failed("ended right after its start"))?;
        self.started
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .push((daemon.name().clone(), process.pid));
        Ok(())
    }

    /// Whether it makes sense to go on.
    fn go_on(&self) -> Result<(), Error> {
        if self.watcher.stopped() || self.failed.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let started = self.started.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let conf = self.home.conf();
        if let Some((dead, _)) = started.iter().find(|(_, pid)| Process::of(*pid, &conf).is_none()) {
            return Err(Daemon::new(self.home, dead.clone()).failed("died"));
        }
        if self.began.elapsed() > self.spec.timeout {
            return Err(self.not_ready(&Lack::Monitor));
        }
        Ok(())
    }

    fn not_ready(&self, lack: &Lack) -> Error {
        super::not_ready(self.home, self.spec.timeout, lack)
    }

    /// Runs steps at the same time. Of several that fail, the one that did not fail because of another is told.
    fn together(&self, steps: &[Step<'_>]) -> Result<(), Error> {
        let guarded = |step: Step<'_>| step().inspect_err(|_| self.failed.store(true, Ordering::Relaxed));
        let results: Vec<Result<(), Error>> = thread::scope(|scope| {
            let threads: Vec<_> = steps.iter().map(|step| scope.spawn(move || guarded(*step))).collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        });
        let mut errors: Vec<Error> = results.into_iter().filter_map(Result::err).collect();
        errors.sort_by_key(|error| matches!(error, Error::Interrupted));
        errors.into_iter().next().map_or(Ok(()), Err)
    }
}
