//! `cephmark tune`: a search for the best settings of a client, and fresh trials that confirm what it found.
//!
//! Stands on `run`, which runs the trials that it asks for. What to try next ([`Race`]) and what mattered ([`effects`])
//! are pure functions of scores; whether the gain is real is judged by `compare`, by trials that the search has not seen.

mod advice;
mod bounds;
mod clock;
mod drive;
mod effects;
mod error;
mod fit;
mod outcome;
mod race;
mod score;
mod search;
mod text;

pub use advice::Advice;
pub use drive::tune;
pub use effects::{Effect, Finding, effects};
pub use error::Error;
pub use outcome::{Conclusion, Confirmed, FILE_NAME, LeftOut, Outcome, Tried};
pub use race::{Race, Step};
pub use text::{in_short, plan_text, text};
