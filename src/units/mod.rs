//! Units as types: what a profile writes as `4k`, `30s` or `3%`, and what a signature takes.

mod bytes;
mod percent;
pub(crate) mod quantity;
mod rate;
mod time;

pub use bytes::Bytes;
pub use percent::Percent;
pub use rate::Rate;
pub use time::Time;

/// A text that is not a quantity of the wanted kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {wanted}")]
pub struct UnitError {
    text: String,
    wanted: &'static str,
}
