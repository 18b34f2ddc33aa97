//! Every cache option whose effect can be seen has it: shown by librbd's counters or by what the load gets, and not by what
//! Ceph says of its settings.

use std::collections::BTreeSet;

use cephmark::plan::knobs::{KNOBS, Knob, Policy};
use cephmark::result::{CacheFigures, Trial};

use crate::support::cluster::shared;
use crate::support::site::Site;

const PROFILE: &str = "\
version: 1
name: knobs
targets:
  t: {rbd: {namespace: NAMESPACE, size: 64MiB}}
workloads:
  w: {rw: randread}
run: {ramp_time: 0s, runtime: 1s, repeats: 1, order: sequential}
";

/// Limits of a small cache, for the options that are not the ones under test.
const BACK: &str = "rbd_cache_policy: writeback, rbd_cache_size: 16MiB, rbd_cache_max_dirty: 75%, ";

/// How the effect of an option shows.
struct Proof {
    knob: &'static str,
    values: &'static str,
    /// The other options.
    options: &'static [&'static str],
    job: &'static str,
    /// Asserts it of the trials, one for each value.
    shows: fn(&[Trial]),
}

const PROOFS: [Proof; 10] = [
    Proof {
        knob: "rbd_cache",
        values: "[false, true]",
        options: &["rbd_cache_policy: writethrough"],
        job: "{rw: randread, size: 1MiB}",
        shows: |trials| {
            assert_eq!(trials[0].cache, None);
            assert!(cache(&trials[1]).hits > 0);
        },
    },
    Proof {
        knob: "rbd_cache_policy",
        values: "[writearound, writeback, writethrough]",
        options: &[],
        job: "{rw: randwrite, size: 256KiB, iodepth: 4}",
        shows: |trials| {
            assert_eq!(trials[0].cache, None);
            let combined =
                |trial: &Trial| cache(trial).written_bytes as f64 / cache(trial).flushed_bytes as f64;
            assert!(combined(&trials[1]) > 2.0, "writes to the same place become one: {:?}", trials[1].cache);
            assert!(combined(&trials[2]) < 1.1, "every write is flushed: {:?}", trials[2].cache);
            let durable: Vec<_> = trials.iter().map(|trial| trial.durable_on_ack).collect();
            assert_eq!(durable, [Some(false), Some(false), Some(true)]);
        },
    },
    Proof {
        knob: "rbd_cache_size",
        values: "[8MiB, 64MiB]",
        options: &["rbd_cache_policy: writeback, rbd_cache_max_dirty: 50%, rbd_cache_target_dirty: 25%"],
        job: "{rw: randread, size: 32MiB, iodepth: 16, ramp_time: 2s}",
        shows: |trials| {
            let [small, large] = [0, 1].map(|arm| cache(&trials[arm]).hit_ratio.expect("reads"));
            assert!((0.1..0.5).contains(&small) && large > 0.9, "{small} {large}");
        },
    },
    Proof {
        knob: "rbd_cache_max_dirty",
        values: "[2%, 75%]",
        options: &["rbd_cache_policy: writeback, rbd_cache_size: 16MiB, rbd_cache_target_dirty: 1%"],
        job: "{rw: randwrite, bs: 64k, iodepth: 16, number_ios: 128}",
        shows: |trials| {
            let [small, large] = [0, 1].map(|arm| cache(&trials[arm]));
            assert!(small.blocked_writes > 0 && small.blocked_s > 0.0, "{small:?}");
            assert_eq!((large.blocked_writes, large.blocked_s), (0, 0.0), "8 MiB are below 12 MiB");
        },
    },
    Proof {
        knob: "rbd_cache_max_dirty",
        values: "[32KiB, 16MiB]",
        options: &["rbd_cache_policy: writearound"],
        job: "{rw: randwrite, bs: 64k, number_ios: 128}",
        shows: |trials| {
            let median = |trial: &Trial| trial.jobs[""]["write"].latency_ns.p50.expect("writes");
            let [small, large] = [0, 1].map(|arm| median(&trials[arm]));
            assert!(small > large * 2, "no write fits, so each waits for an OSD: {small} {large}");
        },
    },
    Proof {
        knob: "rbd_cache_target_dirty",
        values: "[5%, 70%]",
        options: &[BACK, "rbd_cache_max_dirty_age: 60"],
        job: "{rw: randwrite, bs: 64k, iodepth: 8, rate_iops: 60, runtime: 2s}",
        shows: |trials| {
            let [small, large] = [0, 1].map(|arm| cache(&trials[arm]));
            assert_eq!(large.owed_bytes, Some(large.flushed_bytes), "nothing is flushed before the end");
            assert!(small.owed_bytes < Some(small.flushed_bytes / 2), "{small:?}");
        },
    },
    Proof {
        knob: "rbd_cache_max_dirty_age",
        values: "[0.5, 60]",
        options: &[BACK, "rbd_cache_target_dirty: 70%"],
        job: "{rw: randwrite, bs: 64k, iodepth: 8, rate_iops: 30, runtime: 4s}",
        shows: |trials| {
            let [young, old] = [0, 1].map(|arm| cache(&trials[arm]));
            assert_eq!(old.owed_bytes, Some(old.flushed_bytes), "nothing is flushed before the end");
            assert!(young.owed_bytes < Some(young.flushed_bytes * 3 / 4), "{young:?}");
        },
    },
    Proof {
        knob: "rbd_readahead_trigger_requests",
        values: "[5, 1000000]",
        options: &["rbd_cache_policy: writethrough, rbd_readahead_disable_after_bytes: 0"],
        job: "{rw: read}",
        shows: |trials| {
            let [soon, never] = [0, 1].map(|arm| cache(&trials[arm]).readaheads);
            assert!(soon > 0 && never == 0, "{soon} {never}");
        },
    },
    Proof {
        knob: "rbd_readahead_max_bytes",
        values: "[64KiB, 512KiB]",
        options: &["rbd_cache_policy: writethrough, rbd_readahead_disable_after_bytes: 0"],
        job: "{rw: read}",
        shows: |trials| {
            let each = |trial: &Trial| cache(trial).readahead_bytes / cache(trial).readaheads;
            let [short, long] = [0, 1].map(|arm| each(&trials[arm]));
            assert!(short <= 64 << 10 && long > 128 << 10, "{short} {long}");
        },
    },
    Proof {
        knob: "rbd_readahead_disable_after_bytes",
        values: "[1MiB, 0]",
        options: &["rbd_cache_policy: writethrough"],
        job: "{rw: read}",
        shows: |trials| {
            let [stopped, on] = [0, 1].map(|arm| cache(&trials[arm]).readahead_bytes);
            assert!(stopped <= 2 << 20 && on > 4 << 20, "{stopped} {on}");
        },
    },
];

#[track_caller]
fn cache(trial: &Trial) -> CacheFigures {
    trial.cache.unwrap_or_else(|| panic!("{} has a cache", trial.arm))
}

#[test]
fn every_knob_whose_effect_can_be_seen_has_a_proof() {
    let visible: BTreeSet<&str> =
        KNOBS.iter().filter(|knob| knob.shown_by.is_some()).map(|knob| knob.name).collect();
    assert_eq!(PROOFS.iter().map(|proof| proof.knob).collect::<BTreeSet<_>>(), visible);
}

#[test]
fn what_is_set_takes_effect() {
    for proof in &PROOFS {
        let site = Site::on(shared());
        let sets = [
            format!("targets.t.options={{{}}}", proof.options.concat()),
            format!("workloads.w={}", proof.job),
            format!("sweep.targets.t.options.{}={}", proof.knob, proof.values),
        ];
        site.run(PROFILE, &sets.each_ref().map(String::as_str)).success();
        let trials = site.result().trials;
        let said: Vec<_> = trials.iter().map(|trial| (&trial.arm, &trial.cache)).collect();
        println!("{}: {said:#?}", proof.knob);
        (proof.shows)(&trials);
        site.assert_clean();
    }
}

#[test]
fn the_page_on_the_cache_has_the_table_of_the_code() {
    let page = include_str!("../docs/rbd-cache.md");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `rbd_")).collect();
    let policy = |policy: &Policy| match policy {
        Policy::Off => "off",
        Policy::WriteAround => "around",
        Policy::WriteBack => "back",
        Policy::WriteThrough => "through",
    };
    let row = |knob: &Knob| {
        let acts = match knob.acts.len() {
            0 => "none".to_owned(),
            4 => "all".to_owned(),
            _ => knob.acts.iter().map(policy).collect::<Vec<_>>().join(", "),
        };
        let idle = knob.idle_with.map_or_else(String::new, |(option, value)| match value {
            "" => format!(", not without `{option}`"),
            _ => format!(", not with `{option}={value}`"),
        });
        let (name, default, since) = (knob.name, knob.default, knob.since);
        format!("| `{name}` | {default} | {acts}{idle} | {since} | {} |", knob.shown_by.unwrap_or("-"))
    };
    assert_eq!(rows, KNOBS.iter().map(row).collect::<Vec<_>>());
}
