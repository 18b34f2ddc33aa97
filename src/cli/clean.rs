//! `cephmark clean`: removes what killed runs left behind, and only that.

use std::io::{self, BufRead, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tokio_util::sync::CancellationToken;

use super::{Failure, print, runtime};
use crate::ceph::{Cluster, within};
use crate::exit::Exit;
use crate::plan::ClusterSpec;
use crate::run::{self, Leftover};
use crate::target::{self, LeftFile, LeftMapping, left_files};

const EXAMPLES: &str = "\
Examples:
  cephmark clean                    list what runs that were killed have left in all pools
  cephmark clean --pool rbd --yes   remove it from one
  cephmark clean /mnt/nfs/io        list the files that they have left of a target with this `path`";

const NOTHING: &str = "nothing was left behind\n";
/// How long the monitors may take to answer.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Looking through all pools, and removing an image with its data, take a while; this is when they never will.
const LIMIT: Duration = Duration::from_secs(3600);

/// Remove what killed runs left behind: lists first, and touches only what cephmark made.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CleanArgs {
    /// `path` of `file` targets: look for the files that runs made beside it, and ask no cluster.
    #[arg(conflicts_with_all = ["pool", "conf", "user"])]
    pub paths: Vec<PathBuf>,
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

/// Lists what was left, asks, and removes it: first the mappings of this host, then the images of the cluster; or files.
///
/// # Errors
/// [`Failure`] of the cluster, or of a file system.
pub fn run(args: &CleanArgs) -> Result<Exit, Failure> {
    if !args.paths.is_empty() {
        return clean_files(args);
    }
    let spec = ClusterSpec { conf: args.conf.clone(), user: args.user.clone(), timeout: TIMEOUT };
    runtime(
        || (),
        async |interrupted| {
            let cluster = run::connect(&spec, &interrupted).await?;
            let found = left_mappings(&cluster, args, &interrupted).await?;
            let nothing = found.is_empty();
            // A device keeps its image from being removed.
            let unmapped = nothing || unmap(found, args.yes, &interrupted).await?;
            let (pool, asked) = (args.pool.clone(), cluster.clone());
            let look = move || run::find_leftovers(&asked, pool.as_deref());
            let found = within("looking for leftovers", LIMIT, &interrupted, look).await?;
            if nothing && found.is_empty() {
                print(NOTHING)?;
            }
            let removable = list(&found)?;
            let question = format!("remove {} with all data?", count(removable.len(), "image"));
            let removed = removable.is_empty() || args.yes || confirmed(&question)?;
            for leftover in removable.into_iter().filter(|_| removed) {
                let name = leftover.clone();
                remove(&cluster, leftover, &interrupted).await?;
                print(&format!("removed {name}\n"))?;
            }
            if !(unmapped && removed) {
                tell_of_yes()?;
            }
            Ok(Exit::Success)
        },
    )
}

/// Lists the files that were left, asks, and removes them.
fn clean_files(args: &CleanArgs) -> Result<Exit, Failure> {
    let (paths, yes) = (args.paths.clone(), args.yes);
    runtime(
        || (),
        async |interrupted| {
            // The inner results are no errors of Ceph's library.
            let look = move || Ok(find_left_files(&paths));
            let found =
                within("looking for files", LIMIT, &interrupted, look).await?.map_err(run::Error::from)?;
            if found.is_empty() {
                print(NOTHING)?;
            }
            for file in &found {
                let in_use = if file.in_use { " (in use by a run: left alone)" } else { "" };
                print(&format!("{}{in_use}\n", file.path.display()))?;
            }
            let removable: Vec<LeftFile> = found.into_iter().filter(|file| !file.in_use).collect();
            let question = format!("remove {}?", count(removable.len(), "file"));
            let removed = removable.is_empty() || yes || confirmed(&question)?;
            for file in removable.into_iter().filter(|_| removed) {
                let name = file.path.clone();
                let outcome =
                    within("removing a file", LIMIT, &interrupted, move || Ok(file.remove())).await?;
                outcome.map_err(run::Error::from)?;
                print(&format!("removed {}\n", name.display()))?;
            }
            if !removed {
                tell_of_yes()?;
            }
            Ok(Exit::Success)
        },
    )
}

fn find_left_files(paths: &[PathBuf]) -> Result<Vec<LeftFile>, target::Error> {
    let found: Vec<_> = paths.iter().map(|path| left_files(path)).collect::<Result<_, _>>()?;
    Ok(found.concat())
}

/// Tells a caller who could not be asked how to have it done.
fn tell_of_yes() -> Result<(), Failure> {
    if io::stdin().is_terminal() {
        return Ok(());
    }
    print("nothing was removed; add --yes to remove what is listed\n")
}

/// The block devices that are left of images in the cluster, or in the one pool that is asked for.
async fn left_mappings(
    cluster: &Cluster,
    args: &CleanArgs,
    interrupted: &CancellationToken,
) -> Result<Vec<LeftMapping>, Failure> {
    let (pool, cluster) = (args.pool.clone(), cluster.clone());
    let look = move || run::find_left_mappings(&cluster, pool.as_deref());
    Ok(within("looking for mappings", LIMIT, interrupted, look).await?)
}

/// Lists the block devices, and unmaps them if that is what the user wants.
async fn unmap(found: Vec<LeftMapping>, yes: bool, interrupted: &CancellationToken) -> Result<bool, Failure> {
    for mapping in &found {
        print(&format!("{mapping}\n"))?;
    }
    if !yes && !confirmed(&format!("unmap {}?", count(found.len(), "device")))? {
        return Ok(false);
    }
    for mapping in found {
        let name = mapping.to_string();
        // The inner result is no error of Ceph's library.
        let unmapped = within("unmapping", LIMIT, interrupted, move || Ok(mapping.unmap())).await?;
        unmapped.map_err(run::Error::from)?;
        print(&format!("unmapped {name}\n"))?;
    }
    Ok(true)
}

/// Prints which images were found; which may be removed.
fn list(found: &[Leftover]) -> Result<Vec<Leftover>, Failure> {
    for leftover in found {
        let use_ = leftover.in_use_by.as_ref();
        let use_ = use_.map_or_else(String::new, |client| format!(" (in use by {client}: left alone)"));
        print(&format!("{leftover}{use_}\n"))?;
    }
    Ok(found.iter().filter(|leftover| leftover.in_use_by.is_none()).cloned().collect())
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("this {noun}") } else { format!("these {number} {noun}s") }
}

/// Asks the user, if there is one at a terminal.
fn confirmed(question: &str) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        return Ok(false);
    }
    print(&format!("{question} [y/N] "))?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(run::Error::from)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

async fn remove(
    cluster: &Cluster,
    leftover: Leftover,
    interrupted: &CancellationToken,
) -> Result<(), Failure> {
    let cluster = cluster.clone();
    let call = move || run::remove_leftover(&cluster, &leftover);
    Ok(within("removing an image", LIMIT, interrupted, call).await?)
}
