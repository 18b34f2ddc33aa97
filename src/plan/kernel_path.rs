//! A file or block device as what the I/O of an arm goes to, and the rules of its kind.

use std::path::PathBuf;

use crate::profile::{Block, Engine, Fault, File, Path, Target};
use crate::units::Bytes;

use super::check::Check;

/// What direct I/O is a multiple of on every file system.
const BLOCK: Bytes = Bytes(4096);

/// A file or block device, through the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelPath {
    /// Where it is; for a file that cephmark makes, what its name begins with.
    pub path: PathBuf,
    /// What it is.
    pub kind: PathKind,
    /// What exists may be overwritten. Without it every workload of the plan only reads.
    pub destroys_data: bool,
    /// How the kernel does its I/O.
    pub access: Access,
}

/// What a path through the kernel leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// A block device.
    Device,
    /// A file that exists.
    File,
    /// A file that cephmark makes and removes.
    NewFile {
        /// Its size.
        size: Bytes,
        /// Fill it before the first trial, and again after trials that trim or zero.
        prefill: bool,
    },
}

/// How the kernel does the I/O of an arm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The queue that hands I/O to it.
    pub engine: Engine,
    /// Past the page cache.
    pub direct: bool,
    /// Attributes of the device's queue for the time of each trial, by their name in sysfs.
    pub queue: Vec<(String, String)>,
}

impl KernelPath {
    /// Whether cephmark makes it.
    #[must_use]
    pub const fn is_new(&self) -> bool {
        matches!(self.kind, PathKind::NewFile { .. })
    }

    /// Its size; `None` if only looking tells.
    #[must_use]
    pub const fn size(&self) -> Option<Bytes> {
        match self.kind {
            PathKind::NewFile { size, .. } => Some(size),
            PathKind::Device | PathKind::File => None,
        }
    }

    /// Whether it is to be filled before it is measured.
    #[must_use]
    pub const fn prefill(&self) -> bool {
        matches!(self.kind, PathKind::NewFile { prefill: true, .. })
    }

    /// The block device at `at`.
    pub(super) fn device(
        check: &Check<'_>,
        at: &Path,
        target: &Target,
        block: &Block,
    ) -> Result<Self, Fault> {
        let message = "must begin with `/`, so that it is the same from wherever cephmark runs";
        check.ensure(block.path.is_absolute(), &at.key("block").key("path"), message)?;
        Ok(Self {
            path: block.path.clone(),
            kind: PathKind::Device,
            destroys_data: target.destroys_data,
            access: access(check, at, target)?,
        })
    }

    /// The file at `at`.
    pub(super) fn file(
        check: &Check<'_>,
        at: &Path,
        target: &Target,
        file: &File,
        prefill: bool,
    ) -> Result<Self, Fault> {
        let (size, at_size) = (file.size.unwrap_or(BLOCK), at.key("file").key("size"));
        check.ensure(size > Bytes(0), &at_size, "must be above 0")?;
        let whole = target.direct == Some(false) || size.get().is_multiple_of(BLOCK.get());
        check.ensure(whole, &at_size, format!("must be a multiple of {BLOCK}, for direct I/O"))?;
        let message = "names no file";
        check.ensure(file.path.file_name().is_some(), &at.key("file").key("path"), message)?;
        check.ensure(
            target.queue.is_empty(),
            &at.key("queue"),
            "is of block devices; a file system may lie on several of them, or on none",
        )?;
        Ok(Self {
            path: file.path.clone(),
            kind: file.size.map_or(PathKind::File, |size| PathKind::NewFile { size, prefill }),
            destroys_data: target.destroys_data,
            access: access(check, at, target)?,
        })
    }
}

/// How the kernel is to do the I/O of the target at `at`.
pub(super) fn access(check: &Check<'_>, at: &Path, target: &Target) -> Result<Access, Fault> {
    let mut queue = Vec::new();
    for (name, value) in &target.queue {
        let valid = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_');
        let message = "is no name of a queue attribute; see /sys/block/*/queue";
        check.ensure(name.chars().all(valid), &at.key("queue").key(name), message)?;
        queue.push((name.clone(), value.0.clone()));
    }
    Ok(Access { engine: target.engine, direct: target.direct.unwrap_or(true), queue })
}
