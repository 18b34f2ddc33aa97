//! Points in time, as files and directory names write them.

use std::borrow::Cow;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in time, to the second, in UTC; `2026-01-31T12:00:00Z` in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(SystemTime);

impl Timestamp {
    /// The current second.
    #[must_use]
    pub fn now() -> Self {
        SystemTime::now().into()
    }

    /// The time from `earlier` to this; zero if it is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        self.0.duration_since(earlier.0).unwrap_or_default()
    }

    /// Without the signs that trouble file names and shells: `20260131T120000Z`.
    #[must_use]
    pub fn compact(self) -> String {
        self.to_string().replace(['-', ':'], "")
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(UNIX_EPOCH + Duration::from_secs(since.as_secs()))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_rfc3339_seconds(self.0).fmt(f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let time = humantime::parse_rfc3339(&text)
            .map_err(|error| serde::de::Error::custom(format!("`{text}` is no RFC 3339 time: {error}")))?;
        Ok(time.into())
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"description": "A point in time, to the second, in UTC.", "type": "string", "format": "date-time"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_written_in_utc_to_the_second() {
        let time = Timestamp::from(UNIX_EPOCH + Duration::from_millis(1_769_860_800_900));
        assert_eq!(time.to_string(), "2026-01-31T12:00:00Z");
        assert_eq!(time.compact(), "20260131T120000Z");
        let back: Timestamp = serde_json::from_str("\"2026-01-31T12:00:00Z\"").expect("it is a time");
        assert_eq!(back, time);
    }
}
