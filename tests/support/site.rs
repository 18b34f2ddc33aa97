//! cephmark as a user runs it: in a directory of its own, on a namespace of its own, so that whatever it leaves behind
//! shows.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cephmark::ceph::{Pool, Role};
use cephmark::lab::Cluster;
use cephmark::result::ResultFile;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::ceph::{POOL, fresh_name, tool};
use super::cephmark;

/// Longer than anything here takes, on a machine that does other things too.
const PATIENCE: Duration = Duration::from_secs(300);

/// One target that cephmark makes, one workload that writes, one trial of a second; `--set` makes other cases of it.
pub(crate) const PROFILE: &str = "\
version: 1
name: test
targets:
  t: {rbd: {namespace: NAMESPACE, size: 16MiB}, options: {rbd_cache: false}}
workloads:
  w: {rw: randwrite, bs: 4k, iodepth: 4}
run: {ramp_time: 0s, runtime: 1s, repeats: 1}
";

/// Where cephmark is run.
pub(crate) struct Site<'a> {
    pub(crate) lab: &'a Cluster,
    pool: String,
    /// The namespace of the pool that is this site's own.
    pub(crate) namespace: String,
    directory: tempfile::TempDir,
}

impl<'a> Site<'a> {
    /// In the pool `rbd`.
    pub(crate) fn on(lab: &'a Cluster) -> Self {
        Self::in_pool(lab, POOL)
    }

    pub(crate) fn in_pool(lab: &'a Cluster, pool: &str) -> Self {
        let (namespace, directory) = (fresh_name(), tempfile::tempdir().expect("a temporary directory"));
        fs::create_dir(directory.path().join("tmp")).expect("a directory for temporary files");
        tool(lab, "rbd", &["namespace", "create", &format!("{pool}/{namespace}")]);
        Self { lab, pool: pool.to_owned(), namespace, directory }
    }

    /// A path within the site's directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// `POOL/NAMESPACE/IMAGE`.
    pub(crate) fn image(&self, name: &str) -> String {
        format!("{}/{}/{name}", self.pool, self.namespace)
    }

    /// The `rbd` tool.
    #[track_caller]
    pub(crate) fn rbd(&self, arguments: &[&str]) -> String {
        tool(self.lab, "rbd", arguments)
    }

    /// Creates an image as the `rbd` tool does, of that many MiB.
    #[track_caller]
    pub(crate) fn create(&self, name: &str, mib: u32) -> String {
        let image = self.image(name);
        self.rbd(&["create", "--size", &format!("{mib}M"), &image]);
        image
    }

    /// The site's pool and namespace over a connection of the test's own, which answers faster than a program starts.
    pub(crate) fn pool(&self) -> Pool {
        let cluster = super::ceph::connect(self.lab, Role::Admin);
        cluster.pool(&self.pool, Some(&self.namespace)).expect("the pool")
    }

    /// The images of the namespace.
    #[track_caller]
    pub(crate) fn images(&self) -> Vec<String> {
        self.rbd(&["ls", &format!("{}/{}", self.pool, self.namespace)]).lines().map(str::to_owned).collect()
    }

    /// Makes the cluster forget the clients that have images of the namespace open, as it does by itself once they have
    /// been dead for 30 s.
    pub(crate) fn forget_clients(&self) {
        for image in self.images() {
            let status = self.rbd(&["status", &self.image(&image)]);
            let watchers = status.lines().filter_map(|line| line.trim().strip_prefix("watcher="));
            for address in watchers.filter_map(|line| line.split_whitespace().next()) {
                tool(self.lab, "ceph", &["osd", "blocklist", "add", address, "60"]);
            }
        }
    }

    /// A command of cephmark on this site, with NAMESPACE in its arguments replaced.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let arguments: Vec<String> = arguments.iter().map(|text| self.named(text)).collect();
        let mut command = cephmark(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        command
            .current_dir(self.directory.path())
            .env("CEPH_CONF", self.lab.conf())
            .env("TMPDIR", self.path("tmp"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Writes a profile, in which NAMESPACE stands for the site's own, to `profile.yaml`.
    pub(crate) fn write(&self, profile: &str) {
        fs::write(self.path("profile.yaml"), self.named(profile)).expect("a profile");
    }

    /// `cephmark run` of a profile with these settings; results go to `out`.
    pub(crate) fn run_command(&self, profile: &str, sets: &[&str]) -> Command {
        self.write(profile);
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        self.command(&["run", "profile.yaml", "--out", "out"].into_iter().chain(sets).collect::<Vec<_>>())
    }

    /// Runs a profile with these settings to the end.
    #[track_caller]
    pub(crate) fn run(&self, profile: &str, sets: &[&str]) -> End {
        Running::start(self.run_command(profile, sets)).end()
    }

    /// Starts a profile with these settings.
    #[track_caller]
    pub(crate) fn start(&self, profile: &str, sets: &[&str]) -> Running {
        Running::start(self.run_command(profile, sets))
    }

    /// Runs any other command to the end.
    #[track_caller]
    pub(crate) fn cephmark(&self, arguments: &[&str]) -> End {
        Running::start(self.command(arguments)).end()
    }

    /// The result of the last run.
    #[track_caller]
    pub(crate) fn result(&self) -> ResultFile {
        ResultFile::load(&self.path("out")).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Asserts that a run left no results, and nothing else either.
    #[track_caller]
    pub(crate) fn assert_untouched(&self) {
        assert!(!self.path("out").exists(), "there are results");
        self.assert_clean();
    }

    /// Asserts that a run left no image, no temporary file and no process.
    #[track_caller]
    pub(crate) fn assert_clean(&self) {
        self.assert_no_images();
        let temporary: Vec<_> = self.path("tmp").read_dir().expect("it is there").flatten().collect();
        assert!(temporary.is_empty(), "temporary files are left: {temporary:?}");
        let processes = processes_in(self.directory.path());
        assert!(processes.is_empty(), "processes are left: {processes:?}");
    }

    /// Asserts that no image of cephmark is there, nor an object of one that is half made or half removed. Images that
    /// the test itself made may be.
    #[track_caller]
    pub(crate) fn assert_no_images(&self) {
        let images = self.images();
        assert!(images.iter().all(|image| !image.starts_with("cephmark-")), "images are left: {images:?}");
        let objects = tool(self.lab, "rados", &["-p", &self.pool, "-N", &self.namespace, "ls"]);
        let ids: Vec<&str> = objects.lines().filter_map(|name| name.strip_prefix("rbd_header.")).collect();
        assert_eq!(ids.len(), images.len(), "headers are left: {objects}");
        let parts = ["rbd_data.", "rbd_object_map."];
        let mut parts =
            objects.lines().filter_map(|name| parts.iter().find_map(|part| name.strip_prefix(part)));
        assert!(parts.all(|part| ids.iter().any(|id| part.starts_with(id))), "objects are left: {objects}");
    }

    fn named(&self, text: &str) -> String {
        text.replace("NAMESPACE", &self.namespace)
    }
}

impl Drop for Site<'_> {
    fn drop(&mut self) {
        if !thread::panicking() {
            tool(self.lab, "rbd", &["namespace", "remove", &format!("{}/{}", self.pool, self.namespace)]);
        }
    }
}

/// The numbers of the processes that work in a directory.
fn processes_in(directory: &Path) -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("proc").flatten();
    let here = processes.filter(|entry| {
        fs::read_link(entry.path().join("cwd")).is_ok_and(|path| path.starts_with(directory))
    });
    here.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// A cephmark that runs; killed when it is dropped.
pub(crate) struct Running {
    child: Child,
    started: Instant,
    lines: Receiver<String>,
    said: Vec<String>,
    stdout: Option<JoinHandle<String>>,
}

impl Running {
    #[track_caller]
    pub(crate) fn start(mut command: Command) -> Self {
        let started = Instant::now();
        let mut child = command.spawn().expect("cephmark runs");
        let (sender, lines) = mpsc::channel();
        let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut stdout = child.stdout.take().expect("it is piped");
        let stdout = thread::spawn(move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).map(|_| text).unwrap_or_default()
        });
        Self { child, started, lines, said: Vec::new(), stdout: Some(stdout) }
    }

    /// Its process.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().try_into().expect("a process number"))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).expect("it runs");
    }

    /// Waits until it says a line that contains `words`.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, words: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    self.said.push(line);
                    if self.said.last().is_some_and(|line| line.contains(words)) {
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout) => panic!("it does not say {words:?}: {:#?}", self.said),
                Err(RecvTimeoutError::Disconnected) => panic!("it ended before {words:?}: {:#?}", self.said),
            }
        }
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn end(mut self) -> End {
        let until = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().expect("it can be waited for") {
                Some(status) => break status,
                None => assert!(Instant::now() < until, "it does not end: {:#?}", self.said),
            }
            thread::sleep(Duration::from_millis(5));
        };
        let took = self.started.elapsed();
        self.said.extend(self.lines.iter());
        let stdout = self.stdout.take().map(|stdout| stdout.join().expect("it is read")).unwrap_or_default();
        End { status, took, stdout, stderr: std::mem::take(&mut self.said) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // An error means that it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How a cephmark ended.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) status: ExitStatus,
    pub(crate) took: Duration,
    pub(crate) stdout: String,
    pub(crate) stderr: Vec<String>,
}

impl End {
    /// Asserts that it succeeded; its standard output.
    #[track_caller]
    pub(crate) fn success(&self) -> &str {
        assert!(self.status.success(), "{self:#?}");
        &self.stdout
    }

    /// Asserts its exit code, and that it gave one reason, which contains all of these words.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, words: &[&str]) {
        assert_eq!(self.status.code(), Some(code), "{self:#?}");
        let reasons: Vec<&String> =
            self.stderr.iter().filter(|line| line.starts_with("cephmark: ")).collect();
        let [reason] = reasons[..] else { panic!("one line is to give the reason: {self:#?}") };
        for words in words {
            assert!(reason.contains(words), "{words:?} is not in {reason:?}");
        }
    }

    /// As [`Self::fails`], for what is refused at once: there is not one line more.
    #[track_caller]
    pub(crate) fn refused(&self, code: i32, words: &[&str]) {
        self.fails(code, words);
        assert_eq!(self.stderr.len(), 1, "{self:#?}");
        assert!(self.stdout.is_empty(), "{self:#?}");
    }
}
