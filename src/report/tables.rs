//! The tables of a report: the verdicts, and the figures of each workload.

use super::document::{Block, Item};
use super::human::{Kind, MIB, ratio};
use super::palette::Tone;
use super::spread::Spread;
use super::summary::{self, ArmTrials, Group, Row};
use super::table::{Cell, Table};
use crate::lane::Op;
use crate::result::{Comparison, Trial, Verdict};

/// What the run proves, if it compares anything.
pub(super) fn verdicts(comparisons: &[Comparison]) -> Vec<Block> {
    let Some(first) = comparisons.first() else { return Vec::new() };
    let one_baseline = comparisons.iter().all(|comparison| comparison.baseline == first.baseline);
    let header = ["workload", "job", "op", "metric", "arm", "against", "verdict", "ratio", "interval", "p"]
        .map(str::to_owned);
    let rows = comparisons.iter().map(|comparison| {
        let against = if one_baseline { "" } else { &comparison.baseline };
        let op = if has_one_op(comparisons, comparison) { "" } else { &comparison.op };
        verdict(comparison, op, against)
    });
    let mut table = Table { header: header.into(), keys: 6, rows: rows.collect() };
    table.drop_empty_columns();
    let mut remark = if one_baseline {
        format!("ratios to {}; ", first.baseline)
    } else {
        "ratios of two arms; ".to_owned()
    };
    remark += &format!("{} % intervals", first.level * 100.0);
    if comparisons.len() > 1 {
        remark += &format!(", corrected for all {} comparisons", comparisons.len());
    }
    let mut blocks = vec![Block::Heading("Verdicts".to_owned(), remark), Block::Table(table)];
    blocks.extend(undecided(comparisons));
    blocks
}

/// What would decide the rest.
fn undecided(comparisons: &[Comparison]) -> Option<Block> {
    let open = comparisons.iter().filter(|comparison| comparison.verdict == Verdict::Undecided).count();
    let are = if open == 1 { "is" } else { "are" };
    let text = format!(
        "{open} of {} {are} undecided: more repeats or longer trials make intervals narrower, and so do fewer metrics, arms \
         or workloads",
        comparisons.len()
    );
    (open > 0).then(|| Block::Items(vec![Item { text, tone: Tone::Quiet }]))
}

/// Whether the operation goes without saying.
fn has_one_op(all: &[Comparison], this: &Comparison) -> bool {
    let of_same_job = |other: &&Comparison| (&other.workload, &other.job) == (&this.workload, &this.job);
    all.iter().filter(of_same_job).all(|other| other.op == this.op)
}

fn verdict(comparison: &Comparison, op: &str, against: &str) -> Vec<Cell> {
    let (word, tone) = match comparison.verdict {
        Verdict::Better => ("better", Tone::Good),
        Verdict::Worse => ("worse", Tone::Bad),
        Verdict::Same => ("same", Tone::Plain),
        Verdict::Undecided => ("undecided", Tone::Warning),
    };
    let [low, high] = comparison.ci;
    vec![
        Cell::plain(workload(comparison)),
        Cell::plain(&comparison.job),
        Cell::plain(op),
        Cell::plain(comparison.metric.name()),
        Cell::plain(&comparison.candidate),
        Cell::plain(against),
        Cell::toned(word, tone),
        Cell::plain(ratio(comparison.ratio)),
        Cell::plain(format!("{} to {}", ratio(low), ratio(high))),
        Cell::plain(p_value(comparison.p_value)),
    ]
}

fn workload(comparison: &Comparison) -> String {
    let settings =
        comparison.settings.iter().map(|(path, value)| format!(" {}={value}", summary::last(path)));
    comparison.workload.clone() + &settings.collect::<String>()
}

fn p_value(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

/// The figures of one workload: a row for each arm, job and operation.
pub(super) fn group(group: &Group) -> Vec<Block> {
    let rows: Vec<_> = group.arms.iter().flat_map(arm).collect();
    let repeats = group.arms.iter().map(|arm| arm.valid().count()).max().unwrap_or(0);
    let mut remarks = Vec::new();
    if repeats > 1 {
        remarks.push(format!("median and range of {repeats} repeats"));
    }
    if rows.iter().flatten().any(|cell| cell.text == MISSING) {
        remarks.push(format!("{MISSING}: too few I/Os"));
    }
    let mut blocks = vec![Block::Heading(group.title(), remarks.join("; "))];
    if !rows.is_empty() {
        let mut table = Table { header: COLUMNS.map(str::to_owned).into(), keys: 3, rows };
        table.drop_empty_columns();
        blocks.push(Block::Table(table));
    }
    let without = group.arms.iter().filter(|arm| arm.valid().next().is_none());
    let items: Vec<_> = without
        .map(|arm| Item { text: format!("{}: no valid trial, so no figures", arm.arm), tone: Tone::Bad })
        .collect();
    if !items.is_empty() {
        blocks.push(Block::Items(items));
    }
    blocks
}

/// Stands for a figure that has too few I/Os.
const MISSING: &str = "-";

const COLUMNS: [&str; 17] = [
    "arm",
    "job",
    "op",
    "IOPS",
    "MiB/s (MB/s)",
    "durable MiB/s",
    "drain",
    "hit %",
    "blocked",
    "mean",
    "p50",
    "p99",
    "p99.9",
    "max",
    "CPU us/IO",
    "host us/IO",
    "errors",
];

fn arm(arm: &ArmTrials) -> Vec<Vec<Cell>> {
    let rows = arm.rows();
    let writes = rows.iter().position(|row| row.op == Op::Write.name()).unwrap_or(0);
    rows.iter().enumerate().map(|(index, row)| figures(arm, row, index == 0, index == writes)).collect()
}

/// One row. What is known of whole trials only (CPU, hits) stands in the first row of its arm, and of all their writes
/// (drain, blocked) in the first of those.
fn figures(arm: &ArmTrials, row: &Row, first: bool, writes: bool) -> Vec<Cell> {
    let within = |stands: bool, figure: fn(&Trial) -> Option<f64>, kind| {
        spread(arm.spread(figure).filter(|_| stands), kind, "")
    };
    let whole = |figure, kind| within(first, figure, kind);
    let of_writes = |figure, kind| within(writes, figure, kind);
    let latency = |spread_of| spread(spread_of, Kind::Nanoseconds, MISSING);
    let (job, op) = (row.job, row.op);
    vec![
        Cell::plain(arm.arm),
        Cell::plain(job),
        Cell::plain(op),
        spread(row.spread(|f| Some(f.iops)), Kind::Count, MISSING),
        spread(row.spread(|f| Some(f.bytes_per_s)), Kind::BytesPerSecond, MISSING),
        of_writes(|trial| trial.effective_bytes_per_s.map(|rate| rate / MIB), Kind::Plain),
        of_writes(|trial| trial.drain_s, Kind::Seconds),
        whole(|trial| trial.cache?.hit_ratio.map(|ratio| ratio * 100.0), Kind::Plain),
        of_writes(
            |trial| Some(trial.cache.filter(|cache| cache.written_bytes > 0)?.blocked_s),
            Kind::Seconds,
        ),
        latency(row.spread(|f| f.latency_ns.mean)),
        latency(row.latency(|l| l.p50)),
        latency(row.latency(|l| l.p99)),
        latency(row.latency(|l| l.p99_9)),
        latency(row.latency(|l| l.max)),
        whole(|trial| trial.cpu.us_per_io, Kind::Plain),
        whole(|trial| trial.cpu.host_us_per_io, Kind::Plain),
        match row.failed() {
            0 => Cell::default(),
            failed => Cell::toned(failed.to_string(), Tone::Bad),
        },
    ]
}

/// The median, with the range below it where there are repeats; `missing` where there are too few samples.
fn spread(spread: Option<Spread>, kind: Kind, missing: &str) -> Cell {
    match spread {
        None => Cell::plain(missing),
        Some(Spread { median, repeats: 1, .. }) => Cell::plain(kind.one(median)),
        Some(Spread { median, min, max, .. }) => {
            Cell { note: kind.range(min, max, median), ..Cell::plain(kind.one(median)) }
        }
    }
}
