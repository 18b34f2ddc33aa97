//! RBD images through librbd in a process of its own, `rbd-nbd`, behind the kernel's network block device.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;

use super::Error;
use super::mapped::{MappedSet, full_name};
use crate::ceph::{Cluster, finish_within};
use crate::console::say;
use crate::plan::{ClientOption, ClusterSpec};

/// The program.
const PROGRAM: &str = "rbd-nbd";
/// The variables of its environment that tell who started it, and for which cluster.
const MARK: &str = "CEPHMARK_MAPPING";
const FSID: &str = "CEPHMARK_FSID";

/// How long unmapping may take: also when nobody can be asked to wait, as where a guard is dropped.
const UNMAP_LIMIT: Duration = Duration::from_secs(30);

/// Every device that this process mapped and has not unmapped.
static MAPPED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// An image mapped by `rbd-nbd`; unmapped when this is dropped.
#[derive(Debug)]
pub(super) struct Nbd {
    device: PathBuf,
}

impl Nbd {
    /// Its block device.
    pub(super) fn device(&self) -> &Path {
        &self.device
    }

    /// Unmaps it, and waits until its process has ended. Everything that has it open must be closed.
    ///
    /// # Errors
    /// [`Error::Unmap`].
    pub(super) fn unmap(self) -> Result<(), Error> {
        self.remove()
    }

    fn remove(&self) -> Result<(), Error> {
        let mut all = mapped();
        let Some(index) = all.iter().position(|device| *device == self.device) else { return Ok(()) };
        all.remove(index);
        drop(all);
        unmap(&self.device)
    }
}

impl Drop for Nbd {
    fn drop(&mut self) {
        if let Err(error) = self.remove() {
            say(error);
        }
    }
}

/// Unmaps all that is mapped: for a process that ends without dropping what it holds.
pub(super) fn unmap_all() {
    let all: Vec<_> = mapped().drain(..).collect();
    for device in all {
        // It ends by itself; whoever wants their terminal back does not wait for it.
        let _ = command().args(["unmap".as_ref(), device.as_os_str()]).spawn();
    }
}

fn mapped() -> MutexGuard<'static, Vec<PathBuf>> {
    MAPPED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Unmaps a device. Blocks for as long as its process takes to write what it has cached, or until that takes too long.
pub(super) fn unmap(device: &Path) -> Result<(), Error> {
    let error = |reason: String| Error::Unmap { device: device.to_owned(), reason };
    let mut unmap = command();
    unmap.arg("unmap").arg(device);
    let output = finish_within("unmapping an image", UNMAP_LIMIT, move || Ok(unmap.output()));
    let output = output.map_err(|stuck| error(stuck.to_string()))?;
    let output = output.map_err(|reason| error(reason.to_string()))?;
    if output.status.success() { Ok(()) } else { Err(error(last_words(&output.stderr))) }
}

/// Maps one of an arm's images, with the arm's Ceph options. Blocks until it is mapped.
///
/// # Errors
/// [`Error::Map`] with the last words of `rbd-nbd`.
pub(super) fn map(
    cluster: &Cluster,
    spec: &ClusterSpec,
    set: &MappedSet,
    options: &[ClientOption],
    image: &str,
) -> Result<Nbd, Error> {
    let name = set.full_name(image);
    let error = |reason: String| Error::Map { image: name.clone(), client: "nbd", reason };
    let mut command = command();
    command.args(["map", &name, "--name", &spec.user]).env(MARK, &set.mark).env(FSID, cluster.fsid()?);
    if let Some(conf) = &spec.conf {
        command.arg("--conf").arg(conf);
    }
    if !set.images.writable {
        command.arg("--read-only");
    }
    command.args(set.mapping.options.iter().map(|option| format!("--{option}")));
    command.args(options.iter().map(|option| format!("--{}={}", option.name, option.value)));
    let output = command.output().map_err(|reason| error(reason.to_string()))?;
    if !output.status.success() {
        return Err(error(format!(
            "{}; it needs root and the kernel's module nbd",
            last_words(&output.stderr)
        )));
    }
    let device = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    mapped().push(device.clone());
    Ok(Nbd { device })
}

/// Refuses to begin without the program.
///
/// # Errors
/// [`Error::NoNbd`].
pub fn check_installed() -> Result<(), Error> {
    match command().arg("--version").output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Error::NoNbd),
        _ => Ok(()),
    }
}

/// A mapping of this host that some `rbd-nbd` serves.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) device: PathBuf,
    pub(super) pool: String,
    namespace: String,
    image: String,
    snapshot: String,
    /// Who made it; empty for others than cephmark.
    pub(super) mark: String,
    /// The cluster's id, of our own ones.
    pub(super) fsid: Option<String>,
}

impl Entry {
    /// The image as the `rbd` tool takes it.
    pub(super) fn full_name(&self) -> String {
        let snapshot = Some(self.snapshot.as_str()).filter(|name| !name.is_empty() && *name != "-");
        full_name(&self.pool, &self.namespace, &self.image, snapshot)
    }
}

/// All mappings of this host; none where the program is not installed.
pub(super) fn mappings() -> Vec<Entry> {
    #[derive(Deserialize)]
    struct Listed {
        pid: Option<u32>,
        id: Option<u32>,
        pool: String,
        #[serde(default)]
        namespace: String,
        image: String,
        #[serde(default)]
        snap: String,
        device: PathBuf,
    }
    let listed = command().args(["list-mapped", "--format", "json"]).output();
    let listed: Vec<Listed> =
        listed.ok().and_then(|output| serde_json::from_slice(&output.stdout).ok()).unwrap_or_default();
    let entry = |listed: Listed| {
        // Releases differ in what they call the process.
        let environment = environment_of(listed.pid.or(listed.id)?)?;
        let variable = |name: &str| {
            let mut all = environment.split('\0').filter_map(|variable| variable.split_once('='));
            all.find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
        };
        Some(Entry {
            device: listed.device,
            pool: listed.pool,
            namespace: listed.namespace,
            image: listed.image,
            snapshot: listed.snap,
            mark: variable(MARK).unwrap_or_default(),
            fsid: variable(FSID),
        })
    };
    listed.into_iter().filter_map(entry).collect()
}

fn environment_of(process: u32) -> Option<String> {
    Some(String::from_utf8_lossy(&fs::read(format!("/proc/{process}/environ")).ok()?).into_owned())
}

/// The program, in a process group of its own: a Ctrl-C is for us, who unmap then.
fn command() -> Command {
    let mut command = Command::new(PROGRAM);
    command.stdin(Stdio::null()).process_group(0);
    command
}

fn last_words(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it gave no reason").trim().to_owned()
}
