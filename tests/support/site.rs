//! cephmark as a user runs it: in a directory of its own, on a namespace of its own, so that whatever it leaves behind
//! shows.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cephmark::lab::Cluster;
use cephmark::result::ResultFile;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::ceph::{POOL, fresh_name, tool};
use super::cephmark;

/// Longer than anything here takes, on a machine that does other things too.
const PATIENCE: Duration = Duration::from_secs(120);

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
    /// The namespace of the pool `rbd` that is this site's own.
    pub(crate) namespace: String,
    directory: tempfile::TempDir,
}

impl<'a> Site<'a> {
    pub(crate) fn on(lab: &'a Cluster) -> Self {
        let (namespace, directory) = (fresh_name(), tempfile::tempdir().expect("a temporary directory"));
        fs::create_dir(directory.path().join("tmp")).expect("a directory for temporary files");
        tool(lab, "rbd", &["namespace", "create", &format!("{POOL}/{namespace}")]);
        Self { lab, namespace, directory }
    }

    /// A path within the site's directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// `rbd/NAMESPACE/IMAGE`.
    pub(crate) fn image(&self, name: &str) -> String {
        format!("{POOL}/{}/{name}", self.namespace)
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

    /// The images of the namespace.
    #[track_caller]
    pub(crate) fn images(&self) -> Vec<String> {
        self.rbd(&["ls", &format!("{POOL}/{}", self.namespace)]).lines().map(str::to_owned).collect()
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

    /// `cephmark run` of a profile in which NAMESPACE stands for the site's own; results go to `out`.
    pub(crate) fn run_command(&self, profile: &str, arguments: &[&str]) -> Command {
        fs::write(self.path("profile.yaml"), self.named(profile)).expect("a profile");
        self.command(&[&["run", "profile.yaml", "--out", "out"], arguments].concat())
    }

    /// Runs a profile to the end.
    #[track_caller]
    pub(crate) fn run(&self, profile: &str, arguments: &[&str]) -> End {
        Running::start(self.run_command(profile, arguments)).end()
    }

    /// Starts a profile.
    #[track_caller]
    pub(crate) fn start(&self, profile: &str, arguments: &[&str]) -> Running {
        Running::start(self.run_command(profile, arguments))
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

    /// Asserts that a run left no image, no object of one, no results, no temporary file and no process.
    #[track_caller]
    pub(crate) fn assert_untouched(&self) {
        assert!(!self.path("out").exists(), "there are results");
        self.assert_clean();
    }

    /// As [`Self::assert_untouched`], for a run that has results.
    #[track_caller]
    pub(crate) fn assert_clean(&self) {
        let objects = tool(self.lab, "rados", &["-p", POOL, "-N", &self.namespace, "ls"]);
        let of_images = objects.lines().filter(|name| {
            ["rbd_data.", "rbd_header.", "rbd_id.", "rbd_object_map."]
                .iter()
                .any(|kind| name.starts_with(kind))
        });
        assert_eq!(of_images.collect::<Vec<_>>(), Vec::<&str>::new(), "objects of images are left");
        let temporary: Vec<_> = self.path("tmp").read_dir().expect("it is there").flatten().collect();
        assert!(temporary.is_empty(), "temporary files are left: {temporary:?}");
        let processes = processes_in(self.directory.path());
        assert!(processes.is_empty(), "processes are left: {processes:?}");
    }

    fn named(&self, text: &str) -> String {
        text.replace("NAMESPACE", &self.namespace)
    }
}

impl Drop for Site<'_> {
    fn drop(&mut self) {
        if !thread::panicking() {
            tool(self.lab, "rbd", &["namespace", "remove", &format!("{POOL}/{}", self.namespace)]);
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
