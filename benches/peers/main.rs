//! How cephmark compares with fio: `make bench`.
//!
//! Every program runs as its users run it, as a process of its own: cephmark on a profile, fio on its arguments. They
//! take turns, so that each ratio is of two runs next to each other. What is told of a ratio is its median and its range
//! over the rounds. A goal that is missed is said, and ends in exit code 0 all the same: a slow or busy machine is no
//! failure.

mod contest;
mod device;
mod error;
mod figure;
mod fio;
mod load;
mod machine;
mod ours;
mod peer;
mod program;
mod ratio;
mod round;
mod sample;
mod scene;
mod table;

use std::collections::BTreeSet;
use std::process::ExitCode;

use cephmark::units::Time;
use clap::Parser;

use contest::Condition;
use error::Error;
use machine::Machine;
use scene::Scene;
use table::Table;

/// Compare cephmark with fio, in turn, on the cluster that CEPH_CONF names and on a loop device.
#[derive(Debug, Parser)]
#[command(name = "peers")]
struct Arguments {
    /// How often each program runs each load.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// How long each load runs.
    #[arg(long, value_name = "TIME", default_value = "4s")]
    runtime: Time,
    /// What to compare.
    #[arg(long, value_delimiter = ',', default_value = "null,loop,local,osd")]
    only: Vec<Condition>,
    /// Pool of the images.
    #[arg(long, default_value = "rbd")]
    pool: String,
    /// Print the table in Markdown, for docs/performance.md.
    #[arg(long)]
    markdown: bool,
    /// What cargo says to every benchmark.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    match compare(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peers: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare(arguments: &Arguments) -> Result<(), Error> {
    let machine = Machine::look(fio::version()?);
    let wants = |conditions: &[Condition]| arguments.only.iter().any(|wanted| conditions.contains(wanted));
    let needs_cluster = wants(&[Condition::Local, Condition::Osd]);
    let mut scene = if needs_cluster { Scene::on_cluster(&arguments.pool)? } else { Scene::bare()? };
    if wants(&[Condition::Loop]) {
        scene.add_device()?;
    }
    let (mut table, mut allocators) = (Table::default(), BTreeSet::new());
    for contest in arguments.only.iter().flat_map(|condition| condition.contests(arguments.runtime)) {
        eprintln!("peers: {}, {} rounds", contest.load, arguments.rounds);
        let rounds = contest.run(arguments.rounds, &scene)?;
        allocators.extend(rounds.samples().map(|sample| sample.allocator));
        table.add(&contest, &rounds);
    }
    println!("{}\n", table.text(arguments.markdown));
    let allocators: Vec<_> = allocators.into_iter().collect();
    for line in machine.lines(&allocators) {
        println!("{}{line}", if arguments.markdown { "- " } else { "" });
    }
    if allocators.len() > 1 {
        println!("not a fair comparison: preload the same allocator for all, with LD_PRELOAD");
    }
    for unmet in &table.unmet {
        println!("goal not met: {unmet}");
    }
    Ok(())
}
