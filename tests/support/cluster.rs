//! One lab for all tests of this process. It starts with the first test that asks for it and is gone seconds after the
//! process is, however that ends. `CEPHMARK_TEST_LAB=DIR` takes the lab in DIR instead, and leaves it there: start it
//! with `cephmark lab up --mds --dir DIR`.
//!
//! Statics are not dropped, and nothing is when a process is killed. So the lab belongs to a process of its own,
//! `cephmark lab run -- cat`: once our end of cat's standard input is closed, by us or by the kernel, cat ends, and with
//! it the lab.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::OnceLock;

use cephmark::lab::Cluster;

use super::cephmark;

/// The shared lab: an OSD in memory, an MDS, the pool `rbd` and the file system `cephfs`.
///
/// For tests that leave it as they found it; those that hurt daemons start a lab of their own.
pub(crate) fn shared() -> &'static Cluster {
    static SHARED: OnceLock<(Cluster, Option<Child>)> = OnceLock::new();
    &SHARED.get_or_init(find_or_start).0
}

fn find_or_start() -> (Cluster, Option<Child>) {
    match std::env::var_os("CEPHMARK_TEST_LAB") {
        Some(dir) => (open(Path::new(&dir)), None),
        None => start(),
    }
}

fn start() -> (Cluster, Option<Child>) {
    let dir = std::env::temp_dir().join(format!("cephmark-test-{}", std::process::id()));
    let mut messages = tempfile::tempfile().expect("a temporary file");
    let to_messages = messages.try_clone().expect("a second handle on it");
    let mut keeper = cephmark(&["lab", "run", "--mds", "--size", "4GiB", "--dir"])
        .arg(&dir)
        .args(["--", "sh", "-c", "echo ready; exec cat >&2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::from(to_messages))
        .process_group(0)
        .spawn()
        .expect("cephmark runs");
    let mut line = String::new();
    let stdout = keeper.stdout.take().expect("it is piped");
    BufReader::new(stdout).read_line(&mut line).expect("its output can be read");
    assert_eq!(line, "ready\n", "no lab for the tests:\n{}", text_of(&mut messages));
    (open(&dir), Some(keeper))
}

fn open(dir: &Path) -> Cluster {
    Cluster::open(dir).unwrap_or_else(|error| panic!("{error}"))
}

fn text_of(file: &mut File) -> String {
    use std::io::Seek;
    file.rewind().and_then(|()| std::io::read_to_string(file)).unwrap_or_default()
}
