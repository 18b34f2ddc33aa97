//! `cephmark lab` on real daemons: it comes up, goes down, and leaves nothing behind, whatever happens in between.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cephmark::lab::{Cluster, Lab, LabSpec, Lack, State, Watcher};
use cephmark::units::Bytes;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::cephmark;
use crate::support::cluster::{self, KeptLab};

/// A directory for a lab that is sure to be gone when the test ends, also by a failed assertion.
struct Place {
    dir: PathBuf,
    _temporary: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let temporary = tempfile::tempdir().expect("a temporary directory");
        Self { dir: temporary.path().join("lab"), _temporary: temporary }
    }

    fn lab(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("cephmark runs")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let (verb, further) = arguments.split_first().expect("a verb");
        let mut command = cephmark(&["lab", verb, "--dir"]);
        command.arg(&self.dir).args(further);
        command
    }

    /// A lab that is gone soon after this process, should that be killed.
    fn start(&self, arguments: &[&str]) -> KeptLab {
        KeptLab::start(&self.dir, &[&["--size", "1GiB"], arguments].concat())
    }

    fn spec(&self) -> LabSpec {
        LabSpec { size: Bytes(1 << 30), ..LabSpec::new(&self.dir) }
    }

    /// Processes that have the directory in their command line.
    fn processes(&self) -> Vec<String> {
        let here = self.dir.to_string_lossy().into_owned();
        let cmdlines = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
            fs::read(entry.path().join("cmdline"))
                .ok()
                .map(|text| String::from_utf8_lossy(&text).replace('\0', " "))
        });
        cmdlines.filter(|cmdline| cmdline.contains(&here)).collect()
    }

    fn assert_gone(&self) {
        assert_eq!(self.processes(), Vec::<String>::new());
        assert!(!self.dir.exists(), "{} is left", self.dir.display());
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Ok(Some(cluster)) = Cluster::find(&self.dir) {
            let _ = cluster.down();
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn assert_fails(output: &Output, code: i32, message: &str) {
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(stderr.contains(message), "{message:?} is not in:\n{stderr}");
}

#[track_caller]
fn assert_succeeds(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// Waits for something that another process does.
#[track_caller]
fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < until, "{what} does not happen");
        thread::sleep(Duration::from_millis(20));
    }
}

fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
}

#[test]
fn a_lab_comes_up_and_goes_down_without_a_trace() {
    let place = Place::new();
    assert_succeeds(&place.lab(&["up"]));
    assert!(assert_succeeds(&place.lab(&["status"])).ends_with("ready\n"));
    let env = assert_succeeds(&place.lab(&["env"]));
    let script = format!("{env}\nrbd create --size 16M rbd/image && rbd ls rbd && ceph fsid");
    let shell = Command::new("sh").args(["-c", &script]).env_remove("CEPH_CONF").output().unwrap();
    let fsid = Cluster::open(&place.dir).unwrap().fsid().to_owned();
    assert_eq!(assert_succeeds(&shell), format!("image\n{fsid}\n"));
    assert_fails(&place.lab(&["up"]), 3, "a lab is already in");

    assert_succeeds(&place.lab(&["down"]));
    place.assert_gone();
    assert_succeeds(&place.lab(&["down"]));
    assert_fails(&place.lab(&["status"]), 3, "no lab in");
    assert_fails(&place.lab(&["env"]), 3, "no lab in");
}

#[test]
fn labs_that_start_at_the_same_moment_do_not_meet() {
    let places = [Place::new(), Place::new()];
    let start = |place: &Place| Lab::up(&place.spec(), &Watcher::silent()).unwrap();
    let [one, two] = thread::scope(|scope| {
        places.each_ref().map(|place| scope.spawn(move || start(place))).map(|thread| thread.join().unwrap())
    });
    assert_ne!(one.monitor(), two.monitor());
    assert_ne!(one.fsid(), two.fsid());
    drop(one);
    places[0].assert_gone();
    assert_eq!(two.lack(), None);
}

#[test]
fn what_a_killed_parent_leaves_is_taken_down() {
    let place = Place::new();
    let mut up = place.command(&["up"]).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the monitor's start", || place.dir.join("run/mon.a.pid").exists());
    up.kill().unwrap();
    up.wait().unwrap();
    assert!(!place.processes().is_empty(), "daemons outlive the process that started them");
    assert_succeeds(&place.lab(&["down"]));
    place.assert_gone();
}

#[test]
fn an_interrupted_start_leaves_nothing() {
    let place = Place::new();
    let up = place.command(&["up"]).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("the monitor's start", || place.dir.join("run/mon.a.pid").exists());
    signal(&up, Signal::SIGINT);
    assert_fails(&up.wait_with_output().unwrap(), 130, "interrupted");
    place.assert_gone();
}

#[test]
fn run_gives_the_command_a_cluster_and_ends_with_its_code() {
    let place = Place::new();
    let output = place.lab(&["run", "--", "sh", "-c", "rbd -c $CEPH_CONF pool stats rbd && exit 42"]);
    assert_eq!(output.status.code(), Some(42), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("Total Images: 0"));
    place.assert_gone();
}

#[test]
fn run_takes_the_lab_that_is_there_and_hands_signals_on() {
    let shared = cluster::shared();
    let run = |arguments: &[&str]| {
        let mut command = cephmark(&["lab", "run", "--dir"]);
        command.arg(shared.dir()).arg("--").args(arguments).stderr(Stdio::piped()).stdout(Stdio::piped());
        // Else Ctrl-C's SIGINT is expected to reach the command by itself.
        command.process_group(0);
        command
    };
    let conf = run(&["printenv", "CEPH_CONF"]).output().unwrap();
    assert_eq!(assert_succeeds(&conf).trim(), shared.conf().to_string_lossy());
    assert_fails(&run(&["/absent/program"]).output().unwrap(), 3, "cannot run /absent/program");

    let place = Place::new();
    let ready = place.dir.with_extension("ready");
    let script = format!(": > {}; exec sleep 1000", ready.display());
    for (sent, code) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130)] {
        let waits = run(&["sh", "-c", &script]).spawn().unwrap();
        wait_for("the command's start", || fs::remove_file(&ready).is_ok());
        signal(&waits, sent);
        assert_eq!(waits.wait_with_output().unwrap().status.code(), Some(code));
    }
    assert_eq!(shared.lack(), None);
}

#[test]
fn foreign_files_are_never_touched() {
    let place = Place::new();
    fs::create_dir(&place.dir).unwrap();
    let thesis = place.dir.join("thesis.tex");
    fs::write(&thesis, "years of work").unwrap();
    assert_fails(&place.lab(&["up"]), 3, "is not empty and is no lab");
    assert_fails(&place.lab(&["down"]), 3, "is not empty and is no lab");
    assert_eq!(fs::read_to_string(&thesis).unwrap(), "years of work");

    fs::remove_file(&thesis).unwrap();
    let lab = Lab::up(&place.spec(), &Watcher::silent()).unwrap();
    fs::write(&thesis, "years of work").unwrap();
    lab.end().unwrap();
    let left: Vec<_> = fs::read_dir(&place.dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [thesis]);
}

#[test]
fn missing_programs_are_named_with_their_packages() {
    let place = Place::new();
    let bin = tempfile::tempdir().unwrap();
    for program in ["ceph", "rbd", "ceph-authtool", "ceph-mon", "ceph-mgr"] {
        symlink(Path::new("/usr/bin").join(program), bin.path().join(program)).unwrap();
    }
    let output = place.command(&["up", "--mds"]).env("PATH", bin.path()).output().unwrap();
    assert_fails(&output, 3, "not installed: monmaptool, ceph-osd, ceph-mds");
    assert_fails(&output, 3, "`apt-get install ceph-base ceph-mds ceph-osd`");
    place.assert_gone();
}

#[test]
fn a_port_in_use_is_named() {
    let place = Place::new();
    // An address that no other lab has, nor a client of one: their ports come and go.
    let taken = TcpListener::bind("127.77.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let output = place.lab(&["up", "--addr", "127.77.0.1", "--port", &(port - 1).to_string()]);
    assert_fails(&output, 3, &format!("port {port} of 127.77.0.1 is in use"));
    place.assert_gone();
}

#[test]
fn a_daemon_that_does_not_start_is_named_with_its_last_words() {
    let place = Place::new();
    let output = place.lab(&["up", "--conf", "osd.0/ms_bind_port_max=1"]);
    assert_fails(&output, 3, "osd.0");
    assert_fails(&output, 3, "unable to bind");
    place.assert_gone();
}

#[test]
fn a_deep_directory_has_its_sockets_elsewhere() {
    let mut place = Place::new();
    place.dir = place.dir.join("deep".repeat(30));
    let lab = place.start(&[]);
    let asked = Command::new("ceph-conf")
        .args(["-c", &lab.conf().to_string_lossy(), "-n", "osd.0", "--show-config-value", "run_dir"])
        .output();
    let sockets = PathBuf::from(text(&asked.unwrap().stdout).trim());
    assert!(sockets.join("ceph-osd.0.asok").exists());
    drop(lab);
    place.assert_gone();
    assert!(!sockets.exists());
}

#[test]
fn daemons_can_be_killed_paused_and_brought_back() {
    let place = Place::new();
    let lab = place.start(&["--osds", "2", "--replicas", "2", "--objectstore", "bluestore"]);
    let osd = lab.daemon("osd.1").unwrap();
    let ready = || lab.wait_until_ready(Duration::from_secs(60), &Watcher::silent()).unwrap();

    osd.kill().unwrap();
    assert_eq!(osd.state(), State::Dead);
    wait_for("the loss of osd.1", || lab.lack() == Some(Lack::Osds { up: 1, all: 2 }));
    osd.start().unwrap();
    ready();

    let State::Running(pid) = osd.state() else { panic!("{} is {}", osd.name(), osd.state()) };
    osd.pause().unwrap();
    assert_eq!(osd.state(), State::Paused(pid));
    osd.resume().unwrap();
    assert_eq!(osd.state(), State::Running(pid));

    lab.daemon("mon.a").unwrap().restart().unwrap();
    ready();
    assert!(lab.daemon("osd.2").unwrap_err().to_string().contains("it has mon.a, mgr.x, osd.0, osd.1"));
}

#[test]
fn a_memstore_keeps_its_data_over_an_orderly_restart() {
    let place = Place::new();
    let lab = place.start(&[]);
    let rados = |arguments: &[&str]| {
        let output =
            Command::new("rados").arg("-c").arg(lab.conf()).args(["-p", "rbd"]).args(arguments).output();
        assert_succeeds(&output.unwrap())
    };
    rados(&["create", "object"]);
    lab.daemon("osd.0").unwrap().restart().unwrap();
    lab.wait_until_ready(Duration::from_secs(60), &Watcher::silent()).unwrap();
    assert!(rados(&["ls"]).lines().any(|name| name == "object"));
}

/// Where this very test, run in a process of its own, holds a lab until it is killed.
const HOLD: &str = "CEPHMARK_TEST_HOLD";

#[test]
fn a_lab_of_the_tests_is_gone_soon_after_they_are_killed() {
    if let Some(dir) = std::env::var_os(HOLD) {
        let _lab = KeptLab::start(Path::new(&dir), &["--size", "1GiB"]);
        loop {
            thread::park();
        }
    }
    let place = Place::new();
    let mut tests = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "lab::a_lab_of_the_tests_is_gone_soon_after_they_are_killed"])
        .env(HOLD, &place.dir)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("the lab's start", || {
        Cluster::find(&place.dir).is_ok_and(|lab| lab.is_some_and(|lab| lab.lack().is_none()))
    });
    tests.kill().unwrap();
    tests.wait().unwrap();
    wait_for("its end", || place.processes().is_empty() && !place.dir.exists());
}
