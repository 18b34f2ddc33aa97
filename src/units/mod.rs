//! Units as types: what a profile writes as `4k`, `30s` or `3%`, and what a signature takes.

mod bytes;
mod rate;

pub use bytes::Bytes;
pub use rate::Rate;

/// A text that is not a quantity of the wanted kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {wanted}")]
pub struct UnitError {
    text: String,
    wanted: &'static str,
}
