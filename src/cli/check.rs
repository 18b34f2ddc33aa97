//! `cephmark check`: the plan of a profile, or the first rule that it breaks.

use clap::Args;

use super::{Failure, ProfileArgs, print, runtime};
use crate::exit::Exit;
use crate::plan::{Plan, Tuning};
use crate::profile::Profile;
use crate::run::{self, Ready};
use crate::tune::in_short as tuning_in_short;

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

/// Prints the plan, then asks the cluster whether it has what the plan needs.
///
/// # Errors
/// [`Failure`] with the first fault of the profile, or the first thing that the cluster lacks.
pub fn run(args: &CheckArgs) -> Result<Exit, Failure> {
    let loaded = Profile::load(&args.profile.profile, &args.profile.set)?;
    let plan = Plan::new(&loaded)?;
    print(&plan.render())?;
    let tuning = loaded.profile.tune.is_some().then(|| Tuning::new(&loaded)).transpose()?;
    if let Some(tuning) = &tuning {
        print(&format!("note: this is what `cephmark run` would do; {}\n", tuning_in_short(tuning)))?;
    }
    if args.offline {
        return Ok(Exit::Success);
    }
    runtime(
        || (),
        async |interrupted| {
            let Ready { admin, notes } = Ready::check(&plan, &interrupted).await?;
            if let (Some(tuning), Some(_)) = (&tuning, &admin) {
                run::check_options(&tuning.plan)?;
            }
            let outlook = run::look_ahead(&plan, admin.as_ref(), &interrupted).await?;
            for note in notes.into_iter().map(|note| note.text).chain(outlook) {
                print(&format!("note: {note}\n"))?;
            }
            if let Some(cluster) = admin {
                print(&format!("cluster {} has what the plan needs\n", cluster.fsid()?))?;
            }
            Ok(Exit::Success)
        },
    )
}
