//! A real GlusterFS for tests: one brick in a directory, mounted through FUSE. It takes root and /dev/fuse.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A mounted volume. It ends once our end of its keeper's standard input is closed, by us or by the kernel.
pub(crate) struct GlusterFs {
    directory: tempfile::TempDir,
    keeper: Child,
}

impl GlusterFs {
    pub(crate) fn start() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/glusterfs.sh");
        let mut keeper = Command::new("unshare")
            .args(["--net", "bash", script])
            .arg(directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .expect("unshare is part of every system");
        let mut line = String::new();
        let stdout = keeper.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut line).expect("its output can be read");
        let mut stderr = keeper.stderr.take().expect("it is piped");
        if line != "ready\n" {
            let mut words = String::new();
            stderr.read_to_string(&mut words).expect("what it says can be read");
            panic!("GlusterFS, which takes root, /dev/fuse and glusterfs-server, does not start:\n{words}");
        }
        // What it still has to say is for nobody, but it is to be able to say it.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        Self { directory, keeper }
    }

    /// Where it is mounted.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("mount")
    }

    /// Where its brick keeps the files.
    pub(crate) fn brick(&self) -> PathBuf {
        self.directory.path().join("brick")
    }
}

impl Drop for GlusterFs {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // It unmounts and stops everything; there is nothing to be done about what it can't.
        let _ = self.keeper.wait();
    }
}
