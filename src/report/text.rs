//! The report on a terminal or in a text file.

use std::io::IsTerminal;

use super::document::{Block, Detail, Item, document};
use super::palette::{Palette, Tone};
use super::tables;
use crate::result::{Comparison, ResultFile};

/// How a text report is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Columns of the terminal; wider tables are folded and longer sentences wrapped.
    pub width: usize,
    /// Whether there is colour.
    pub palette: Palette,
    /// Whether single trials are shown.
    pub detail: Detail,
}

/// Columns where there is no terminal: wide enough for a table of one baseline to stay in one piece.
const FILE_WIDTH: usize = 120;

impl Layout {
    /// As standard output shows it best.
    #[must_use]
    pub fn of_stdout(detail: Detail) -> Self {
        // Without a terminal there is no width.
        let width = comfy_table::Table::new().width();
        let width = width.map_or(FILE_WIDTH, usize::from);
        Self { width, palette: Palette::of_terminal(std::io::stdout().is_terminal()), detail }
    }

    /// As it should be in a file.
    #[must_use]
    pub const fn of_file(detail: Detail) -> Self {
        Self { width: FILE_WIDTH, palette: Palette::off(), detail }
    }
}

/// The report of `result`.
#[must_use]
pub fn text(result: &ResultFile, layout: Layout) -> String {
    blocks(&document(result, layout.detail), layout)
}

/// Verdicts alone, with what the reader must know of them.
#[must_use]
pub fn verdicts(comparisons: &[Comparison], warnings: &[String], layout: Layout) -> String {
    let item = |text: &String| Item { text: text.clone(), tone: Tone::Warning };
    let mut document = tables::verdicts(comparisons);
    if !warnings.is_empty() {
        document.push(Block::Heading("Worth knowing".to_owned(), String::new()));
        document.push(Block::Items(warnings.iter().map(item).collect()));
    }
    blocks(&document, layout)
}

fn blocks(blocks: &[Block], layout: Layout) -> String {
    let mut text = String::new();
    for block in blocks {
        text += &match block {
            Block::Heading(title, remark) => {
                let gap = if text.is_empty() { "" } else { "\n" };
                let remark = if remark.is_empty() { String::new() } else { format!("  {remark}") };
                let palette = layout.palette;
                format!("{gap}{}{}\n", palette.paint(title, Tone::Head), palette.paint(&remark, Tone::Quiet))
            }
            Block::Facts(facts) => facts
                .iter()
                .map(|(name, value)| entry(&format!("{name:<9}"), value, Tone::Plain, layout))
                .collect(),
            Block::Table(table) => table.text(layout.width, layout.palette),
            Block::Items(items) => {
                items.iter().map(|item| entry("- ", &item.text, item.tone, layout)).collect()
            }
            Block::Lines(lines) => lines.clone(),
        };
    }
    text
}

/// `lead` and `text`, wrapped at words with the lines after the first indented below it.
fn entry(lead: &str, text: &str, tone: Tone, layout: Layout) -> String {
    let width = layout.width.saturating_sub(lead.len()).max(20);
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("it is never empty");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    let indent = " ".repeat(lead.len());
    let painted = lines.iter().enumerate().map(|(index, line)| {
        let lead = if index == 0 { lead } else { &indent };
        format!("{lead}{}\n", layout.palette.paint(line, tone))
    });
    painted.collect()
}
