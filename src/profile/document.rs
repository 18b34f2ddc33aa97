//! The text of a profile: a tree of values that still knows where each of them was written.

use std::collections::HashMap;

use serde_json::Value;

use super::error::{Fault, Place};
use super::path::{Path, Segment};
use super::yaml::{self, Position};
use crate::nearest::nearest;

/// A profile as it was written, with `--set` and sweeps applied to it.
#[derive(Clone, Debug)]
pub struct Document {
    file: String,
    value: Value,
    /// Line and column of each key and list item of the file.
    positions: HashMap<Path, Position>,
    /// Where values came from that are not those of the file, the latest last.
    overrides: Vec<(Path, Place)>,
}

impl Document {
    /// Reads the text of the file named `file`.
    ///
    /// # Errors
    /// [`Fault`] if it is not one YAML document that holds a map.
    pub fn parse(file: &str, text: &str) -> Result<Self, Fault> {
        let (value, positions) = yaml::parse(text).map_err(|fault| {
            let (line, column) = fault.position;
            Fault {
                place: Place::File { file: file.to_owned(), line, column },
                path: fault.path,
                message: fault.message,
            }
        })?;
        Ok(Self { file: file.to_owned(), value, positions, overrides: Vec::new() })
    }

    /// The tree of values.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The value at a path, if it was written.
    #[must_use]
    pub fn get(&self, path: &Path) -> Option<&Value> {
        path.segments().iter().try_fold(&self.value, |value, segment| match segment {
            Segment::Key(key) => value.get(key),
            Segment::Index(index) => value.get(index),
        })
    }

    /// The keys that were written in the map at a path.
    pub fn keys(&self, path: &Path) -> impl Iterator<Item = &str> {
        let map = self.get(path).and_then(Value::as_object);
        map.into_iter().flat_map(serde_json::Map::keys).map(String::as_str)
    }

    /// Applies `--set`: a path and a value joined by `=`, the value in YAML.
    ///
    /// # Errors
    /// [`Fault`] if it is no such pair, or there is nothing to set at the path.
    pub fn set_argument(&mut self, argument: &str) -> Result<(), Fault> {
        let place = Place::Set(argument.to_owned());
        let fault = |message: String| Fault { place: place.clone(), path: Path::root(), message };
        let pair = argument.split_once('=').map(|(path, text)| (Path::parse(path.trim()), text));
        let pair =
            pair.filter(|(path, text)| path.keys().all(|key| !key.is_empty()) && !text.trim().is_empty());
        let (path, text) = pair.ok_or_else(|| fault("write it as PATH=VALUE".to_owned()))?;
        let (value, _) =
            yaml::parse(text).map_err(|error| fault(format!("the value is no YAML: {}", error.message)))?;
        self.set(&path, value, place)
    }

    /// Sets the value at a path; `place` is where the user asked for it.
    ///
    /// # Errors
    /// [`Fault`] if the path goes through something that is no map, or names a target or workload that is not there.
    pub fn set(&mut self, path: &Path, value: Value, place: Place) -> Result<(), Fault> {
        let fault = |message| Fault { place: place.clone(), path: path.clone(), message };
        self.check_owner(path).map_err(fault)?;
        assign(&mut self.value, path.segments(), value).map_err(fault)?;
        self.overrides.push((path.clone(), place));
        Ok(())
    }

    /// Refuses keys of a target or workload that is not there: a typo in its name would make another one.
    ///
    /// # Errors
    /// What is not there, and what is.
    pub fn check_owner(&self, path: &Path) -> Result<(), String> {
        let keys: Vec<&str> = path.keys().collect();
        let [kind @ ("targets" | "workloads"), name, _, ..] = keys.as_slice() else { return Ok(()) };
        let owners: Vec<&str> = self.keys(&Path::root().key(kind)).collect();
        match nearest(name, owners.iter().copied()) {
            _ if owners.contains(name) => Ok(()),
            Some(near) => Err(format!("there is no `{name}` in {kind}; did you mean `{near}`?")),
            None => Err(format!("there is no `{name}` in {kind}; there is {}", owners.join(", "))),
        }
    }

    /// Where a key was written; for one that was not, where the nearest key above it was.
    #[must_use]
    pub fn place(&self, path: &Path) -> Place {
        if let Some((_, place)) = self.overrides.iter().rev().find(|(set, _)| set.leads_to(path)) {
            return place.clone();
        }
        let upwards = std::iter::successors(Some(path.clone()), Path::parent);
        let (line, column) =
            upwards.filter_map(|path| self.positions.get(&path)).next().copied().unwrap_or((1, 1));
        Place::File { file: self.file.clone(), line, column }
    }

    /// A fault at a path.
    #[must_use]
    pub fn fault(&self, path: &Path, message: impl Into<String>) -> Fault {
        Fault { place: self.place(path), path: path.clone(), message: message.into() }
    }
}

/// Sets the value at a path, with the maps that are missing on the way.
fn assign(root: &mut Value, path: &[Segment], value: Value) -> Result<(), String> {
    let mut at = root;
    for segment in path {
        let Segment::Key(key) = segment else { return Err("list items can't be set one by one".to_owned()) };
        let map = at.as_object_mut().ok_or("what is above it is no map; set that instead")?;
        at = map.entry(key).or_insert_with(|| Value::Object(serde_json::Map::new()));
    }
    *at = value;
    Ok(())
}
