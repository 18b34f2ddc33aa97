//! The modules that the guest's kernel loads, in an order in which each finds what it needs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What the guest needs; what these depend on is found in the modules themselves. The first three of libceph's are of
/// its encrypted connections, and nothing names them.
const WANTED: [&str; 10] = [
    "gcm",
    "ghash-generic",
    "ctr",
    "virtio_pci",
    "virtio_net",
    "virtio_blk",
    "libcrc32c",
    "rbd",
    "ceph",
    "nbd",
];

/// The files of the modules, each after those that it depends on.
pub(crate) fn in_order(modules: &Path) -> Vec<PathBuf> {
    let mut known = BTreeMap::new();
    collect(&modules.join("kernel"), &mut known);
    let mut order = Vec::new();
    for name in WANTED {
        add(&name.replace('-', "_"), &known, &mut order);
    }
    order
}

fn add(name: &str, known: &BTreeMap<String, PathBuf>, order: &mut Vec<PathBuf>) {
    let file = known.get(name).unwrap_or_else(|| panic!("the kernel has no module {name}"));
    if order.contains(file) {
        return;
    }
    let text = fs::read(file).expect("a module");
    let mark = b"\0depends=";
    // A module that depends on nothing says so with an empty list.
    let start =
        text.windows(mark.len()).position(|part| part == mark).map_or(text.len(), |at| at + mark.len());
    let list = text[start..].split(|byte| *byte == 0).next().unwrap_or_default();
    for needed in String::from_utf8_lossy(list).split(',').filter(|needed| !needed.is_empty()) {
        add(&needed.replace('-', "_"), known, order);
    }
    order.push(file.clone());
}

/// Module names are written with underscores, file names with either.
fn collect(dir: &Path, known: &mut BTreeMap<String, PathBuf>) {
    for entry in fs::read_dir(dir).expect("modules").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, known);
        } else if let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".ko")) {
            known.insert(name.replace('-', "_"), path.clone());
        }
    }
}
