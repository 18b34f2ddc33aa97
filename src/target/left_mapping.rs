//! Mappings that killed runs left on this host, told from all others by the mark that cephmark gives its own.

use std::fs;
use std::path::PathBuf;

use super::{Error, krbd, managed, nbd};

/// A mapping whose run is gone.
#[derive(Clone, Debug)]
pub struct LeftMapping {
    /// Its block device.
    pub device: PathBuf,
    /// The image, as the `rbd` tool takes it.
    pub image: String,
    /// The pool of the image.
    pub pool: String,
    /// The cluster's id, where it is known.
    pub fsid: Option<String>,
    by: Client,
}

#[derive(Clone, Debug)]
enum Client {
    Krbd(u32),
    Nbd,
}

impl LeftMapping {
    /// Unmaps it. Blocks for as long as that takes.
    ///
    /// # Errors
    /// [`Error::Unmap`], as of a device that somebody else has opened since.
    pub fn unmap(&self) -> Result<(), Error> {
        match self.by {
            Client::Krbd(id) => krbd::unmap(id),
            Client::Nbd => nbd::unmap(&self.device),
        }
    }
}

impl std::fmt::Display for LeftMapping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, which maps {}", self.device.display(), self.image)
    }
}

/// The mappings of this host that runs made which are gone.
#[must_use]
pub fn left_mappings() -> Vec<LeftMapping> {
    let of_krbd = krbd::mappings().into_iter().filter(|entry| is_left(entry.key().unwrap_or_default()));
    let of_krbd = of_krbd.map(|entry| LeftMapping {
        device: entry.device(),
        image: entry.full_name(),
        pool: entry.pool,
        fsid: entry.fsid,
        by: Client::Krbd(entry.id),
    });
    let of_nbd = nbd::mappings().into_iter().filter(|entry| is_left(&entry.mark));
    let of_nbd = of_nbd.map(|entry| LeftMapping {
        device: entry.device.clone(),
        image: entry.full_name(),
        pool: entry.pool,
        fsid: entry.fsid,
        by: Client::Nbd,
    });
    of_krbd.chain(of_nbd).collect()
}

/// Whether a mark is one of ours, and the process that it names is gone.
fn is_left(mark: &str) -> bool {
    process_of(mark).is_some_and(|process| !is_alive(process))
}

/// The process that made a mapping, by its mark: `cephmark-RUN-PROCESS`.
fn process_of(mark: &str) -> Option<u32> {
    managed::maker(mark)?.1.parse().ok()
}

/// Whether a process of that number is cephmark. The one that asks has mapped nothing.
fn is_alive(process: u32) -> bool {
    let name = fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    process != std::process::id() && name.trim_end() == "cephmark"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::managed::NAME_PREFIX;

    #[test]
    fn only_marks_that_cephmark_gives_are_its_own() {
        assert_eq!(process_of("cephmark-0123456789abcdef-4711"), Some(4711));
        for theirs in
            ["client.admin", "cephmark-prod", "cephmark-0123456789abcdef-0-0", "cephmark-0123-4711", ""]
        {
            assert_eq!(process_of(theirs), None, "{theirs}");
        }
    }

    #[test]
    fn a_mapping_of_a_run_that_goes_on_is_not_left() {
        let mark = |process: u32| format!("{NAME_PREFIX}0123456789abcdef-{process}");
        // A process that is there, and is not cephmark.
        assert!(is_left(&mark(1)));
        assert!(!is_left("client.admin"));
    }
}
