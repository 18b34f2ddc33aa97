//! A cpio archive, from which a kernel unpacks its first root file system.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const DIRECTORY: u32 = 0o040_755;
const FILE: u32 = 0o100_000;

/// An archive that is being written.
pub(crate) struct Archive {
    out: BufWriter<File>,
    directories: BTreeSet<String>,
    entries: u32,
}

impl Archive {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let out = BufWriter::new(File::create(path)?);
        Ok(Self { out, directories: BTreeSet::new(), entries: 0 })
    }

    /// A directory and those above it; `path` begins with `/`.
    pub(crate) fn directory(&mut self, path: &str) -> io::Result<()> {
        let ends = path.match_indices('/').skip(1).map(|(at, _)| at).chain([path.len()]);
        for end in ends.collect::<Vec<_>>() {
            let path = &path[..end];
            if path.len() > 1 && self.directories.insert(path.to_owned()) {
                self.entry(path, DIRECTORY, &[])?;
            }
        }
        Ok(())
    }

    /// A file of this machine, followed if it is a link.
    pub(crate) fn copy(&mut self, from: &Path, to: &str) -> io::Result<()> {
        let mode = fs::metadata(from)?.permissions().mode() & 0o777;
        self.file(to, mode, &fs::read(from)?)
    }

    /// A file of these bytes.
    pub(crate) fn file(&mut self, path: &str, mode: u32, bytes: &[u8]) -> io::Result<()> {
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        self.directory(parent)?;
        self.entry(path, FILE | mode, bytes)
    }

    /// Ends it.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.entry("/TRAILER!!!", 0, &[])?;
        self.out.flush()
    }

    /// The format called "newc": thirteen numbers of eight hexadecimal digits, the name, the bytes, each to whole words.
    fn entry(&mut self, path: &str, mode: u32, bytes: &[u8]) -> io::Result<()> {
        self.entries += 1;
        let name = path.trim_start_matches('/');
        let size = u32::try_from(bytes.len()).expect("less than 4 GiB");
        let name_size = u32::try_from(name.len() + 1).expect("a short name");
        let numbers = [self.entries, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, name_size, 0];
        let mut header = "070701".to_owned();
        header.extend(numbers.iter().map(|number| format!("{number:08x}")));
        header.push_str(name);
        header.push('\0');
        self.padded(header.as_bytes())?;
        self.padded(bytes)
    }

    fn padded(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.out.write_all(&[0; 3][..bytes.len().next_multiple_of(4) - bytes.len()])
    }
}
