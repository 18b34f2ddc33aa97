//! The `ceph.conf` of a lab.

use std::fmt;
use std::path::Path;

use super::home::Home;
use super::ports::Ports;
use super::{LabSpec, ObjectStore};

/// Sections in the order in which they are written, each with its options. An option set twice has the later value.
#[derive(Debug, Default)]
pub(super) struct Conf(Vec<(String, Vec<(String, String)>)>);

impl Conf {
    /// All that daemons and clients of the lab need to know.
    pub(super) fn of(spec: &LabSpec, home: &Home, fsid: &str, ports: &Ports, modules: Option<&Path>) -> Self {
        let mut conf = Self::default();
        conf.network(spec, fsid, ports);
        conf.pools(spec);
        conf.files(home, modules);
        conf.pace();
        conf.quiet();
        conf.osd(spec);
        for setting in &spec.settings {
            conf.set(&setting.section, &setting.option, &setting.value);
        }
        conf
    }

    fn set(&mut self, section: &str, option: &str, value: impl ToString) {
        let index = self.0.iter().position(|(name, _)| name == section).unwrap_or_else(|| {
            self.0.push((section.to_owned(), Vec::new()));
            self.0.len() - 1
        });
        let options = &mut self.0[index].1;
        options.retain(|(name, _)| name != option);
        options.push((option.to_owned(), value.to_string()));
    }

    fn network(&mut self, spec: &LabSpec, fsid: &str, ports: &Ports) {
        let (first, last) = ports.others();
        self.set("global", "fsid", fsid);
        self.set("global", "mon_host", monitor_addresses(spec, ports));
        self.set("global", "public_addr", spec.address);
        self.set("global", "cluster_addr", spec.address);
        self.set("global", "ms_bind_ipv4", spec.address.is_ipv4());
        self.set("global", "ms_bind_ipv6", spec.address.is_ipv6());
        self.set("global", "ms_bind_port_min", first);
        self.set("global", "ms_bind_port_max", last);
        self.set("global", "auth_allow_insecure_global_id_reclaim", false);
    }

    /// All copies may lie on one host, and a pool may have just one.
    fn pools(&mut self, spec: &LabSpec) {
        self.set("global", "osd_crush_chooseleaf_type", 0);
        self.set("global", "osd_pool_default_size", spec.replicas);
        self.set("global", "osd_pool_default_min_size", 1);
        self.set("global", "osd_pool_default_pg_num", spec.pgs);
        self.set("global", "osd_pool_default_pg_autoscale_mode", "off");
        self.set("global", "mon_allow_pool_size_one", true);
        self.set("global", "mon_allow_pool_delete", true);
        self.set("mon", "mon_warn_on_pool_no_redundancy", false);
    }

    fn files(&mut self, home: &Home, modules: Option<&Path>) {
        let (dir, logs) = (home.dir().display(), home.logs());
        self.set("global", "keyring", home.keyring().display());
        self.set("global", "run_dir", home.run().display());
        for kind in ["mon", "mgr", "osd", "mds"] {
            self.set(kind, &format!("{kind}_data"), format!("{dir}/data/{kind}.$id"));
            self.set(kind, "keyring", format!("{dir}/data/{kind}.$id/keyring"));
            self.set(kind, "log_file", logs.join("$name.log").display());
            self.set(kind, "pid_file", home.run().join("$name.pid").display());
            self.set(kind, "crash_dir", logs.display());
        }
        self.set("mon", "mon_cluster_log_file", logs.join("cluster.log").display());
        if let Some(modules) = modules {
            self.set("mgr", "mgr_module_path", modules.display());
        }
    }

    /// Defaults suit clusters of thousands of daemons that live for years: maps wait for a second for further changes,
    /// statistics for five. A lab is to be ready, and to tell of a lost OSD, at once. None of these is in the I/O path.
    fn pace(&mut self) {
        self.set("mon", "paxos_propose_interval", 0.1);
        self.set("mon", "mon_tick_interval", 1);
        self.set("mon", "mon_mgr_digest_period", 1);
        self.set("mon", "mon_osd_min_down_reporters", 1);
        self.set("mon", "mon_osd_reporter_subtree_level", "osd");
        self.set("mgr", "mgr_tick_period", 1);
        self.set("mgr", "mgr_stats_period", 1);
    }

    /// Nothing that warns of, measures or reports a throwaway cluster.
    fn quiet(&mut self) {
        self.set("mon", "mgr_initial_modules", "");
        self.set("mon", "mon_data_avail_warn", 1);
        self.set("mon", "mon_data_avail_crit", 0);
        let common =
            ["asok", "auth", "heartbeatmap", "mgrc", "monc", "ms", "objclass", "objecter", "perfcounter"];
        let own: [(&str, &[&str]); 4] = [
            ("mon", &["mon", "paxos", "rocksdb", "crush"]),
            ("mgr", &["mgr"]),
            (
                "osd",
                &["osd", "bluestore", "bluefs", "bdev", "rocksdb", "optracker", "prioritycache", "reserver"],
            ),
            ("mds", &["mds", "mds_balancer", "mds_locker", "mds_log", "mds_migrator", "journaler"]),
        ];
        for (section, subsystems) in own {
            for subsystem in common.iter().chain(subsystems) {
                self.set(section, &format!("debug_{subsystem}"), "0/0");
            }
        }
    }

    fn osd(&mut self, spec: &LabSpec) {
        self.set("osd", "osd_objectstore", spec.objectstore);
        self.set("osd", "osd_memory_target", 1_u64 << 30);
        match spec.objectstore {
            ObjectStore::MemStore => {
                self.set("osd", "memstore_device_bytes", spec.size.get());
                // Random overwrites make it grow far beyond its size otherwise: the other layout keeps overwritten
                // buffers alive by their remains, and a long log is in memory twice.
                self.set("osd", "memstore_page_set", true);
                self.set("osd", "osd_max_pg_log_entries", 1000);
                // A fast shutdown would skip the unmount, in which a memstore saves its objects.
                self.set("osd", "osd_fast_shutdown", false);
            }
            ObjectStore::BlueStore => {
                self.set("osd", "bluestore_block_create", true);
                self.set("osd", "bluestore_block_size", spec.size.get());
            }
        }
    }
}

/// The monitor's addresses for both protocols, as `ceph.conf` and `monmaptool` want them.
pub(super) fn monitor_addresses(spec: &LabSpec, ports: &Ports) -> String {
    let at = |port| std::net::SocketAddr::new(spec.address, port);
    format!("[v2:{},v1:{}]", at(ports.monitor()), at(ports.monitor() + 1))
}

impl fmt::Display for Conf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# A throwaway cluster of cephmark; `cephmark lab down` removes it.")?;
        for (section, options) in &self.0 {
            writeln!(f, "\n[{section}]")?;
            options.iter().try_for_each(|(option, value)| writeln!(f, "{option} = {value}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_set_again_has_the_later_value_and_keeps_its_section() {
        let mut conf = Conf::default();
        conf.set("osd", "a", 1);
        conf.set("mon", "a", 2);
        conf.set("osd", "a", 3);
        let text = conf.to_string();
        assert!(text.ends_with("\n[osd]\na = 3\n\n[mon]\na = 2\n"), "{text}");
    }
}
