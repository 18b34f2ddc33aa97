//! The view for a terminal: a few lines that change in place, below the lines that stay.

use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::board::Board;
use crate::report::human;

/// How many open comparisons are shown.
const OPEN: usize = 4;

/// The last lines of a terminal.
#[derive(Debug)]
pub(super) struct Terminal {
    bar: ProgressBar,
}

impl Terminal {
    pub(super) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr());
        let style =
            ProgressStyle::with_template("{prefix}\n{bar:30} {wide_msg}").expect("the template is valid");
        bar.set_style(style.progress_chars("━╸─"));
        Self { bar }
    }

    /// Shows a line above those that change.
    pub(super) fn say(&self, line: &str) {
        self.bar.println(line);
    }

    pub(super) fn refresh(&self, board: &Board, now: Instant) {
        let left = board.left(now);
        let done = board.elapsed(now);
        self.bar.set_length((done + left.unwrap_or(done)).as_millis().max(1) as u64);
        self.bar.set_position(done.as_millis() as u64);
        let left = left.map(|left| format!("{} left", human::clock(left)));
        let parts = [left, board.load(), board.open()];
        let lines = board.open_ones(OPEN).into_iter().chain([board.activity(now).unwrap_or_default()]);
        self.bar.set_prefix(lines.collect::<Vec<_>>().join("\n"));
        self.bar.set_message(parts.into_iter().flatten().collect::<Vec<_>>().join(", "));
    }

    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}
