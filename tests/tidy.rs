//! House rules that a compiler does not check.

use std::fs;
use std::path::{Path, PathBuf};

/// No file grows past this; at half of it one looks for the second noun.
const LINES_MAX: usize = 500;
/// Longer lines are for tables and links only.
const COLUMNS_MAX: usize = 140;
const UNSAFE_ALLOWED: [&str; 4] = ["ceph-sys/", "src/ceph/", "src/lane/", "src/target/"];

fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<PathBuf> =
        ["src", "ceph-sys/src", "tests", "benches", "examples"].map(|name| root.join(name)).into();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("a source file can be read");
                let name = path.strip_prefix(root).expect("it lies below the root").display().to_string();
                found.push((name, text));
            }
        }
    }
    assert!(found.len() > 50, "the sources were found");
    found
}

#[test]
fn a_file_holds_one_noun() {
    for (name, text) in sources() {
        let lines = text.lines().count();
        assert!(lines <= LINES_MAX, "{name} has {lines} lines: which second noun is in it?");
    }
}

#[test]
fn lines_fit_a_screen() {
    for (name, text) in sources() {
        for (number, line) in text.lines().enumerate() {
            let columns = line.chars().count();
            assert!(columns <= COLUMNS_MAX, "{name}:{} has {columns} columns", number + 1);
        }
    }
}

#[test]
fn every_module_says_what_it_is_for() {
    for (name, text) in sources() {
        assert!(text.starts_with("//! "), "{name} does not begin with its purpose");
    }
}

#[test]
fn unsafe_stays_where_it_belongs() {
    for (name, text) in sources() {
        let allowed =
            UNSAFE_ALLOWED.iter().any(|place| name.starts_with(place)) || name.starts_with("tests/");
        let lifts_the_lint = text.lines().any(|line| line.starts_with("#![expect(unsafe_code"));
        assert!(allowed || !lifts_the_lint, "{name} uses unsafe code");
    }
}

#[test]
fn the_flow_is_one_way() {
    const FLOW: [&str; 14] = [
        "profile", "stats", "plan", "ceph", "lane", "measure", "load", "target", "result", "compare",
        "report", "run", "tune", "cli",
    ];
    for (name, text) in sources() {
        let Some(here) = FLOW.iter().position(|part| name.starts_with(&format!("src/{part}/"))) else {
            continue;
        };
        for later in &FLOW[here + 1..] {
            let import = format!("crate::{later}");
            assert!(!text.contains(&import), "{name} imports {later}, which stands to its right");
        }
    }
}
