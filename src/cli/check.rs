//! `cephmark check`: the plan of a profile, or the first rule that it breaks.

use clap::Args;

use super::{Failure, ProfileArgs, print, runtime};
use crate::exit::Exit;
use crate::plan::{Plan, Tuning};
use crate::profile::Profile;
use crate::run;
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
            for note in run::check_paths(&plan, &interrupted).await? {
                print(&format!("note: {note}\n"))?;
            }
            let mut cluster = None;
            if run::needs_cluster(&plan) {
                run::check_options(&plan)?;
                tuning.as_ref().map_or(Ok(()), |tuning| run::check_options(&tuning.plan))?;
                let admin = cluster.insert(run::connect(&plan.cluster, &interrupted).await?);
                let notes = run::check_cluster(&plan, admin, &interrupted).await?;
                for note in notes.into_iter().chain(run::check_caches(&plan, admin)?) {
                    print(&format!("note: {note}\n"))?;
                }
            }
            for note in run::look_ahead(&plan, cluster.as_ref(), &interrupted).await? {
                print(&format!("note: {note}\n"))?;
            }
            if let Some(cluster) = cluster {
                print(&format!("cluster {} has what the plan needs\n", cluster.fsid()?))?;
            }
            Ok(Exit::Success)
        },
    )
}
