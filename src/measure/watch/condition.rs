//! What may be the matter with a cluster.

/// What may be the matter with a cluster; the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// An OSD went down or restarted.
    OsdDown,
    /// Data is no longer placed on an OSD.
    OsdOut,
    /// An OSD came up, or data is placed on it again.
    OsdBack,
    /// A monitor left the quorum.
    MonDown,
    /// A tested pool takes no writes.
    Full,
    /// A tested pool can't be backfilled.
    BackfillFull,
    /// A tested pool will be full soon; CephFS writes synchronously then.
    NearFull,
    /// Placement groups of a tested pool are not active+clean.
    PgsNotClean,
    /// Data of any pool is recovered or backfilled.
    Recovery,
    /// The monitors did not answer, so that nobody knows.
    WatchLost,
    /// Operations have waited in OSDs for long.
    SlowOps,
    /// Placement groups of any pool were scrubbed.
    Scrub,
    /// There was no manager to gather what OSDs report.
    NoManager,
}

impl Trouble {
    /// Its word in result files.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::OsdDown => "osd_down",
            Self::OsdOut => "osd_out",
            Self::OsdBack => "osd_back",
            Self::MonDown => "mon_down",
            Self::Full => "full",
            Self::BackfillFull => "backfillfull",
            Self::NearFull => "nearfull",
            Self::PgsNotClean => "pgs_not_clean",
            Self::Recovery => "recovery",
            Self::WatchLost => "watch_lost",
            Self::SlowOps => "slow_ops",
            Self::Scrub => "scrub",
            Self::NoManager => "no_manager",
        }
    }

    /// Whether figures measured meanwhile must not be believed. The rest is for the reader to know: scrubs are part of a
    /// cluster's life, and slow operations may come from the load itself.
    #[must_use]
    pub const fn invalidates(self) -> bool {
        !matches!(self, Self::SlowOps | Self::Scrub | Self::NoManager)
    }
}

/// Something that is the matter at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// What it is.
    pub trouble: Trouble,
    /// How bad it is, to find the worst moment of a spell.
    pub extent: u64,
    /// What it is in words, without a verb: "8 PGs of the tested pools in active+undersized".
    pub text: String,
}
