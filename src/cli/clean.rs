//! `cephmark clean`: removes what killed runs left behind, and only that.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  cephmark clean                    list what runs that were killed have left in all pools
  cephmark clean --pool rbd --yes   remove it from one";

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
