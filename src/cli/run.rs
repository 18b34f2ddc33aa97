//! `cephmark run`: the trials of a profile, measured and reported.

use std::path::PathBuf;

use clap::Args;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use super::throwaway::{use_lab, with_lab};
use super::{Failure, ProfileArgs, print};
use crate::exit::Exit;
use crate::plan::Plan;
use crate::profile::Profile;
use crate::report::{Detail, Layout, show_progress, text};
use crate::run::{self, Events};

const EXAMPLES: &str = "\
Examples:
  cephmark run --lab configs/quickstart.yaml
  cephmark run configs/rbd-4k.yaml --out results/monday
  cephmark run configs/rbd-4k.yaml --set run.runtime=60s --set targets.librbd.rbd.pool=bench
  cephmark run configs/rbd-4k.yaml --dry-run";

/// Run the trials of a profile and report them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RunArgs {
    /// The profile.
    #[command(flatten)]
    pub profile: ProfileArgs,
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
    let loaded = Profile::load(&args.profile.profile, &args.profile.set)?;
    let mut plan = Plan::new(&loaded)?;
    if args.dry_run {
        print(&plan.render())?;
        return Ok(Exit::Success);
    }
    with_lab(args.lab.then(|| plan.pools()), async |lab, interrupted| {
        use_lab(&mut plan.cluster, lab);
        measure(&plan, args, &interrupted).await
    })
}

async fn measure(plan: &Plan, args: &RunArgs, interrupted: &CancellationToken) -> Result<Exit, Failure> {
    let (sender, receiver) = unbounded_channel();
    let view = tokio::spawn(show_progress(receiver));
    let events = Events::to(sender);
    let ran = run::run(plan, args.out.as_deref(), &events, interrupted).await;
    drop(events);
    // The view has nothing that could fail; it must be gone before the report is printed.
    let _ = view.await;
    let (result, outcome, directory) = ran?;
    if !result.trials.is_empty() {
        print(&text(&result, Layout::of_stdout(Detail::Unrepeated)))?;
        eprintln!("result: {}", directory.path().join(crate::result::FILE_NAME).display());
    }
    Ok(outcome?)
}
