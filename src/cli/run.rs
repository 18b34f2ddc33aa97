//! `cephmark run`: the trials of a profile, measured and reported.

use std::path::{Path, PathBuf};

use clap::Args;
use tokio::sync::mpsc::unbounded_channel;

use super::throwaway::{use_lab, with_lab};
use super::{Failure, print};
use crate::console;
use crate::exit::Exit;
use crate::plan::Plan;
use crate::profile::Profile;
use crate::report::{Detail, Layout, show_progress, text};
use crate::result::{FILE_NAME, ResultDirectory, ResultFile};
use crate::run::{self, Events};

const EXAMPLES: &str = "\
Examples:
  cephmark run --lab configs/quickstart.yaml
  cephmark run configs/rbd-4k.yaml --out results/monday
  cephmark run configs/rbd-4k.yaml --set run.runtime=60s --set targets.librbd.rbd.pool=bench
  cephmark run configs/rbd-4k.yaml --dry-run
  cephmark run --resume results/monday";

/// Run the trials of a profile and report them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RunArgs {
    /// Profile to use, a YAML file.
    #[arg(value_name = "PROFILE", required_unless_present = "resume")]
    pub profile: Option<PathBuf>,
    /// Set a key of the profile, such as run.runtime=60s; may be given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Go on with the interrupted run whose results are in this directory: same plan, same seed, finished trials are kept.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["profile", "set", "out", "lab", "dry_run"])]
    pub resume: Option<PathBuf>,
    /// Directory of the results; made if it does not exist.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Run on a throwaway cluster that is started on this host, whatever cluster the profile names.
    #[arg(long)]
    pub lab: bool,
    /// Show what the run would do, and do none of it.
    #[arg(long)]
    pub dry_run: bool,
}

/// Runs the profile and prints the report.
///
/// # Errors
/// [`Failure`] with what kept the run from beginning, or ended it before its last trial.
pub fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let profile = match (&args.resume, &args.profile) {
        (Some(directory), _) => return resume(directory),
        (None, Some(profile)) => profile,
        // The parser of arguments asks for one of them.
        (None, None) => return Ok(Exit::Usage),
    };
    let mut plan = Plan::new(&Profile::load(profile, &args.set)?)?;
    if args.dry_run {
        print(&plan.render())?;
        return Ok(Exit::Success);
    }
    with_lab(args.lab.then(|| plan.pools()), async |lab, interrupted| {
        use_lab(&mut plan.cluster, lab);
        measure(async |events| run::run(&plan, args.out.as_deref(), events, &interrupted).await).await
    })
}

/// Goes on with an interrupted run and prints the report of all of it.
fn resume(directory: &Path) -> Result<Exit, Failure> {
    let result = ResultFile::load(directory)?;
    let plan = run::plan_of(&result, &directory.join(FILE_NAME))?;
    if run::is_complete(&result) {
        print(&text(&result, Layout::of_stdout(Detail::Unrepeated)))?;
        console::say("every planned trial is there: nothing was left to do");
        return Ok(Exit::Success);
    }
    with_lab(None, async |_, interrupted| {
        measure(async |events| run::resume(&plan, result, directory, events, &interrupted).await).await
    })
}

/// A result, how the run ended, and where the result is.
type Ran = (ResultFile, Result<Exit, run::Error>, ResultDirectory);

/// Shows the progress of a run, and the report at its end.
async fn measure(run: impl AsyncFnOnce(&Events) -> Result<Ran, run::Error>) -> Result<Exit, Failure> {
    let (sender, receiver) = unbounded_channel();
    let view = tokio::spawn(show_progress(receiver));
    let events = Events::to(sender);
    let ran = run(&events).await;
    drop(events);
    // The view has nothing that could fail; it must be gone before the report is printed.
    let _ = view.await;
    let (result, outcome, directory) = ran?;
    if !result.trials.is_empty() {
        print(&text(&result, Layout::of_stdout(Detail::Unrepeated)))?;
        let lacks =
            if matches!(outcome, Err(run::Error::Save(_))) { ", as far as it could be saved" } else { "" };
        console::say(format_args!("result: {}{lacks}", directory.path().join(FILE_NAME).display()));
    }
    Ok(outcome?)
}
