//! The report in GitHub's Markdown, to paste into an issue or a wiki.

use super::document::{Block, Detail, document};
use crate::result::ResultFile;

/// The report of `result`.
#[must_use]
pub fn markdown(result: &ResultFile, detail: Detail) -> String {
    let mut text = String::new();
    for block in document(result, detail) {
        text += &match block {
            Block::Heading(title, remark) => {
                let level = if text.is_empty() { "#" } else { "\n##" };
                let remark =
                    if remark.is_empty() { String::new() } else { format!("\n*{}*\n", escaped(&remark)) };
                format!("{level} {}\n{remark}\n", escaped(&title))
            }
            Block::Facts(facts) => {
                facts.iter().map(|(name, value)| format!("- **{name}**: {}\n", escaped(value))).collect()
            }
            Block::Table(table) => table.markdown(),
            Block::Items(items) => items.iter().map(|item| format!("- {}\n", escaped(&item.text))).collect(),
            Block::Lines(lines) => format!("```text\n{lines}```\n"),
        };
    }
    text
}

/// `text` without the signs that Markdown would take for its own.
fn escaped(text: &str) -> String {
    text.chars()
        .flat_map(|c| matches!(c, '*' | '_' | '`' | '<' | '[' | '\\').then_some('\\').into_iter().chain([c]))
        .collect()
}
