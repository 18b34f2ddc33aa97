//! The view for logs: a line for each phase that lasts, and then one every ten seconds.

use std::time::{Duration, Instant};

use super::board::Board;
use crate::report::human;

/// A phase shorter than this is not worth a line.
const FIRST: Duration = Duration::from_secs(1);
/// From one line on a phase to the next.
const EVERY: Duration = Duration::from_secs(10);

/// What was said last.
#[derive(Debug, Default)]
pub(super) struct Lines {
    last: Option<Instant>,
}

impl Lines {
    /// The line that is due now, if one is.
    pub(super) fn due(&mut self, board: &Board, now: Instant) -> Option<String> {
        let since = board.phase_since()?;
        let said = self.last.filter(|last| *last > since);
        let due = said.map_or(since + FIRST, |said| said + EVERY);
        if now < due {
            return None;
        }
        self.last = Some(now);
        let left = board.left(now).map(|left| format!("{} left", human::clock(left)));
        let parts = [board.activity(now), board.load(), board.open(), left];
        Some(parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::event::{Event, Phase};

    #[test]
    fn a_phase_has_a_line_once_it_lasts_and_then_every_ten_seconds() {
        let start = Instant::now();
        let second = Duration::from_secs;
        let mut board = Board::new(start);
        let mut lines = Lines::default();
        board.take(Event::Run { trials: 1, at_most: false, expected: second(60) }, start);
        board.take(Event::Phase(Phase::Open, Duration::ZERO), start);
        board.take(Event::Phase(Phase::Measure, second(30)), start + Duration::from_millis(300));
        let mut said = Vec::new();
        for tenth in 3..303_u64 {
            said.extend(lines.due(&board, start + Duration::from_millis(tenth * 100)));
        }
        let expected = [
            "measuring 1s of 30s, 59s left",
            "measuring 11s of 30s, 49s left",
            "measuring 21s of 30s, 39s left",
        ];
        assert_eq!(said, expected);
    }
}
