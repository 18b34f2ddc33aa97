//! How often verdicts are wrong, and how often they are reached, where the truth is known.
//!
//!     cargo run --release --example calibrate [-- DRAWS]
//!
//! Prints the tables of docs/methods.md; the same draws give the same tables. 10,000 draws take some minutes.

mod claims;
mod time;
mod tuning;
mod world;

use cephmark::stats::MAX_BLOCKS;
use claims::{Repeats, Tally};
use time::{Drift, Order, compare, single_trials_differ};
use tuning::{EQUAL, Tuned, known_best, tune};
use world::{Noise, World};

/// Arms and metrics, for 1, 4 and 12 comparisons.
const FAMILIES: [(usize, usize); 3] = [(2, 1), (2, 4), (4, 4)];
const BLOCKS: [u32; 4] = [3, 5, 10, 20];

fn main() {
    let draws = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(10_000);
    println!("{draws} draws\n");
    equal_arms(draws);
    equal_arms_watched(draws);
    true_effects(draws);
    watched_effects(draws);
    proving_same(draws);
    orders(draws);
    series(draws);
    tunings(draws.min(1000));
}

fn world(noise: Noise, arms: usize, metrics: usize, ratio: f64) -> World {
    World { noise, scale: 1.0, arms, metrics, ratio }
}

/// A table in Markdown.
fn table(title: &str, header: &[String], rows: impl Iterator<Item = Vec<String>>) {
    println!("### {title}\n\n| {} |", header.join(" | "));
    println!("|---{}|", "|--:".repeat(header.len() - 1));
    for row in rows {
        println!("| {} |", row.join(" | "));
    }
    println!();
}

fn equal_arms(draws: usize) {
    let cells: Vec<_> = FAMILIES.iter().flat_map(|family| BLOCKS.map(|blocks| (*family, blocks))).collect();
    let mut header = vec!["noise".to_owned()];
    header
        .extend(cells.iter().map(|((arms, metrics), blocks)| format!("{} x {blocks}", (arms - 1) * metrics)));
    let rows = Noise::ALL.iter().map(|(noise, name)| {
        let cell = |((arms, metrics), blocks)| {
            let tally = Tally::of(world(*noise, arms, metrics, 1.0), Repeats::Fixed(blocks), draws);
            format!("{:.1}", claims_at_most(&tally))
        };
        [vec![(*name).to_owned()], cells.iter().copied().map(cell).collect()].concat()
    });
    table("Equal arms: runs that claim a difference, upper bound in % (comparisons x blocks)", &header, rows);
}

fn equal_arms_watched(draws: usize) {
    let cells: Vec<_> =
        [5, 20, MAX_BLOCKS].iter().flat_map(|most| FAMILIES.map(|family| (family, *most))).collect();
    let mut header = vec!["noise".to_owned()];
    header.extend(cells.iter().map(|((arms, metrics), most)| format!("{} x {most}", (arms - 1) * metrics)));
    header.push(format!("mean blocks of 1 x {MAX_BLOCKS}"));
    let rows = Noise::ALL.iter().map(|(noise, name)| {
        let tally = |((arms, metrics), most)| {
            Tally::of(world(*noise, arms, metrics, 1.0), Repeats::Auto(most), draws)
        };
        let tallies: Vec<Tally> = cells.iter().copied().map(tally).collect();
        let mut row = vec![(*name).to_owned()];
        row.extend(tallies.iter().map(|tally| format!("{:.1}", claims_at_most(tally))));
        row.push(format!("{:.0}", tallies[2 * FAMILIES.len()].blocks as f64 / draws as f64));
        row
    });
    let title = "Equal arms, `repeats: auto`: runs that claim a difference, upper bound in % (comparisons x blocks at the most)";
    table(title, &header, rows);
}

fn true_effects(draws: usize) {
    let header = ["effect, noise of a trial, blocks, comparisons", "claimed", "all intervals hold the truth"];
    let cases = [
        (1.05, 0.03, 10, (2, 1)),
        (1.05, 0.03, 10, (2, 4)),
        (1.05, 0.05, 20, (2, 1)),
        (1.10, 0.05, 5, (2, 1)),
        (1.10, 0.05, 10, (2, 4)),
        (2.0, 0.10, 3, (2, 1)),
        (2.0, 0.10, 3, (2, 2)),
        (2.0, 0.10, 3, (2, 4)),
        (4.0, 0.10, 3, (4, 4)),
    ];
    let rows = cases.into_iter().map(|(ratio, noise, blocks, (arms, metrics))| {
        let world = World { scale: noise / 0.05, ..world(Noise::Normal, arms, metrics, ratio) };
        let tally = Tally::of(world, Repeats::Fixed(blocks), draws);
        let comparisons = (arms - 1) * metrics;
        let case = format!("x{ratio:.2}, {:.0} %, {blocks}, {comparisons}", noise * 100.0);
        vec![case, percent(&tally, tally.claims), percent(&tally, tally.covered)]
    });
    table("A true effect, normal noise, in % of the runs", &header.map(str::to_owned), rows);
}

fn watched_effects(draws: usize) {
    let header = ["noise", "effect", "decided", "all intervals hold the truth", "mean blocks"];
    let cases = Noise::ALL.iter().flat_map(|noise| [1.1, 1.3].map(|ratio| (noise, ratio)));
    let rows = cases.map(|((noise, name), ratio)| {
        let tally = Tally::of(world(*noise, 2, 1, ratio), Repeats::Auto(MAX_BLOCKS), draws);
        vec![
            (*name).to_owned(),
            format!("x{ratio:.2}"),
            percent(&tally, tally.decided),
            percent(&tally, tally.covered),
            format!("{:.1}", tally.blocks as f64 / draws as f64),
        ]
    });
    table(
        "A true effect, `repeats: auto`, one comparison, in % of the runs",
        &header.map(str::to_owned),
        rows,
    );
}

fn proving_same(draws: usize) {
    let header = ["noise of a trial", "decided", "mean blocks"].map(str::to_owned);
    let rows = [0.01, 0.02, 0.03, 0.05].into_iter().map(|noise| {
        let world = World { scale: noise / 0.05, ..world(Noise::Normal, 2, 1, 1.0) };
        let tally = Tally::of(world, Repeats::Auto(MAX_BLOCKS), draws);
        let blocks = format!("{:.1}", tally.blocks as f64 / draws as f64);
        vec![format!("{:.0} %", noise * 100.0), percent(&tally, tally.decided), blocks]
    });
    table("Equal arms, `repeats: auto`, one comparison, normal noise, in % of the runs", &header, rows);
}

/// The share of runs that claim a difference, in percent: its upper bound with 95 % confidence (Wilson's).
fn claims_at_most(tally: &Tally) -> f64 {
    const Z: f64 = 1.644_853_6;
    let (claims, runs) = (tally.claims as f64, tally.runs as f64);
    let share = claims / runs;
    let spread = (share * (1.0 - share) / runs + Z * Z / (4.0 * runs * runs)).sqrt();
    (share + Z * Z / (2.0 * runs) + Z * spread) / (1.0 + Z * Z / runs) * 100.0
}

fn percent(tally: &Tally, count: usize) -> String {
    format!("{:.1}", tally.percent(count))
}

fn orders(draws: usize) {
    let header = ["order", "steady: +-", "holds the truth", "random walk: +-", "holds the truth"];
    let orders =
        [(Order::Sequential, "sequential"), (Order::Interleaved, "interleaved"), (Order::Sliced, "sliced")];
    let rows = orders.into_iter().map(|(order, name)| {
        let mut row = vec![name.to_owned()];
        for drift in [Drift::Steady, Drift::Walk] {
            let ratios: Vec<_> = (0..draws).map(|seed| compare(order, drift, seed as u64)).collect();
            let mut precisions: Vec<f64> = ratios.iter().map(|ratio| ratio.precision() * 100.0).collect();
            precisions.sort_by(f64::total_cmp);
            let held = ratios.iter().filter(|ratio| ratio.low <= 1.0 && ratio.high >= 1.0).count();
            row.push(format!("{:.2} %", precisions[draws / 2]));
            row.push(format!("{:.1} %", held as f64 / draws as f64 * 100.0));
        }
        row
    });
    table(
        "The order of trials under drift: median half width of the interval",
        &header.map(str::to_owned),
        rows,
    );
}

fn series(draws: usize) {
    const CORRELATIONS: [f64; 4] = [0.0, 0.5, 0.8, 0.9];
    let mut header = vec!["seconds of each trial".to_owned()];
    header.extend(CORRELATIONS.map(|correlation| format!("correlation {correlation}")));
    let rows = [30, 60, 300].into_iter().map(|seconds| {
        let mut row = vec![seconds.to_string()];
        row.extend(CORRELATIONS.map(|correlation| {
            let differ = |seed: &usize| single_trials_differ(seconds, correlation, *seed as u64);
            format!("{:.1}", (0..draws).filter(differ).count() as f64 / draws as f64 * 100.0)
        }));
        row
    });
    table("Two equal single trials, compared by their seconds: claims of a difference in %", &header, rows);
}

fn tunings(draws: usize) {
    let header =
        ["trials, noise of a trial", "found and proven", "equal: a difference claimed", "trials used"];
    let cases = [(60, 0.02), (60, 0.05), (60, 0.10), (120, 0.05), (120, 0.10)];
    let rows = cases.into_iter().map(|(budget, noise)| {
        let tunings = |truth: &dyn Fn(u64) -> Vec<f64>| -> Vec<Tuned> {
            (0..draws as u64).map(|seed| tune(&truth(seed), noise, budget, seed)).collect()
        };
        let (known, equal) = (tunings(&known_best), tunings(&|_| EQUAL.to_vec()));
        let share = |count: usize| format!("{:.1}", count as f64 * 100.0 / draws as f64);
        let used = known.iter().map(|tuned| tuned.trials).sum::<usize>() as f64 / draws as f64;
        vec![
            format!("{budget}, {:.0} %", noise * 100.0),
            share(known.iter().filter(|tuned| tuned.found()).count()),
            share(equal.iter().filter(|tuned| tuned.claims()).count()),
            format!("{used:.0}"),
        ]
    });
    table(
        "Tunings of 12 settings, one of them better by a fifth or all of them equal, in %",
        &header.map(str::to_owned),
        rows,
    );
}
