//! When a lab is ready: all OSDs up, all placement groups active+clean and, with CephFS, an active MDS. HEALTH_OK is not
//! waited for: it depends on warnings that say nothing about I/O.

use std::fmt;

use serde::Deserialize;

use super::DaemonName;
use super::home::Record;

/// The part of `ceph status -f json` that matters here. Ceph leaves out what it does not know yet.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ClusterStatus {
    osdmap: OsdMap,
    pgmap: PgMap,
    fsmap: FsMap,
    mgrmap: MgrMap,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OsdMap {
    num_up_osds: u32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PgMap {
    num_pools: usize,
    num_pgs: u32,
    pgs_by_state: Vec<PgState>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PgState {
    state_name: String,
    count: u32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FsMap {
    by_rank: Vec<Rank>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Rank {
    status: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MgrMap {
    available: bool,
}

/// What a lab lacks to be ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lack {
    /// The monitor does not answer.
    Monitor,
    /// The mgr is not active, so nobody knows of placement groups.
    Mgr,
    /// OSDs are down.
    Osds {
        /// OSDs that are up.
        up: u32,
        /// OSDs that there are.
        all: u32,
    },
    /// Placement groups are not active+clean.
    Pgs {
        /// Those that are.
        clean: u32,
        /// Those that are known so far.
        all: u32,
    },
    /// No MDS is active.
    Mds,
}

impl ClusterStatus {
    /// The first thing that is missing.
    pub(super) fn lack(&self, lab: &Record) -> Option<Lack> {
        if self.osdmap.num_up_osds < lab.osds {
            return Some(Lack::Osds { up: self.osdmap.num_up_osds, all: lab.osds });
        }
        if !self.mgrmap.available {
            return Some(Lack::Mgr);
        }
        let clean = self.pgmap.pgs_by_state.iter().filter(|state| is_clean(&state.state_name));
        let (clean, all) = (clean.map(|state| state.count).sum(), self.pgmap.num_pgs);
        // Statistics lag behind: before all pools are in them, "all clean" is said of the others only.
        if clean < all || self.pgmap.num_pools < lab.pools {
            return Some(Lack::Pgs { clean, all });
        }
        (lab.mds && !self.fsmap.by_rank.iter().any(|rank| rank.status == "up:active")).then_some(Lack::Mds)
    }
}

/// A scrub does not keep a placement group from being clean: `active+clean+scrubbing+deep`.
fn is_clean(state: &str) -> bool {
    state == "active+clean" || state.starts_with("active+clean+scrubbing")
}

impl Lack {
    /// The daemon whose log tells most of it.
    pub(super) fn culprit(&self) -> DaemonName {
        match self {
            Self::Monitor => DaemonName::mon(),
            Self::Mgr => DaemonName::mgr(),
            Self::Osds { .. } | Self::Pgs { .. } => DaemonName::osd(0),
            Self::Mds => DaemonName::mds(),
        }
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Monitor => f.write_str("the monitor does not answer"),
            Self::Mgr => f.write_str("the mgr is not active"),
            Self::Osds { up, all } => write!(f, "{up} of {all} OSDs are up"),
            Self::Pgs { clean, all } => write!(f, "{clean} of {all} placement groups are active+clean"),
            Self::Mds => f.write_str("the MDS is not active"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lack(status: &str) -> Option<Lack> {
        let lab = Record {
            fsid: String::new(),
            monitor: "127.0.0.1:17301".parse().unwrap(),
            osds: 1,
            mds: true,
            pools: 3,
            run: "/tmp/lab/run".into(),
            made: true,
        };
        serde_json::from_str::<ClusterStatus>(status).unwrap().lack(&lab)
    }

    fn status(up: u32, available: bool, pools: usize, states: &str, mds: &str) -> String {
        format!(
            r#"{{"osdmap": {{"num_up_osds": {up}}}, "mgrmap": {{"available": {available}}},
                "pgmap": {{"num_pools": {pools}, "num_pgs": 24, "pgs_by_state": [{states}]}},
                "fsmap": {{"by_rank": [{mds}]}}}}"#
        )
    }

    #[test]
    fn what_is_missing_is_told_in_the_order_of_the_start() {
        const CLEAN: &str = r#"{"state_name": "active+clean", "count": 24}"#;
        const SOME: &str =
            r#"{"state_name": "active+clean", "count": 8}, {"state_name": "peering", "count": 16}"#;
        const SCRUB: &str = r#"{"state_name": "active+clean", "count": 23},
            {"state_name": "active+clean+scrubbing+deep", "count": 1}"#;
        const ACTIVE: &str = r#"{"status": "up:active"}"#;
        assert_eq!(lack("{}"), Some(Lack::Osds { up: 0, all: 1 }));
        assert_eq!(lack(&status(1, false, 0, "", "")), Some(Lack::Mgr));
        assert_eq!(lack(&status(1, true, 3, SOME, ACTIVE)), Some(Lack::Pgs { clean: 8, all: 24 }));
        assert_eq!(lack(&status(1, true, 2, CLEAN, ACTIVE)), Some(Lack::Pgs { clean: 24, all: 24 }));
        assert_eq!(lack(&status(1, true, 3, CLEAN, r#"{"status": "up:creating"}"#)), Some(Lack::Mds));
        assert_eq!(lack(&status(1, true, 3, CLEAN, ACTIVE)), None);
        assert_eq!(lack(&status(1, true, 3, SCRUB, ACTIVE)), None);
    }
}
