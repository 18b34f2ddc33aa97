//! cephmark as a user runs it in the guest, and what it leaves there and in the cluster.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;

use cephmark::exit::Exit;
use cephmark::result::{ResultFile, Status};

use super::guest::{Guest, Output};
use super::support::ceph::tool;

/// A `cephmark run` in the guest that goes on.
pub(crate) struct Running<'a> {
    guest: &'a Guest,
    wire: BufReader<TcpStream>,
    said: String,
}

impl Guest {
    /// Runs a profile with these settings to its end; results go to `out`.
    #[track_caller]
    pub(crate) fn cephmark_run(&self, profile: &str, sets: &[&str]) -> Output {
        self.write("/root/profile.yaml", profile);
        self.run(&command(sets))
    }

    /// Starts a profile with these settings.
    #[track_caller]
    pub(crate) fn cephmark_start(&self, profile: &str, sets: &[&str]) -> Running<'_> {
        self.write("/root/profile.yaml", profile);
        Running { guest: self, wire: BufReader::new(self.start(&command(sets))), said: String::new() }
    }

    /// The result of the last run.
    #[track_caller]
    pub(crate) fn result(&self) -> ResultFile {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::write(directory.path().join("result.json"), self.sh("cat out/result.json")).expect("room");
        ResultFile::load(directory.path()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The result of the last run, of which every trial must be valid.
    #[track_caller]
    pub(crate) fn valid_result(&self) -> ResultFile {
        let result = self.result();
        for trial in &result.trials {
            assert_eq!(trial.status, Status::Valid, "{} {}: {:?}", trial.arm, trial.workload, trial.problems);
        }
        result
    }

    /// `cephmark clean` with these arguments, which must succeed; what it printed. An emulated machine that is short of
    /// time may not get its answers in time, and asks again.
    #[track_caller]
    pub(crate) fn clean(&self, arguments: &str) -> String {
        let clean = || self.run(&format!("cephmark clean {arguments}"));
        let too_late = |output: &Output| {
            output.code == Exit::Stuck as i32 || output.text.contains("the cluster did not answer in time")
        };
        let mut answers = (0..5).map(|_| clean()).skip_while(too_late);
        let output = answers.next().expect("an answer of the cluster");
        assert_eq!(output.code, 0, "{}", output.text);
        output.text
    }

    /// Takes away what a test that failed has left, lest those after it fail too.
    pub(crate) fn reset(&self) {
        self.run(
            "killall -9 cephmark; umount /mnt/cephfs; for nbd in /sys/block/nbd*/pid; do kill $(cat $nbd); done; sleep 1; \
             for id in $(ls /sys/bus/rbd/devices); do echo $id force > /sys/bus/rbd/remove_single_major; done",
        );
        for image in self.images().iter().filter(|image| *image != "disk") {
            for address in self.watchers(&format!("rbd/{image}")) {
                tool(&self.lab, "ceph", &["osd", "blocklist", "add", &address, "60"]);
            }
            tool(&self.lab, "rbd", &["rm", "--no-progress", &format!("rbd/{image}")]);
        }
    }

    /// The numbers of the images that the kernel has mapped.
    #[track_caller]
    pub(crate) fn mapped(&self) -> Vec<String> {
        self.sh("ls /sys/bus/rbd/devices").split_whitespace().map(str::to_owned).collect()
    }

    /// Asserts that nothing is mapped, and that cephmark left no image.
    #[track_caller]
    pub(crate) fn assert_nothing_left(&self) {
        assert_eq!(self.mapped(), [""; 0], "still mapped");
        let images = self.images();
        assert!(images.iter().all(|image| !image.starts_with("cephmark-")), "images are left: {images:?}");
    }

    /// The images in the pool.
    #[track_caller]
    pub(crate) fn images(&self) -> Vec<String> {
        tool(&self.lab, "rbd", &["ls", "rbd"]).lines().map(str::to_owned).collect()
    }

    /// The addresses of clients that have an image open.
    #[track_caller]
    pub(crate) fn watchers(&self, image: &str) -> Vec<String> {
        let status = tool(&self.lab, "rbd", &["status", image]);
        let watchers = status.lines().filter_map(|line| line.trim().strip_prefix("watcher="));
        watchers.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
    }

    /// The secret that nobody must see.
    pub(crate) fn secret(&self) -> String {
        tool(&self.lab, "ceph", &["auth", "get-key", "client.admin"]).trim().to_owned()
    }
}

impl Running<'_> {
    /// Waits until it says a line that contains `words`.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, words: &str) {
        loop {
            let mut line = String::new();
            let read = self.wire.read_line(&mut line).unwrap_or(0);
            self.said += &line;
            assert!(read > 0, "it ended before {words:?}: {}", self.said);
            if line.contains(words) {
                return;
            }
        }
    }

    /// Sends it a signal; it may have ended by then.
    #[track_caller]
    pub(crate) fn signal(&self, name: &str) {
        self.guest.run(&format!("kill -{name} $(pidof cephmark)"));
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn end(mut self) -> Output {
        self.wire.read_to_string(&mut self.said).expect("it ends");
        Output::of(self.said)
    }
}

fn command(sets: &[&str]) -> String {
    let sets: String = sets.iter().map(|set| format!(" --set '{set}'")).collect();
    // Patient, since an emulated machine that is short of time may not get its answers in time.
    format!("rm -rf out; cephmark run profile.yaml --out out --set cluster.timeout=60s{sets}")
}
