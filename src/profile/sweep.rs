//! What varies.

use std::fmt;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

/// What varies: axes by the path of the key that they set, such as `targets.librbd.options.rbd_cache_policy`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sweep {
    /// The values of each axis. Axes multiply: every value meets every value of the others.
    pub axes: IndexMap<String, Vec<Value>>,
    /// Axes that move together instead.
    pub zip: Vec<String>,
}

impl<'de> Deserialize<'de> for Sweep {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(SweepVisitor)
    }
}

struct SweepVisitor;

impl<'de> Visitor<'de> for SweepVisitor {
    type Value = Sweep;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map from the path of a key to a list of its values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Sweep, A::Error> {
        let mut sweep = Sweep::default();
        while let Some(key) = map.next_key::<String>()? {
            if key == "zip" {
                sweep.zip = map.next_value()?;
            } else {
                sweep.axes.insert(key, map.next_value()?);
            }
        }
        Ok(sweep)
    }
}

impl JsonSchema for Sweep {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Sweep".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "What varies: lists of values by the path of the key that they set, such as \
                            `targets.librbd.options.rbd_cache_policy`. Axes multiply.",
            "type": "object",
            "properties": {
                "zip": {
                    "description": "Axes that move together instead: the first values of all, then the second ones.",
                    "type": "array",
                    "items": {"type": "string"},
                    "default": [],
                },
            },
            "additionalProperties": {"type": "array"},
        })
    }
}
