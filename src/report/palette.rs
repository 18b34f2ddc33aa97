//! Colour, where a terminal shows it and the user wants it.

use comfy_table::{Attribute, Cell as GridCell, Color};

/// What a piece of text means to the reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing in particular.
    #[default]
    Plain,
    /// A head of a section or a column.
    Head,
    /// Of less weight.
    Quiet,
    /// Good news.
    Good,
    /// Something to know before believing a figure.
    Warning,
    /// Bad news.
    Bad,
}

/// Whether tones are shown as colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    on: bool,
}

impl Palette {
    /// Text alone.
    #[must_use]
    pub const fn off() -> Self {
        Self { on: false }
    }

    /// Colours whatever the environment says.
    #[must_use]
    pub const fn on() -> Self {
        Self { on: true }
    }

    /// Colours on a terminal, unless the environment says `NO_COLOR` or that the terminal is dumb.
    #[must_use]
    pub fn of_terminal(is_terminal: bool) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Self { on: is_terminal && !refused && !dumb }
    }

    /// Whether tones are shown.
    #[must_use]
    pub const fn is_on(self) -> bool {
        self.on
    }

    /// `text` in the colour of `tone`.
    #[must_use]
    pub fn paint(self, text: &str, tone: Tone) -> String {
        let code = match tone {
            _ if !self.on => return text.to_owned(),
            Tone::Plain => return text.to_owned(),
            Tone::Head => 1,
            Tone::Quiet => 2,
            Tone::Good => 32,
            Tone::Warning => 33,
            Tone::Bad => 31,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// A cell of a grid; the grid adds the colour itself, since it must not count as width.
    pub(super) fn cell(self, text: &str, tone: Tone) -> GridCell {
        let cell = GridCell::new(text);
        match tone {
            Tone::Plain => cell,
            Tone::Head => cell.add_attribute(Attribute::Bold),
            Tone::Quiet => cell.add_attribute(Attribute::Dim),
            Tone::Good => cell.fg(Color::DarkGreen),
            Tone::Warning => cell.fg(Color::DarkYellow),
            Tone::Bad => cell.fg(Color::DarkRed),
        }
    }
}
