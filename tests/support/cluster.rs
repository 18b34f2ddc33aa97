//! Labs for tests: one shared by all of this process, or one of a test's own. Each is gone seconds after the process
//! is, however that ends.
//!
//! Statics are not dropped, and nothing is when a process is killed. So a lab belongs to a process of its own,
//! `cephmark lab run -- cat`: once our end of cat's standard input is closed, by us or by the kernel, cat ends, and with
//! it the lab.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek};
use std::ops::Deref;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use cephmark::lab::Cluster;

use super::cephmark;

/// The lab for all tests that leave it as they found it: an OSD in memory, an MDS, the pool `rbd` and the file system
/// `cephfs`. It starts with the first that asks for it.
///
/// `CEPHMARK_TEST_LAB=DIR` takes the lab in DIR instead, and leaves it there: start it with
/// `cephmark lab up --mds --size 4GiB --dir DIR`.
pub(crate) fn shared() -> &'static Cluster {
    static SHARED: OnceLock<KeptLab> = OnceLock::new();
    SHARED.get_or_init(|| match std::env::var_os("CEPHMARK_TEST_LAB") {
        Some(dir) => KeptLab { cluster: open(Path::new(&dir)), keeper: None },
        None => {
            let dir = std::env::temp_dir().join(format!("cephmark-test-{}", std::process::id()));
            KeptLab::start(&dir, &["--mds", "--size", "4GiB"])
        }
    })
}

/// A lab for a test that hurts it, or wants another kind.
pub(crate) struct KeptLab {
    cluster: Cluster,
    /// None for a lab that is not ours.
    keeper: Option<Child>,
}

impl KeptLab {
    /// Starts a lab with arguments of `cephmark lab up`.
    pub(crate) fn start(dir: &Path, arguments: &[&str]) -> Self {
        let mut command = cephmark(&["lab", "run", "--dir"]);
        command.arg(dir).args(arguments).args(["--", "sh", "-c", "echo ready; exec cat >&2"]);
        Self::keep(dir, command)
    }

    /// A lab in `dir` that a command starts, which says `ready` once it has, and ends when its standard input does.
    pub(crate) fn keep(dir: &Path, mut command: Command) -> Self {
        let mut messages = tempfile::tempfile().expect("a temporary file");
        let to_messages = messages.try_clone().expect("a second handle on it");
        let mut keeper = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::from(to_messages))
            .process_group(0)
            .spawn()
            .expect("it runs");
        let mut line = String::new();
        let stdout = keeper.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut line).expect("its output can be read");
        assert_eq!(line, "ready\n", "no lab for the tests:\n{}", text_of(&mut messages));
        Self { cluster: open(dir), keeper: Some(keeper) }
    }
}

impl Deref for KeptLab {
    type Target = Cluster;

    fn deref(&self) -> &Cluster {
        &self.cluster
    }
}

impl Drop for KeptLab {
    fn drop(&mut self) {
        if let Some(keeper) = &mut self.keeper {
            // Waiting closes its standard input first.
            let _ = keeper.wait();
        }
    }
}

fn open(dir: &Path) -> Cluster {
    Cluster::open(dir).unwrap_or_else(|error| panic!("{error}"))
}

fn text_of(file: &mut File) -> String {
    file.rewind().and_then(|()| std::io::read_to_string(file)).unwrap_or_default()
}
