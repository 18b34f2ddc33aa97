//! The cluster at one moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::condition::{Condition, Trouble};
use crate::ceph::{Cluster, Error, Osd, OsdMap, Status};

/// Words of a PG's state that leave it as fast as it is: it serves its data from all its copies.
const PEACEFUL: [&str; 9] = [
    "active",
    "clean",
    "scrubbing",
    "deep",
    "snaptrim",
    "snaptrim_wait",
    "snaptrim_error",
    "inconsistent",
    "failed_repair",
];

/// The cluster at one moment, as far as the tested pools are concerned.
#[derive(Clone, Debug)]
pub struct Look {
    pub(super) status: Status,
    pub(super) map: Arc<OsdMap>,
    pools: Arc<[String]>,
    /// States of PGs that are not active+clean, and how many are in each.
    unclean: BTreeMap<String, u64>,
    /// Those PGs are of the tested pools, and not of any.
    attributed: bool,
}

impl Look {
    /// Looks at the cluster: one command, and others only for what has changed since the look `before`. Blocks.
    ///
    /// # Errors
    /// If the monitors do not answer.
    pub fn take(cluster: &Cluster, pools: &Arc<[String]>, before: Option<&Self>) -> Result<Self, Error> {
        let status = cluster.status()?;
        let map = match before.filter(|before| before.map.epoch >= status.osd_epoch) {
            Some(before) => Arc::clone(&before.map),
            None => Arc::new(cluster.osd_map()?),
        };
        let mut look = Self {
            unclean: unclean(status.pgs.iter().map(|(state, count)| (state.as_str(), *count))),
            attributed: false,
            status,
            map,
            pools: Arc::clone(pools),
        };
        match before.filter(|before| before.attributed && before.status.pgs == look.status.pgs) {
            Some(before) => (look.unclean, look.attributed) = (before.unclean.clone(), true),
            None => look.attribute(cluster),
        }
        Ok(look)
    }

    /// Leaves of the unclean PGs those of the tested pools, which only the manager can tell.
    fn attribute(&mut self, cluster: &Cluster) {
        if self.unclean.is_empty() || !self.status.manager {
            return;
        }
        // A manager that died just now does not answer; PGs of unknown pools are then taken for ours.
        if let Ok(pgs) = cluster.pg_states() {
            let tested: Vec<u64> = self.tested().map(|pool| pool.id).collect();
            let ours = pgs.iter().filter(|(pool, _)| tested.contains(pool));
            self.unclean = unclean(ours.map(|(_, state)| (state.as_str(), 1)));
            self.attributed = true;
        }
    }

    /// What keeps a trial from beginning now.
    #[must_use]
    pub fn obstacles(&self) -> Vec<String> {
        let conditions = self.conditions().into_iter().filter(|found| found.trouble.invalidates());
        let mut obstacles: Vec<String> = conditions.map(|found| found.text).collect();
        if !self.status.manager {
            // Nobody says whether its PGs live well without it.
            let down = self.map.osds.iter().filter(|osd| osd.is_in() && !osd.is_up());
            obstacles.extend(down.map(|osd| format!("osd.{} down", osd.id)));
        }
        obstacles
    }

    /// What is the matter now, whenever it began.
    #[must_use]
    pub fn conditions(&self) -> Vec<Condition> {
        let mut found = self.full();
        let mut add = |trouble, extent, text| {
            if extent > 0 {
                found.push(Condition { trouble, extent, text });
            }
        };
        if !self.status.manager {
            let text = "no manager active, so that nobody knows of PGs, recovery, scrubs and slow operations";
            add(Trouble::NoManager, 1, text.to_owned());
            return found;
        }
        let whose = if self.attributed { " of the tested pools" } else { "" };
        let states: Vec<&str> = self.unclean.keys().map(String::as_str).collect();
        let count = self.unclean.values().sum();
        add(Trouble::PgsNotClean, count, format!("{}{whose} in {}", pgs(count), states.join(", ")));
        let count = self.in_states(&["recovering", "backfilling"]);
        add(Trouble::Recovery, count, format!("recovery of {}", pgs(count)));
        let count = self.in_states(&["scrubbing"]);
        add(Trouble::Scrub, count, format!("a scrub of {}", pgs(count)));
        if let Some(text) = self.status.health.get("SLOW_OPS") {
            add(Trouble::SlowOps, 1, format!("slow operations: {text}"));
        }
        found
    }

    /// What happened between the look `before` and this one: the trouble, and a sentence.
    #[must_use]
    pub fn events_since(&self, before: &Self) -> Vec<(Trouble, String)> {
        let mut events = Vec::new();
        for osd in &before.map.osds {
            let now = self.map.osds.iter().find(|now| now.id == osd.id);
            events.extend(
                osd_events(osd, now).into_iter().map(|(kind, what)| (kind, format!("osd.{} {what}", osd.id))),
            );
        }
        let known = |osd: &&Osd| before.map.osds.iter().any(|known| known.id == osd.id);
        let new = self.map.osds.iter().filter(|osd| osd.is_up() && !known(osd));
        events.extend(new.map(|osd| (Trouble::OsdBack, format!("osd.{} joined", osd.id))));
        let lost = before.status.monitors.iter().filter(|name| !self.status.monitors.contains(name));
        events.extend(lost.map(|name| (Trouble::MonDown, format!("mon.{name} left the quorum"))));
        events
    }

    fn full(&self) -> Vec<Condition> {
        let flags = [
            (Trouble::Full, "full"),
            (Trouble::BackfillFull, "backfillfull"),
            (Trouble::NearFull, "nearfull"),
        ];
        let mut found = Vec::new();
        for (trouble, flag) in flags {
            let names: Vec<&str> =
                self.tested().filter(|pool| pool.has(flag)).map(|pool| pool.name.as_str()).collect();
            if !names.is_empty() {
                let text = format!("pool {} {flag}", names.join(", "));
                found.push(Condition { trouble, extent: names.len() as u64, text });
            }
        }
        found
    }

    /// How many PGs of all pools are in a state with any of these words.
    fn in_states(&self, words: &[&str]) -> u64 {
        let states = self.status.pgs.iter();
        states
            .filter(|(state, _)| state.split('+').any(|word| words.contains(&word)))
            .map(|(_, count)| count)
            .sum()
    }

    fn tested(&self) -> impl Iterator<Item = &crate::ceph::PoolState> {
        self.map.pools.iter().filter(|pool| self.pools.contains(&pool.name))
    }
}

fn osd_events(before: &Osd, now: Option<&Osd>) -> Vec<(Trouble, &'static str)> {
    let Some(now) = now else { return vec![(Trouble::OsdOut, "was removed")] };
    let running = match (before.is_up(), now.is_up()) {
        (true, false) => Some((Trouble::OsdDown, "went down")),
        (true, true) if now.up_from != before.up_from => Some((Trouble::OsdDown, "restarted")),
        (false, true) => Some((Trouble::OsdBack, "came up")),
        _ => None,
    };
    let placed = match (before.is_in(), now.is_in()) {
        (true, false) => Some((Trouble::OsdOut, "was marked out")),
        (false, true) => Some((Trouble::OsdBack, "was marked in")),
        _ => None,
    };
    running.into_iter().chain(placed).collect()
}

fn unclean<'a>(states: impl Iterator<Item = (&'a str, u64)>) -> BTreeMap<String, u64> {
    let mut unclean = BTreeMap::new();
    for (state, count) in states.filter(|(state, _)| !is_clean(state)) {
        *unclean.entry(state.to_owned()).or_default() += count;
    }
    unclean
}

fn is_clean(state: &str) -> bool {
    let has = |wanted| state.split('+').any(|word| word == wanted);
    has("active") && has("clean") && state.split('+').all(|word| PEACEFUL.contains(&word))
}

fn pgs(count: u64) -> String {
    format!("{count} PG{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A cluster of two OSDs and the pools `rbd`, which is tested, and `other`, in good health.
    pub(in super::super) fn well() -> Look {
        look(&json!([osd(0, 1, 5), osd(1, 1, 6)]), "hashpspool", &[("active+clean", 8)])
    }

    pub(in super::super) fn osd(id: u32, up: u8, up_from: u32) -> Value {
        json!({"osd": id, "up": up, "in": 1, "up_from": up_from})
    }

    pub(in super::super) fn look(osds: &Value, flags: &str, pgs: &[(&str, u64)]) -> Look {
        let pools = json!([
            {"pool": 1, "pool_name": "rbd", "flags_names": flags},
            {"pool": 2, "pool_name": "other", "flags_names": "hashpspool,nearfull"},
        ]);
        let map = serde_json::from_value(json!({"epoch": 9, "osds": osds, "pools": pools})).expect("a map");
        Look {
            status: Status {
                osd_epoch: 9,
                monitors: vec!["a".to_owned(), "b".to_owned()],
                manager: true,
                pgs: pgs.iter().map(|(state, count)| ((*state).to_owned(), *count)).collect(),
                health: BTreeMap::new(),
            },
            map: Arc::new(map),
            pools: ["rbd".to_owned()].into(),
            unclean: unclean(pgs.iter().copied()),
            attributed: true,
        }
    }

    fn codes(look: &Look) -> Vec<&'static str> {
        look.conditions().iter().map(|condition| condition.trouble.code()).collect()
    }

    fn events(look: &Look, before: &Look) -> Vec<String> {
        look.events_since(before).into_iter().map(|(kind, text)| format!("{}: {text}", kind.code())).collect()
    }

    #[test]
    fn nothing_is_the_matter_with_a_cluster_that_is_well() {
        assert_eq!((codes(&well()), well().obstacles(), events(&well(), &well())), (vec![], vec![], vec![]));
    }

    #[test]
    fn a_scrub_is_no_obstacle_and_every_other_state_is_one() {
        let with = |state| look(&json!([]), "", &[("active+clean", 7), (state, 1)]);
        assert_eq!(codes(&with("active+clean+scrubbing+deep")), ["scrub"]);
        assert_eq!(with("active+clean+scrubbing+deep").obstacles(), Vec::<String>::new());
        for state in ["active+undersized+degraded", "peering", "stale+active+clean", "active+clean+laggy"] {
            assert_eq!(with(state).obstacles(), [format!("1 PG of the tested pools in {state}")]);
        }
        assert_eq!(codes(&with("active+remapped+backfilling")), ["pgs_not_clean", "recovery"]);
        assert_eq!(codes(&with("active+recovery_wait+degraded")), ["pgs_not_clean"]);
    }

    #[test]
    fn recovery_of_another_pool_counts_and_its_states_do_not() {
        let pgs = [("active+clean", 7), ("active+recovering", 1)];
        let elsewhere = Look { unclean: BTreeMap::new(), ..look(&json!([]), "", &pgs) };
        assert_eq!(codes(&elsewhere), ["recovery"]);
        let idle = Look { unclean: BTreeMap::new(), ..look(&json!([]), "", &[("active+undersized", 8)]) };
        assert_eq!(codes(&idle), Vec::<&str>::new());
    }

    #[test]
    fn full_flags_count_where_a_tested_pool_has_them() {
        let full = look(&json!([]), "hashpspool,full,backfillfull,nearfull", &[]);
        assert_eq!(codes(&full), ["full", "backfillfull", "nearfull"]);
        assert_eq!(full.obstacles()[0], "pool rbd full");
    }

    #[test]
    fn a_restart_between_two_looks_is_seen_by_its_epoch() {
        let before = well();
        let now = |one: Value| look(&json!([osd(0, 1, 5), one]), "", &[("active+clean", 8)]);
        assert_eq!(events(&now(osd(1, 0, 6)), &before), ["osd_down: osd.1 went down"]);
        assert_eq!(events(&now(osd(1, 1, 8)), &before), ["osd_down: osd.1 restarted"]);
        assert_eq!(events(&before, &now(osd(1, 0, 6))), ["osd_back: osd.1 came up"]);
        let out = json!({"osd": 1, "up": 1, "in": 0, "up_from": 6});
        assert_eq!(events(&now(out), &before), ["osd_out: osd.1 was marked out"]);
        assert_eq!(events(&look(&json!([osd(0, 1, 5)]), "", &[]), &before), ["osd_out: osd.1 was removed"]);
    }

    #[test]
    fn a_monitor_that_leaves_the_quorum_is_named() {
        let mut now = well();
        now.status.monitors.pop();
        assert_eq!(events(&now, &well()), ["mon_down: mon.b left the quorum"]);
        assert_eq!(events(&well(), &now), Vec::<String>::new());
    }

    #[test]
    fn without_a_manager_states_are_not_believed_and_osds_speak_for_themselves() {
        let mut blind = look(&json!([osd(0, 1, 5), osd(1, 0, 6)]), "nearfull", &[("peering", 8)]);
        assert!(!blind.obstacles().contains(&"osd.1 down".to_owned()));
        blind.status.manager = false;
        assert_eq!(codes(&blind), ["nearfull", "no_manager"]);
        assert_eq!(blind.obstacles(), ["pool rbd nearfull", "osd.1 down"]);
    }

    #[test]
    fn slow_operations_are_told_in_the_clusters_words() {
        let mut slow = well();
        let text = "3 slow ops, oldest one blocked for 33 sec, osd.0 has slow ops".to_owned();
        slow.status.health.insert("SLOW_OPS".to_owned(), text.clone());
        assert_eq!(slow.conditions()[0].text, format!("slow operations: {text}"));
        assert_eq!(slow.obstacles(), Vec::<String>::new());
    }
}
