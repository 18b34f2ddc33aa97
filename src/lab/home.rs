//! The directory of a lab: which file lies where, and the record that marks it as a lab.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{DaemonName, Error, LabSpec};

/// Longest directory for admin sockets: their path must fit in 107 bytes together with a name such as
/// `ceph-client.admin.4194304.94123456789012.asok`.
const SOCKETS_LEN_MAX: usize = 60;

/// The files of one lab. All but short-lived sockets lie under its directory.
#[derive(Clone, Debug)]
pub(super) struct Home {
    dir: PathBuf,
    /// Admin sockets and pid files.
    run: PathBuf,
}

/// What the file `lab.json` says. It is written first and removed last, so that a lab can be taken down at any
/// point of its life.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) fsid: String,
    /// `ADDRESS:PORT` of the monitor's v2 port.
    pub(super) monitor: SocketAddr,
    pub(super) osds: u32,
    pub(super) mds: bool,
    pub(super) pools: usize,
    /// Where admin sockets and pid files are.
    pub(super) run: PathBuf,
    /// Whether the directory was made for the lab, and goes with it.
    pub(super) made: bool,
}

impl Home {
    const RECORD: &str = "lab.json";
    /// All that a lab puts into its directory; nothing else is ever removed.
    const ENTRIES: [&str; 6] = ["data", "log", "run", "keyring", "ceph.conf", Self::RECORD];

    /// Takes the directory for a new lab and marks it, unless something is there already.
    pub(super) fn create(spec: &LabSpec, fsid: &str, monitor: SocketAddr) -> Result<(Self, Record), Error> {
        check_path(&std::path::absolute(&spec.dir).map_err(Error::io("use", &spec.dir))?)?;
        let made = make_if_absent(&spec.dir)?;
        let dir = spec.dir.canonicalize().map_err(Error::io("use", &spec.dir))?;
        let home = Self { run: run_dir(&dir, fsid), dir };
        let pools = spec.pools.len() + if spec.mds { 2 } else { 0 };
        let run = home.run.clone();
        let record =
            Record { fsid: fsid.to_owned(), monitor, osds: spec.osds, mds: spec.mds, pools, run, made };
        let marked =
            check_path(&home.dir).and_then(|()| check_owner(&home.dir)).and_then(|()| home.mark(&record));
        if marked.is_err() && made {
            // It is empty, or by now somebody else's: then this fails, as it should.
            let _ = fs::remove_dir(&home.dir);
        }
        marked.map(|()| (home, record))
    }

    /// Makes the directories within.
    pub(super) fn furnish(&self) -> Result<(), Error> {
        make_private(&self.dir.join("data"))?;
        make_private(&self.logs())?;
        make_private(&self.run)
    }

    /// Finds the lab in a directory; none if the directory is absent or empty.
    pub(super) fn find(dir: &Path) -> Result<Option<(Self, Record)>, Error> {
        let Ok(dir) = dir.canonicalize() else { return Ok(None) };
        let path = dir.join(Self::RECORD);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return if is_empty(&dir)? { Ok(None) } else { Err(Error::Foreign(dir)) };
            }
            Err(error) => return Err(Error::io("read", &path)(error)),
        };
        check_owner(&dir)?;
        let record: Record = serde_json::from_str(&text).map_err(|_| Error::Foreign(dir.clone()))?;
        Ok(Some((Self { dir, run: record.run.clone() }, record)))
    }

    /// Removes all that the lab put there. Its daemons must be gone. Foreign files stay, and the
    /// directory with them.
    pub(super) fn remove(&self, record: &Record) -> Result<(), Error> {
        remove(&self.run)?;
        for entry in Self::ENTRIES {
            remove(&self.dir.join(entry))?;
        }
        if record.made && is_empty(&self.dir)? {
            fs::remove_dir(&self.dir).map_err(Error::io("remove", &self.dir))?;
        }
        Ok(())
    }

    fn mark(&self, record: &Record) -> Result<(), Error> {
        let path = self.dir.join(Self::RECORD);
        if path.exists() {
            return Err(Error::InUse(self.dir.clone()));
        }
        if !is_empty(&self.dir)? {
            return Err(Error::Foreign(self.dir.clone()));
        }
        let text = serde_json::to_string_pretty(record).expect("a record has only keys that JSON can hold");
        // Whoever creates the file owns the directory; of two that try at once, one is told so.
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        match file {
            Ok(mut file) => file.write_all(text.as_bytes()).map_err(Error::io("write", &path)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(Error::InUse(self.dir.clone())),
            Err(error) => Err(Error::io("write", &path)(error)),
        }
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn run(&self) -> &Path {
        &self.run
    }

    pub(super) fn conf(&self) -> PathBuf {
        self.dir.join("ceph.conf")
    }

    /// The key of client.admin.
    pub(super) fn keyring(&self) -> PathBuf {
        self.dir.join("keyring")
    }

    pub(super) fn data(&self, daemon: &DaemonName) -> PathBuf {
        self.dir.join("data").join(daemon.to_string())
    }

    /// A file that is needed only while the lab starts.
    pub(super) fn scratch(&self, name: &str) -> PathBuf {
        self.dir.join("data").join(name)
    }

    pub(super) fn logs(&self) -> PathBuf {
        self.dir.join("log")
    }

    pub(super) fn log(&self, daemon: &DaemonName) -> PathBuf {
        self.logs().join(format!("{daemon}.log"))
    }
}

/// Writes a file that only its owner can read.
pub(super) fn write_private(path: &Path, text: &str) -> Result<(), Error> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(Error::io("write", path))?;
    file.write_all(text.as_bytes()).map_err(Error::io("write", path))
}

/// Makes a directory that only its owner can enter.
pub(super) fn make_private(path: &Path) -> Result<(), Error> {
    DirBuilder::new().mode(0o700).create(path).map_err(Error::io("make", path))
}

fn make_if_absent(dir: &Path) -> Result<bool, Error> {
    if let Some(parent) = dir.parent() {
        fs::create_dir_all(parent).map_err(Error::io("make", parent))?;
    }
    match make_private(dir) {
        Err(_) if dir.is_dir() => Ok(false),
        made => made.map(|()| true),
    }
}

/// In a directory such as `/tmp` anybody may put a trap under the name that we are about to use.
fn check_owner(dir: &Path) -> Result<(), Error> {
    let owner = fs::metadata(dir).map_err(Error::io("read", dir))?.uid();
    if owner == nix::unistd::geteuid().as_raw() {
        return Ok(());
    }
    Err(Error::Owner { dir: dir.to_owned(), owner })
}

fn remove(path: &Path) -> Result<(), Error> {
    let removed = match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io("remove", path)(error)),
        _ => Ok(()),
    }
}

fn is_empty(dir: &Path) -> Result<bool, Error> {
    Ok(fs::read_dir(dir).map_err(Error::io("read", dir))?.next().is_none())
}

/// Keyring paths in `ceph.conf` are a list split at blanks, commas and semicolons; `#` starts a comment and `$` a
/// variable.
fn check_path(dir: &Path) -> Result<(), Error> {
    let plain = |c: char| c.is_alphanumeric() || "/._+@%=-:".contains(c);
    match dir.to_str() {
        Some(text) if text.chars().all(plain) => Ok(()),
        _ => Err(Error::Unwritable(dir.to_owned())),
    }
}

fn run_dir(dir: &Path, fsid: &str) -> PathBuf {
    let own = dir.join("run");
    let private = |parent: PathBuf| parent.join(format!("cephmark-{}", &fsid[..8]));
    [own.clone(), private(std::env::temp_dir()), private(PathBuf::from("/tmp"))]
        .into_iter()
        .find(|path| path.as_os_str().len() <= SOCKETS_LEN_MAX)
        .unwrap_or(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_of_a_deep_directory_lie_elsewhere() {
        let fsid = "0f5ae9a6-1111-4222-8333-444455556666";
        assert_eq!(run_dir(Path::new("/tmp/lab"), fsid), Path::new("/tmp/lab/run"));
        let deep = PathBuf::from(format!("/tmp/{}", "d".repeat(100)));
        assert!(run_dir(&deep, fsid).as_os_str().len() <= SOCKETS_LEN_MAX);
    }

    #[test]
    fn paths_that_ceph_conf_would_misread_are_refused() {
        assert!(check_path(Path::new("/tmp/lab-1_a.b+c@d%e=f")).is_ok());
        for wrong in ["/tmp/a b", "/tmp/a,b", "/tmp/a;b", "/tmp/a#b", "/tmp/$name", "/tmp/a\nb", "/tmp/a'b"] {
            assert!(check_path(Path::new(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_directory_that_is_no_lab_is_foreign() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Home::find(dir.path()).unwrap().is_none(), "empty");
        fs::write(dir.path().join("thesis.tex"), "").unwrap();
        assert!(matches!(Home::find(dir.path()), Err(Error::Foreign(_))));
        fs::write(dir.path().join("lab.json"), "{}").unwrap();
        assert!(matches!(Home::find(dir.path()), Err(Error::Foreign(_))));
    }
}
