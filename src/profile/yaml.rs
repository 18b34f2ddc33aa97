//! YAML to a tree of values, with the position of each.

use std::collections::HashMap;

use saphyr::{LoadableYamlNode, MarkedYaml, Marker, Scalar, ScanError, YamlData};
use serde_json::{Map, Number, Value};

use super::path::Path;

/// Line and column, both counted from 1.
pub(super) type Position = (usize, usize);

/// What is wrong with a text, and where in it.
#[derive(Debug)]
pub(super) struct YamlFault {
    pub(super) position: Position,
    pub(super) path: Path,
    pub(super) message: String,
}

/// Reads one document, and where each of its keys and list items starts.
pub(super) fn parse(text: &str) -> Result<(Value, HashMap<Path, Position>), YamlFault> {
    let documents = MarkedYaml::load_from_str(text)?;
    let fault =
        |position, message: &str| YamlFault { position, path: Path::root(), message: message.to_owned() };
    let mut tree = Tree::default();
    match documents.as_slice() {
        [] => Err(fault((1, 1), "is empty")),
        [document] => Ok((tree.value(document, &Path::root())?, tree.positions)),
        [_, second, ..] => {
            Err(fault(position(second.span.start), "a second document; a profile is one document"))
        }
    }
}

impl From<ScanError> for YamlFault {
    fn from(error: ScanError) -> Self {
        Self { position: position(*error.marker()), path: Path::root(), message: error.info().to_owned() }
    }
}

fn position(marker: Marker) -> Position {
    (marker.line(), marker.col() + 1)
}

/// The tree as far as it is built.
#[derive(Default)]
struct Tree {
    positions: HashMap<Path, Position>,
}

impl Tree {
    fn value(&mut self, node: &MarkedYaml<'_>, path: &Path) -> Result<Value, YamlFault> {
        let fault = |message: &str| YamlFault {
            position: position(node.span.start),
            path: path.clone(),
            message: message.to_owned(),
        };
        match &node.data {
            // A key without a value holds nothing: `options:` is an empty map.
            YamlData::Value(Scalar::Null) if node.span.is_empty() => Ok(Value::Object(Map::new())),
            YamlData::Value(Scalar::FloatingPoint(number)) => {
                Number::from_f64(**number).map(Value::Number).ok_or_else(|| fault("is not a finite number"))
            }
            YamlData::Value(scalar) => Ok(plain(scalar)),
            YamlData::Sequence(items) => {
                let items =
                    items.iter().enumerate().map(|(index, item)| self.entry(item, item, &path.index(index)));
                items.collect::<Result<_, _>>().map(Value::Array)
            }
            YamlData::Mapping(entries) => {
                let mut map = Map::new();
                for (key, value) in entries {
                    let name = name(key).ok_or_else(|| fault("a key of this map is no plain text"))?;
                    let value = self.entry(key, value, &path.key(&name))?;
                    map.insert(name, value);
                }
                Ok(Value::Object(map))
            }
            _ => Err(fault("has a tag that means nothing here, or a value that does not fit its tag")),
        }
    }

    fn entry(
        &mut self,
        start: &MarkedYaml<'_>,
        node: &MarkedYaml<'_>,
        path: &Path,
    ) -> Result<Value, YamlFault> {
        self.positions.insert(path.clone(), position(start.span.start));
        self.value(node, path)
    }
}

fn plain(scalar: &Scalar<'_>) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Boolean(value) => Value::Bool(*value),
        Scalar::Integer(value) => Value::from(*value),
        Scalar::FloatingPoint(value) => Value::from(**value),
        Scalar::String(text) => Value::from(text.as_ref()),
    }
}

/// The text of a key. A target's `null` is a null to YAML, and a label may be a number.
fn name(key: &MarkedYaml<'_>) -> Option<String> {
    match &key.data {
        YamlData::Value(Scalar::String(text)) => Some(text.to_string()),
        YamlData::Value(scalar) => Some(plain(scalar).to_string()),
        _ => None,
    }
}
