//! Options of Ceph's clients.

use std::fmt;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// Ceph client options by name. Spaces and underscores in names are the same to Ceph.
pub type Options = IndexMap<String, OptionValue>;

/// The value of an option: a boolean, number or text of YAML, kept as the text that Ceph takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OptionValue(pub String);

impl OptionValue {
    /// The text with a size turned into plain bytes, since releases of Ceph differ in the suffixes they know. A lower-case
    /// `m` alone stays as it is: to Ceph it may be minutes.
    #[must_use]
    pub fn canonical(&self) -> String {
        let suffix = self.0.trim_start_matches(|c: char| c.is_ascii_digit());
        if suffix.is_empty() || suffix == "m" {
            return self.0.clone();
        }
        self.0.parse::<Bytes>().map_or_else(|_| self.0.clone(), |bytes| bytes.get().to_string())
    }
}

impl<'de> Deserialize<'de> for OptionValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl Visitor<'_> for ScalarVisitor {
    type Value = OptionValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a boolean, a number or a text")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<OptionValue, E> {
        Ok(OptionValue(value.to_string()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<OptionValue, E> {
        Ok(OptionValue(value.to_string()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<OptionValue, E> {
        Ok(OptionValue(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<OptionValue, E> {
        Ok(OptionValue(value.to_string()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<OptionValue, E> {
        Ok(OptionValue(value.to_owned()))
    }
}

impl JsonSchema for OptionValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "OptionValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "the value of a Ceph option; sizes such as 64MiB are turned into bytes",
            "type": ["boolean", "number", "string"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(yaml: &str) -> String {
        serde_json::from_str::<OptionValue>(yaml).unwrap().canonical()
    }

    #[test]
    fn ceph_gets_sizes_as_plain_bytes_and_all_else_as_written() {
        assert_eq!(canonical("\"64MiB\""), "67108864");
        assert_eq!(canonical("\"4k\""), "4096");
        assert_eq!(canonical("false"), "false");
        assert_eq!(canonical("5"), "5");
        assert_eq!(canonical("0.5"), "0.5");
        assert_eq!(canonical("\"writeback\""), "writeback");
    }

    #[test]
    fn a_lone_m_is_left_to_ceph_since_it_may_mean_minutes() {
        assert_eq!(canonical("\"5m\""), "5m");
    }
}
