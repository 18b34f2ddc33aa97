//! The results as a table.

use cephmark::report::human::Kind;
use comfy_table::{CellAlignment, ContentArrangement, Table as Grid, presets};

use crate::contest::{Contest, Round};
use crate::ratio::{Goal, Ratios, Verdict, median, sorted};
use crate::sample::Sample;

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
    pub(crate) fn add(&mut self, contest: &Contest, rounds: &[Round]) {
        for (index, peer) in contest.peers.iter().enumerate() {
            let iops = |sample: &Sample| sample.iops.get();
            let cpu = |sample: &Sample| sample.cpu_per_io.as_secs_f64() * 1e9;
            let place = [contest.load.to_string(), peer.name.to_owned()];
            self.add_figure(&place, "IOPS", Kind::Count, peer.iops, &pairs(rounds, index, iops));
            self.add_figure(&place, "CPU per I/O", Kind::Nanoseconds, peer.cpu, &pairs(rounds, index, cpu));
        }
    }

    fn add_figure(
        &mut self,
        place: &[String; 2],
        figure: &str,
        kind: Kind,
        goal: Option<Goal>,
        pairs: &[[f64; 2]],
    ) {
        let ratios = Ratios::new(pairs.iter().map(|[ours, peer]| ours / peer));
        let middle = |side: usize| kind.one(median(&sorted(pairs.iter().map(|pair| pair[side]))));
        let goal = goal.map(|goal| (goal, ratios.judge(goal)));
        let [load, against] = place.clone();
        if let Some((goal, verdict)) = goal.filter(|(_, verdict)| *verdict != Verdict::Met) {
            self.unmet.push(format!("{load}, {figure} against {against}: {ratios}, not {goal}: {verdict}"));
        }
        let goal = goal.map_or_else(String::new, |(goal, verdict)| format!("{goal}: {verdict}"));
        self.rows.push([load, against, figure.to_owned(), middle(0), middle(1), ratios.to_string(), goal]);
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

/// Our figure and a peer's, of each round.
fn pairs(rounds: &[Round], peer: usize, figure: impl Fn(&Sample) -> f64) -> Vec<[f64; 2]> {
    rounds.iter().map(|round| [figure(&round.ours), figure(&round.peers[peer])]).collect()
}
