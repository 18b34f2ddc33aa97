//! How often cephmark's claims are right on a real cluster whose truth is known: `make claims`.
//!
//! Runs of equal arms, which differ in nothing; tunings of a space whose best setting is known; and tunings of a space in
//! which nothing matters. Every run is one of the program, as a user starts it. The counts are what docs/methods.md states.

mod program;
mod question;

use std::process::ExitCode;

use clap::Parser;

use program::Error;
use question::Question;

/// Ask cephmark what is known, on the cluster that CEPH_CONF names.
#[derive(Debug, Parser)]
#[command(name = "claims")]
struct Arguments {
    /// What to ask.
    #[arg(long, value_delimiter = ',', default_value = "equal-arms,known-best,nothing-matters")]
    only: Vec<Question>,
    /// How often to ask it, instead of 40 times for equal arms and 10 for each tuning.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// What cargo says to every benchmark.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    match ask(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("claims: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Asks each question again and again, and counts right answers.
fn ask(arguments: &Arguments) -> Result<(), Error> {
    let mut counts = Vec::new();
    for question in &arguments.only {
        let runs = arguments.runs.unwrap_or(question.runs());
        let mut right = 0;
        for run in 1..=runs {
            let answer = question.ask()?;
            right += u32::from(answer.is_right);
            let word = if answer.is_right { "right" } else { "wrong" };
            println!("{} {run}/{runs}: {word}: {}", question.name(), answer.text);
        }
        counts.push(format!("{}: {right} of {runs} right; {}", question.name(), question.truth()));
    }
    println!();
    for count in counts {
        println!("{count}");
    }
    Ok(())
}
