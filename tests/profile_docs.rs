//! docs/profile.md says of every key of the format what it is, its default and an example, and of no other.

use std::collections::{BTreeMap, BTreeSet};

use cephmark::profile::Profile;
use serde_json::Value;

const REFERENCE: &str = include_str!("../docs/profile.md");

/// A section of the reference, the type that it describes, and a profile around the keys of that type.
const SECTIONS: [(&str, &str, &str); 14] = [
    ("Top level", "", "TOP"),
    ("cluster", "Cluster", "cluster: {KEYS}"),
    ("target", "Target", "targets: {t: {KEYS}}"),
    ("rbd", "Rbd", "targets: {t: {rbd: {KEYS}}}"),
    ("cephfs", "Cephfs", "targets: {t: {cephfs: {KEYS}}}"),
    ("rados", "Rados", "targets: {t: {rados: {KEYS}}}"),
    ("block", "Block", "targets: {t: {block: {KEYS}}}"),
    ("file", "File", "targets: {t: {file: {KEYS}}}"),
    ("null", "Null", "targets: {t: {null: {KEYS}}}"),
    ("job", "Job", "workloads: {w: {KEYS}}"),
    ("sweep", "Sweep", "sweep: {KEYS}"),
    ("run", "Run", "run: {KEYS}"),
    ("compare", "Compare", "compare: {KEYS}"),
    ("tune", "Tune", "tune: {KEYS}"),
];

/// A row of the reference.
struct Row<'a> {
    key: &'a str,
    default: &'a str,
    example: &'a str,
}

/// The rows of every section by its heading.
fn reference() -> BTreeMap<&'static str, Vec<Row<'static>>> {
    let sections = REFERENCE.split("\n## ").skip(1).map(|section| section.split_once('\n').unwrap());
    let rows = |text: &'static str| text.lines().filter(|line| line.starts_with("| `")).map(row).collect();
    sections.map(|(heading, text)| (heading, rows(text))).collect()
}

fn row(line: &'static str) -> Row<'static> {
    let cells: Vec<&str> =
        line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
    let [key, default, _, example] = cells.as_slice() else { panic!("four cells: {line}") };
    Row { key, default, example }
}

/// The keys of a type with their schemas.
fn keys(name: &str) -> BTreeMap<String, Value> {
    let schema = schemars::schema_for!(Profile).to_value();
    let of = if name.is_empty() { &schema } else { &schema["$defs"][name] };
    of["properties"].as_object().unwrap_or_else(|| panic!("{name} has keys")).clone().into_iter().collect()
}

#[test]
fn every_key_is_described_and_no_other() {
    let reference = reference();
    assert_eq!(reference.len(), SECTIONS.len());
    for (heading, name, _) in SECTIONS {
        let described: BTreeSet<&str> = reference[heading].iter().map(|row| row.key).collect();
        let keys = keys(name);
        assert_eq!(described, keys.keys().map(String::as_str).collect(), "section {heading}");
    }
}

#[test]
fn no_type_of_the_format_is_left_out() {
    let schema = schemars::schema_for!(Profile).to_value();
    let with_keys =
        schema["$defs"].as_object().unwrap().iter().filter(|(_, of)| of.get("properties").is_some());
    let described: BTreeSet<&str> =
        SECTIONS.iter().map(|(_, name, _)| *name).filter(|name| !name.is_empty()).collect();
    assert_eq!(with_keys.map(|(name, _)| name.as_str()).collect::<BTreeSet<_>>(), described);
}

#[test]
fn every_default_is_that_of_the_code() {
    for (heading, name, _) in SECTIONS {
        let keys = keys(name);
        for row in &reference()[heading] {
            let default = match &keys[row.key]["default"] {
                Value::Null => "-".to_owned(),
                Value::String(text) => text.clone(),
                Value::Array(items) => format!(
                    "[{}]",
                    items.iter().map(|item| item.as_str().unwrap()).collect::<Vec<_>>().join(", ")
                ),
                Value::Object(map) if !map.is_empty() => String::new(),
                other => other.to_string(),
            };
            assert_eq!(row.default, default, "default of {} in section {heading}", row.key);
        }
    }
}

#[test]
fn every_example_is_taken() {
    for (heading, _, around) in SECTIONS {
        for row in &reference()[heading] {
            assert!(
                row.example.starts_with(&format!("{}: ", row.key)),
                "example of {}: {}",
                row.key,
                row.example
            );
            let required = [
                ("version", "version: 1"),
                ("name", "name: x"),
                ("targets", "targets: {t: {rbd: {}}}"),
                ("workloads", "workloads: {w: {rw: read}}"),
            ];
            let keys = match (heading, row.key) {
                ("rados", "pool") => format!("{}, objects: 1", row.example),
                ("rados", "objects") => format!("{}, pool: p", row.example),
                ("rados", _) => format!("{}, pool: p, objects: 1", row.example),
                ("tune", "space") => format!("{}, budget: 1h", row.example),
                ("tune", "budget") => format!("{}, space: {{}}", row.example),
                ("tune", _) => format!("{}, space: {{}}, budget: 1h", row.example),
                ("file", "size") => format!("{}, path: /f", row.example),
                _ => row.example.to_owned(),
            };
            let shown = around.replace("TOP", row.example).replace("KEYS", &keys);
            let missing = required.iter().filter(|(key, _)| !shown.starts_with(&format!("{key}:")));
            let yaml: String =
                missing.map(|(_, line)| format!("{line}\n")).chain([format!("{shown}\n")]).collect();
            let parsed = Profile::parse("example", &yaml, &[]);
            assert!(parsed.is_ok(), "{}:\n{yaml}", parsed.unwrap_err());
        }
    }
}
