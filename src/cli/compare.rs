//! `cephmark compare`: what one result proves about its arms, or several about each other.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::report::is_same;
use super::{Failure, print};
use crate::compare::{self, Across};
use crate::exit::Exit;
use crate::report::{Detail, Layout, verdicts};
use crate::result::{ResultFile, Verdict, file_of};

const EXAMPLES: &str = "\
Examples:
  cephmark compare results/monday                            the arms of one run, paired by block
  cephmark compare before/result.json after/result.json      two runs; weaker evidence, since nothing pairs them
  cephmark compare host vm pod --baseline 'place=host krbd' --fail-on worse";

/// Compare the arms of a result, or those of several results.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CompareArgs {
    /// Results: a `result.json` each, or the directory that holds it.
    #[arg(value_name = "RESULT", required = true)]
    pub results: Vec<PathBuf>,
    /// Arm that the others are compared with, as the table names it.
    #[arg(long, value_name = "ARM")]
    pub baseline: Option<String>,
    /// Exit with 1 on such a verdict.
    #[arg(long, value_enum, value_name = "VERDICT")]
    pub fail_on: Option<FailOn>,
}

/// What makes the command fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A proven regression.
    Worse,
}

/// A result against itself would look like two that agree.
fn refuse_twice(paths: &[PathBuf]) -> Result<(), Failure> {
    let files: Vec<PathBuf> = paths.iter().map(|path| file_of(path)).collect();
    let twice =
        files.iter().enumerate().find(|(at, file)| files[..*at].iter().any(|other| is_same(other, file)));
    twice.map_or(Ok(()), |(_, file)| {
        let message = format!("{} is given twice; name each result once", file.display());
        Err(Failure { exit: Exit::Usage, message })
    })
}

/// Which result is which, where arms and differences are told by its number.
fn legend(paths: &[PathBuf]) -> String {
    let named = paths.iter().enumerate().map(|(at, path)| format!("#{} is {}", at + 1, path.display()));
    format!("results: {}", named.collect::<Vec<_>>().join(", "))
}

/// Prints the verdicts.
///
/// # Errors
/// [`Failure`] if a result can't be read, or they can't be compared.
pub fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    let results: Result<Vec<_>, _> = args.results.iter().map(|path| ResultFile::load(path)).collect();
    refuse_twice(&args.results)?;
    let across = match (&results?[..], &args.baseline) {
        ([one], baseline) => {
            let comparisons = match baseline {
                None => compare::within_run(one),
                Some(baseline) => compare::within_run_against(one, baseline)?,
            };
            Across { comparisons, warnings: Vec::new() }
        }
        (several, baseline) => {
            let mut across = compare::across_runs(several, baseline.as_deref())?;
            across.warnings.insert(0, legend(&args.results));
            across
        }
    };
    if across.comparisons.is_empty() {
        let message = "nothing to compare: it takes two arms that ran a workload twice or more".to_owned();
        return Err(Failure { exit: Exit::Usage, message });
    }
    print(&verdicts(&across.comparisons, &across.warnings, Layout::of_stdout(Detail::Unrepeated)))?;
    let worse = across.comparisons.iter().any(|comparison| comparison.verdict == Verdict::Worse);
    Ok(if worse && args.fail_on == Some(FailOn::Worse) { Exit::Regression } else { Exit::Success })
}
