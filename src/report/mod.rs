//! A result as people and other programs read it. Reads saved results alone: an old run is as good as a live one.

mod axes;
mod csv;
mod details;
mod differences;
mod document;
mod event;
mod head;
pub mod human;
mod json;
mod markdown;
mod palette;
mod problems;
mod progress;
mod spread;
mod summary;
mod table;
mod tables;
mod text;

pub use csv::{COLUMNS as CSV_COLUMNS, csv};
pub use document::Detail;
pub use event::{Event, Look, Phase, Tick, TrialLine};
pub use json::json;
pub use markdown::markdown;
pub use palette::{Palette, Tone};
pub use progress::show as show_progress;
pub use spread::Spread;
pub use summary::{ArmTrials, Group, Row, groups};
pub use text::{Layout, text, verdicts};

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;
