//! `cephmark tune`: the best settings of a client, searched and confirmed.

use std::path::PathBuf;

use clap::Args;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use super::throwaway::{use_lab, with_lab};
use super::{Failure, ProfileArgs, print};
use crate::console;
use crate::exit::Exit;
use crate::plan::Tuning;
use crate::profile::Profile;
use crate::report::show_progress;
use crate::run::{self, Events};
use crate::tune::{self, plan_text, text};

const EXAMPLES: &str = "\
Examples:
  cephmark tune --lab configs/cache-tune.yaml            on a throwaway cluster of this host
  cephmark tune configs/cache-tune.yaml -o results/tuned
  cephmark tune configs/cache-tune.yaml --set tune.budget=2h --set 'tune.constraints=[p99 <= 20ms]'
  cephmark tune configs/cache-tune.yaml --dry-run        the settings that would be tried

The best setting is confirmed by fresh trials against what the cluster has now. Nothing on the cluster is changed.";

/// Search the settings of a profile's `tune` block for the best, and confirm it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TuneArgs {
    /// The profile.
    #[command(flatten)]
    pub profile: ProfileArgs,
    /// Directory of the results; made if it does not exist.
    #[arg(short = 'o', long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Tune a throwaway cluster that is started on this host, whatever cluster the profile names.
    #[arg(long)]
    pub lab: bool,
    /// Show what would be tried, and do none of it.
    #[arg(long)]
    pub dry_run: bool,
}

/// Tunes, and prints what was found.
///
/// # Errors
/// [`Failure`] with what kept it from beginning, or ended it.
pub fn run(args: &TuneArgs) -> Result<Exit, Failure> {
    let loaded = Profile::load(&args.profile.profile, &args.profile.set)?;
    let mut tuning = Tuning::new(&loaded)?;
    if run::needs_cluster(&tuning.plan) {
        run::check_options(&tuning.plan)?;
    }
    if args.dry_run {
        print(&plan_text(&tuning))?;
        return Ok(Exit::Success);
    }
    with_lab(args.lab.then(|| tuning.plan.pools()), async |lab, interrupted| {
        use_lab(&mut tuning.plan.cluster, lab);
        search(&tuning, args, &interrupted).await
    })
}

async fn search(tuning: &Tuning, args: &TuneArgs, interrupted: &CancellationToken) -> Result<Exit, Failure> {
    let (sender, receiver) = unbounded_channel();
    let view = tokio::spawn(show_progress(receiver));
    let events = Events::to(sender);
    let tuned = tune::tune(tuning, args.out.as_deref(), &events, interrupted).await;
    drop(events);
    // The view has nothing that could fail; it must be gone before the report is printed.
    let _ = view.await;
    let (outcome, exit, directory) = tuned?;
    print(&text(&outcome))?;
    console::say(format_args!("result: {}", directory.path().join(tune::FILE_NAME).display()));
    Ok(exit)
}
