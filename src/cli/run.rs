//! `cephmark run`: the trials of a profile, measured and reported.

use std::path::PathBuf;

use clap::Args;

use super::ProfileArgs;

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
