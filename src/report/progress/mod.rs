//! The live view of a run, on standard error: standard output is for the report alone.

mod board;
mod lines;
mod terminal;

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedReceiver;

use self::board::Board;
use self::lines::Lines;
use self::terminal::Terminal;
use super::event::Event;
use crate::console;

/// How often the view is brought up to date without an event.
const REFRESH: Duration = Duration::from_millis(500);

/// Shows the events of a run until it ends, which is when its last sender is gone: a bar on a terminal, plain lines
/// elsewhere.
pub async fn show(mut events: UnboundedReceiver<Event>) {
    let mut board = Board::new(Instant::now());
    let mut view = View::of_stderr();
    let mut refresh = tokio::time::interval(REFRESH);
    loop {
        tokio::select! {
            event = events.recv() => {
                let Some(event) = event else { break };
                view.say(board.take(event, Instant::now()));
            }
            _ = refresh.tick() => {}
        }
        view.refresh(&board, Instant::now());
    }
    view.end();
}

/// One of the two views.
enum View {
    Terminal(Terminal),
    Lines(Lines),
}

impl View {
    fn of_stderr() -> Self {
        if io::stderr().is_terminal() {
            Self::Terminal(Terminal::new())
        } else {
            Self::Lines(Lines::default())
        }
    }

    /// Shows a line that stays.
    fn say(&self, line: Option<String>) {
        match (self, line) {
            (Self::Terminal(terminal), Some(line)) => terminal.say(&line),
            (Self::Lines(_), Some(line)) => console::say(&line),
            (_, None) => {}
        }
    }

    /// Shows what is going on now.
    fn refresh(&mut self, board: &Board, now: Instant) {
        match self {
            Self::Terminal(terminal) => terminal.refresh(board, now),
            Self::Lines(lines) => {
                if let Some(line) = lines.due(board, now) {
                    console::say(&line);
                }
            }
        }
    }

    fn end(&self) {
        if let Self::Terminal(terminal) = self {
            terminal.end();
        }
    }
}
