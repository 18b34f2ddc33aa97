//! The results as a table.

use comfy_table::{CellAlignment, ContentArrangement, Table as Grid, presets};

use crate::contest::Contest;
use crate::ratio::{Ratios, Verdict, median, sorted};
use crate::round::Rounds;

const HEADER: [&str; 7] = ["load", "against", "figure", "cephmark", "peer", "ratio (range)", "goal"];
/// The columns before hold words, on the left.
const FIRST_FIGURE: usize = 3;

/// The results as a table, and the goals that were not met.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<[String; HEADER.len()]>,
    pub(crate) unmet: Vec<String>,
}

impl Table {
    /// Adds the rounds of a contest.
    pub(crate) fn add(&mut self, contest: &Contest, rounds: &Rounds) {
        for (index, peer) in contest.peers.iter().enumerate() {
            for figure in contest.figures() {
                let pairs = rounds.pairs(index, *figure);
                let [load, against] = [contest.load.to_string(), peer.name.to_owned()];
                let ratios = Ratios::new(pairs.iter().map(|[ours, peer]| ours / peer));
                let goal = peer.goal(*figure).map(|goal| (goal, ratios.judge(goal)));
                if let Some((goal, verdict)) = goal.filter(|(_, verdict)| *verdict != Verdict::Met) {
                    self.unmet
                        .push(format!("{load}, {figure} against {against}: {ratios}, not {goal}: {verdict}"));
                }
                let middle =
                    |side: usize| figure.kind().one(median(&sorted(pairs.iter().map(|pair| pair[side]))));
                let goal = goal.map_or_else(String::new, |(goal, verdict)| format!("{goal}: {verdict}"));
                self.rows.push([
                    load,
                    against,
                    figure.to_string(),
                    middle(0),
                    middle(1),
                    ratios.to_string(),
                    goal,
                ]);
            }
        }
    }

    /// The table for a terminal, or in GitHub's Markdown.
    pub(crate) fn text(&self, markdown: bool) -> String {
        let mut grid = Grid::new();
        grid.load_style(if markdown { presets::ASCII_MARKDOWN } else { presets::NOTHING })
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(HEADER)
            .add_rows(&self.rows);
        for column in FIRST_FIGURE..FIRST_FIGURE + 3 {
            if let Some(column) = grid.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        grid.trim_fmt()
    }
}
