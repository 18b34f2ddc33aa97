//! The command line: a file for each subcommand.

pub mod check;
pub mod clean;
pub mod compare;
mod failure;
pub mod lab;
pub mod report;
pub mod run;
mod runtime;
pub mod schema;
mod signals;
mod throwaway;
pub mod tune;

use clap::{Args, Parser, Subcommand};

pub use failure::Failure;
use runtime::runtime;

use crate::console;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  cephmark run --lab configs/quickstart.yaml   on a throwaway cluster of this host
  cephmark check configs/rbd-4k.yaml           what a run would do, and what it takes
  cephmark report results/rbd-4k               an old run's figures

Exit codes:
  0    every planned trial is valid
  1    a proven regression, only where --fail-on asked for it
  2    the profile or the command line is wrong
  3    the cluster or a target could not be set up
  4    I/O errors, a failed verification, or a trial that stayed invalid
  5    the cluster is stuck
  130  interrupted, after cleaning up";

const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), " (", env!("CEPHMARK_COMMIT"), ", ", env!("CEPHMARK_BUILD_DATE"), ")");

/// Benchmark a Ceph cluster the way its real clients use it.
#[derive(Debug, Parser)]
#[command(name = "cephmark", version = VERSION, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the trials of a profile and report them.
    Run(run::RunArgs),
    /// Check a profile and show what a run would do.
    Check(check::CheckArgs),
    /// Say what the arms of one result, or of several, prove about each other.
    Compare(compare::CompareArgs),
    /// Search the best settings of a client, and confirm them.
    Tune(tune::TuneArgs),
    /// Report an earlier run.
    Report(report::ReportArgs),
    /// Start, use and take down a throwaway cluster on this host.
    Lab(lab::LabArgs),
    /// Remove what killed runs left behind.
    Clean(clean::CleanArgs),
    /// Print the JSON Schema of a file format.
    Schema(schema::SchemaArgs),
}

impl Command {
    /// Carries it out; the exit code.
    ///
    /// # Errors
    /// [`Failure`] with the line to print and the exit code.
    pub fn run(self) -> Result<u8, Failure> {
        let exit = match self {
            Self::Run(args) => run::run(&args)?,
            Self::Check(args) => check::run(&args)?,
            Self::Compare(args) => compare::run(&args)?,
            Self::Tune(args) => tune::run(&args)?,
            Self::Report(args) => report::run(&args).map(|()| Exit::Success)?,
            // The code of the lab's command may be any.
            Self::Lab(args) => return lab::run(args),
            Self::Clean(args) => clean::run(&args)?,
            Self::Schema(args) => schema::run(&args).map(|()| Exit::Success)?,
        };
        Ok(exit as u8)
    }
}

/// A profile, and what to change in it.
#[derive(Debug, Args)]
pub struct ProfileArgs {
    /// Profile to use, a YAML file.
    #[arg(value_name = "PROFILE")]
    pub profile: std::path::PathBuf,
    /// Set a key of the profile, such as run.runtime=60s; may be given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
}

/// Prints to standard output. Whoever closes the pipe early, as `head` does, has seen enough.
///
/// # Errors
/// [`Failure`] if it can't be written otherwise, such as to a full disk.
pub fn print(text: &str) -> Result<(), Failure> {
    console::print(text).map_err(|error| Failure {
        exit: Exit::Usage,
        message: format!("standard output can't be written: {error}"),
    })
}
