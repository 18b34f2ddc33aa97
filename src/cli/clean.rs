//! `cephmark clean`: removes what killed runs left behind, and only that.

use std::io::{self, BufRead, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{Failure, print, runtime};
use crate::ceph::{Cluster, within};
use crate::exit::Exit;
use crate::plan::ClusterSpec;
use crate::run::{self, Leftover};

const EXAMPLES: &str = "\
Examples:
  cephmark clean                    list what runs that were killed have left in all pools
  cephmark clean --pool rbd --yes   remove it from one";

/// How long the monitors may take to answer.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Looking through all pools, and removing an image with its data, take a while; this is when they never will.
const LIMIT: Duration = Duration::from_secs(3600);

/// Remove what killed runs left behind: lists first, and touches only what cephmark made.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CleanArgs {
    /// Look only into this pool.
    #[arg(long, value_name = "POOL")]
    pub pool: Option<String>,
    /// Remove what is listed without asking.
    #[arg(long)]
    pub yes: bool,
    /// Path of `ceph.conf`; without it CEPH_CONF counts, then Ceph's own search path.
    #[arg(long, value_name = "FILE")]
    pub conf: Option<PathBuf>,
    /// Ceph user.
    #[arg(long, value_name = "USER", default_value = "client.admin")]
    pub user: String,
}

/// Lists what was left, asks, and removes it.
///
/// # Errors
/// [`Failure`] of the cluster.
pub fn run(args: &CleanArgs) -> Result<Exit, Failure> {
    let spec = ClusterSpec { conf: args.conf.clone(), user: args.user.clone(), timeout: TIMEOUT };
    runtime(
        || (),
        async |interrupted| {
            let cluster = run::connect(&spec, &interrupted).await?;
            let (pool, asked) = (args.pool.clone(), cluster.clone());
            let look = move || run::find_leftovers(&asked, pool.as_deref());
            let found = within("looking for leftovers", LIMIT, &interrupted, look).await?;
            let removable = list(&found)?;
            if removable.is_empty() || !(args.yes || confirmed(removable.len())?) {
                return Ok(Exit::Success);
            }
            for leftover in removable {
                let removed = leftover.clone();
                remove(&cluster, leftover, &interrupted).await?;
                print(&format!("removed {removed}\n"))?;
            }
            Ok(Exit::Success)
        },
    )
}

/// Prints what was found; what may be removed.
fn list(found: &[Leftover]) -> Result<Vec<Leftover>, Failure> {
    if found.is_empty() {
        print("nothing was left behind\n")?;
    }
    for leftover in found {
        let use_ = leftover.in_use_by.as_ref();
        let use_ = use_.map_or_else(String::new, |client| format!(" (in use by {client}: left alone)"));
        print(&format!("{leftover}{use_}\n"))?;
    }
    Ok(found.iter().filter(|leftover| leftover.in_use_by.is_none()).cloned().collect())
}

fn confirmed(count: usize) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        print("nothing was removed; add --yes to remove what is listed\n")?;
        return Ok(false);
    }
    let images = if count == 1 { "this image".to_owned() } else { format!("these {count} images") };
    print(&format!("remove {images} with all data? [y/N] "))?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(run::Error::from)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

async fn remove(
    cluster: &Cluster,
    leftover: Leftover,
    interrupted: &tokio_util::sync::CancellationToken,
) -> Result<(), Failure> {
    let cluster = cluster.clone();
    let call = move || run::remove_leftover(&cluster, &leftover);
    Ok(within("removing an image", LIMIT, interrupted, call).await?)
}
