//! What all units have in common: they are read from a YAML number or text, and written as text.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{Deserializer, Error, Visitor};

use super::UnitError;

/// A unit that a profile may hold.
pub(crate) trait Quantity: FromStr<Err = UnitError> {
    /// What a text must be, to end the sentence "`x` is not ...".
    const WANTED: &'static str;

    /// The error for a text that is not such a quantity.
    fn error(text: &str) -> UnitError {
        UnitError { text: text.to_owned(), wanted: Self::WANTED }
    }
}

/// Reads a quantity from a number or a text: `4096` is read as the text `4096` is.
pub(crate) fn deserialize<'de, T: Quantity, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_any(NumberOrText(PhantomData))
}

struct NumberOrText<T>(PhantomData<T>);

impl<T: Quantity> Visitor<'_> for NumberOrText<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::WANTED)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

/// Implements serde's and schemars' traits for a unit by its `FromStr` and `Display`.
macro_rules! quantity {
    ($unit:ident, $wanted:literal) => {
        impl $crate::units::quantity::Quantity for $unit {
            const WANTED: &'static str = $wanted;
        }

        impl<'de> serde::Deserialize<'de> for $unit {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::units::quantity::deserialize(deserializer)
            }
        }

        impl serde::Serialize for $unit {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl schemars::JsonSchema for $unit {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($unit).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "description": $wanted, "type": ["number", "string"] })
            }
        }
    };
}

pub(crate) use quantity;
