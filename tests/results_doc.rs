//! docs/results.md names every field of the schema and every column of the CSV, and no others.

use std::collections::{BTreeMap, BTreeSet};

use cephmark::report::CSV_COLUMNS;
use cephmark::result::schema;
use serde_json::Value;

const DOC: &str = include_str!("../docs/results.md");

/// First cells of the tables below each heading, in order.
fn documented() -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut tables: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut heading = "";
    for line in DOC.lines() {
        if let Some(title) = line.strip_prefix('#') {
            heading = title.trim_start_matches('#').trim();
        } else if let Some(field) = line.strip_prefix("| `").and_then(|rest| rest.split('`').next()) {
            tables.entry(heading).or_default().push(field);
        }
    }
    tables
}

/// The objects of the schema with their fields: the file itself and every type it uses.
fn objects() -> BTreeMap<String, Vec<String>> {
    let schema = schema().to_value();
    let fields = |object: &Value| {
        let properties = object.get("properties").and_then(Value::as_object);
        properties.map(|properties| properties.keys().cloned().collect::<Vec<_>>())
    };
    let mut objects: BTreeMap<String, Vec<String>> = BTreeMap::new();
    objects.insert("ResultFile".to_owned(), fields(&schema).expect("the file is an object"));
    for (name, object) in schema["$defs"].as_object().expect("the schema has definitions") {
        objects.extend(fields(object).map(|fields| (name.clone(), fields)));
    }
    objects
}

#[test]
fn every_field_of_the_schema_is_documented_in_its_order() {
    let documented = documented();
    for (name, fields) in objects() {
        let table = documented.get(name.as_str()).unwrap_or_else(|| panic!("no section on {name}"));
        assert_eq!(*table, fields, "fields of {name}");
    }
}

#[test]
fn every_section_documents_a_type_of_the_schema_or_the_csv() {
    let objects = objects();
    for heading in documented().keys() {
        assert!(objects.contains_key(*heading) || *heading == "CSV", "{heading} is not in the schema");
    }
}

#[test]
fn every_word_that_a_field_may_hold_is_documented() {
    fn words(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => {
                found.extend(map.get("const").and_then(Value::as_str).map(str::to_owned));
                let listed = map.get("enum").and_then(Value::as_array).into_iter().flatten();
                found.extend(listed.filter_map(Value::as_str).map(str::to_owned));
                map.values().for_each(|value| words(value, found));
            }
            Value::Array(list) => list.iter().for_each(|value| words(value, found)),
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    words(&schema().to_value(), &mut found);
    assert!(found.contains("undecided"), "the schema lists the words: {found:?}");
    for word in found {
        assert!(DOC.contains(&format!("`{word}`")), "`{word}` is not documented");
    }
}

#[test]
fn the_csv_columns_are_documented_in_their_order() {
    assert_eq!(documented()["CSV"], CSV_COLUMNS);
}
