//! The report as a list of blocks, which every format for people shows in its own way.

use super::palette::Tone;
use super::table::Table;
use super::{axes, details, differences, head, problems, summary, tables};
use crate::result::ResultFile;

/// A piece of a report.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Block {
    /// The title of what follows, and a remark to it.
    Heading(String, String),
    /// Names and values.
    Facts(Vec<(&'static str, String)>),
    /// A table.
    Table(Table),
    /// Sentences, one an entry.
    Items(Vec<Item>),
    /// Lines to be shown as they are.
    Lines(String),
}

/// A sentence of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// What it says.
    pub text: String,
    /// What it means.
    pub tone: Tone,
}

/// Whether a report goes into single trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Where nothing is repeated, so that the tables show all repeats anyway.
    #[default]
    Unrepeated,
    /// Every trial.
    Trials,
}

/// The whole report: verdicts, a table for each workload, single trials, differences, problems.
#[must_use]
pub(super) fn document(result: &ResultFile, detail: Detail) -> Vec<Block> {
    let groups = summary::groups(result);
    let mut blocks = vec![Block::Heading(result.name().to_owned(), head::tool(result)), head::facts(result)];
    blocks.extend(tables::verdicts(&result.comparisons));
    for group in &groups {
        blocks.extend(tables::group(group));
    }
    blocks.extend(axes::blocks(result, &groups));
    let unrepeated = groups.iter().flat_map(|group| &group.arms).all(|arm| arm.trials.len() == 1);
    if unrepeated || detail == Detail::Trials {
        blocks.extend(details::trials(&groups));
    }
    blocks.extend(differences::blocks(result, &groups));
    blocks.extend(problems::blocks(result, &groups));
    blocks
}
