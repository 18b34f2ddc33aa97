//! What a lab is to be: the input of everything else here.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use super::Error;
use crate::units::Bytes;

/// A lab to start. Fields not set keep the values of [`LabSpec::new`].
#[derive(Clone, Debug)]
pub struct LabSpec {
    /// Everything of the lab lies here; made if it does not exist, and must be empty if it does.
    pub dir: PathBuf,
    /// Address of all daemons, one of this host; 127.0.0.1.
    pub address: IpAddr,
    /// First of the ports to use; by default the first free range is taken.
    pub first_port: Option<u16>,
    /// OSDs; at least 1.
    pub osds: u32,
    /// Where OSDs keep their data; memstore.
    pub objectstore: ObjectStore,
    /// Capacity of each OSD; 2 GiB, at least 256 MiB. For bluestore 4 GiB and more make sense.
    pub size: Bytes,
    /// Copies of each object, 1 to `osds`; 1.
    pub replicas: u32,
    /// Placement groups of each pool; 8.
    pub pgs: u32,
    /// Pools to create and initialise for RBD; `rbd`.
    pub pools: Vec<String>,
    /// Whether to start an MDS and create the file system `cephfs`; no.
    pub mds: bool,
    /// Further lines for `ceph.conf`; they win over the lab's own.
    pub settings: Vec<Setting>,
    /// How long the start may take; 120 s.
    pub timeout: Duration,
}

impl LabSpec {
    /// The smallest lab: one OSD in memory, one pool `rbd`, on loopback.
    #[must_use]
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            first_port: None,
            osds: 1,
            objectstore: ObjectStore::MemStore,
            size: Bytes(2 << 30),
            replicas: 1,
            pgs: 8,
            pools: vec!["rbd".to_owned()],
            mds: false,
            settings: Vec::new(),
            timeout: Duration::from_secs(120),
        }
    }

    /// Refuses what no cluster can be.
    pub(super) fn check(&self) -> Result<(), Error> {
        let refuse = |why: String| Err(Error::Spec(why));
        if !(1..=64).contains(&self.osds) {
            return refuse(format!("{} OSDs: take 1 to 64", self.osds));
        }
        if self.replicas < 1 || self.replicas > self.osds {
            return refuse(format!("{} replicas on {} OSDs: take 1 to {0}", self.replicas, self.osds));
        }
        if !(1..=128).contains(&self.pgs) {
            return refuse(format!("{} placement groups a pool: take 1 to 128", self.pgs));
        }
        if self.size < Bytes(256 << 20) {
            return refuse(format!("OSDs of {}: take 256MiB or more", self.size));
        }
        if let Some(pool) = self.pools.iter().find(|pool| !is_name(pool)) {
            return refuse(format!("pool name `{pool}`: take letters, digits, `_`, `.` and `-`"));
        }
        Ok(())
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(['-', '.'])
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
}

/// What an OSD keeps its data in, in Ceph's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectStore {
    /// Memory: fast, and gone when the OSD is killed. For short runs.
    MemStore,
    /// A sparse file in the lab's directory: real disk behaviour, and data that outlives a killed OSD.
    BlueStore,
}

impl FromStr for ObjectStore {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "memstore" => Ok(Self::MemStore),
            "bluestore" => Ok(Self::BlueStore),
            _ => Err("take memstore or bluestore".to_owned()),
        }
    }
}

impl fmt::Display for ObjectStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MemStore => "memstore",
            Self::BlueStore => "bluestore",
        })
    }
}

/// A line of `ceph.conf`, written as `osd/osd_heartbeat_grace=5`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// `global`, `mon`, `mgr`, `osd`, `mds`, `client`, or one daemon such as `osd.0`.
    pub section: String,
    /// The option, in Ceph's spelling.
    pub option: String,
    /// Its value.
    pub value: String,
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(section, line)| {
            let (option, value) = line.split_once('=')?;
            Some((section.trim(), option.trim(), value.trim()))
        });
        let (section, option, value) =
            parts.ok_or("take SECTION/OPTION=VALUE, such as osd/osd_heartbeat_grace=5")?;
        if ![section, option].iter().all(|part| is_name(&part.replace(' ', "_"))) || value.contains('\n') {
            return Err("take names of letters, digits, `_`, `.` and `-`, and a value of one line".to_owned());
        }
        Ok(Self {
            section: section.to_owned(),
            option: option.replace([' ', '-'], "_"),
            value: value.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_section_option_and_value() {
        let setting: Setting = "osd.0/osd heartbeat grace = 5".parse().unwrap();
        assert_eq!(setting.section, "osd.0");
        assert_eq!(setting.option, "osd_heartbeat_grace");
        assert_eq!(setting.value, "5");
        for wrong in ["osd_heartbeat_grace=5", "osd/osd_heartbeat_grace", "o]d/a=1", "osd/a=1\n[mon]"] {
            assert!(wrong.parse::<Setting>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn impossible_clusters_are_refused_by_name() {
        let wrong = |change: &dyn Fn(&mut LabSpec)| {
            let mut spec = LabSpec::new("/tmp/x");
            change(&mut spec);
            spec.check().unwrap_err().to_string()
        };
        assert!(LabSpec::new("/tmp/x").check().is_ok());
        assert!(wrong(&|spec| spec.osds = 0).contains("0 OSDs"));
        assert!(wrong(&|spec| spec.replicas = 2).contains("2 replicas on 1 OSDs"));
        assert!(wrong(&|spec| spec.size = Bytes(1 << 20)).contains("1MiB"));
        assert!(wrong(&|spec| spec.pools.push("--help".to_owned())).contains("`--help`"));
    }
}
