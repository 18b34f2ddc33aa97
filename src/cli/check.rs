//! `cephmark check`: the plan of a profile, or the first rule that it breaks.

use clap::Args;

use super::{Failure, ProfileArgs, print};
use crate::plan::Plan;
use crate::profile::Profile;

const EXAMPLES: &str = "\
Examples:
  cephmark check configs/rbd-4k.yaml
  cephmark check my.yaml --offline --set run.repeats=10";

/// Check a profile and show what a run would do: trials, time, writes, space, warnings.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CheckArgs {
    /// The profile.
    #[command(flatten)]
    pub profile: ProfileArgs,
    /// Ask no cluster; names of Ceph options, space and quota stay unchecked.
    #[arg(long)]
    pub offline: bool,
}

/// Prints the plan.
///
/// # Errors
/// [`Failure`] with the first fault of the profile.
pub fn run(args: &CheckArgs) -> Result<(), Failure> {
    let loaded = Profile::load(&args.profile.profile, &args.profile.set)?;
    print(&Plan::new(&loaded)?.render())
}
