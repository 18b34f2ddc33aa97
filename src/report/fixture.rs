//! A result as a run of two arms leaves it, for the tests of the formats.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde_json::json;

use crate::result::{
    CacheFigures, Checks, Cluster, Comparison, Cpu, EffectiveOption, Figures, Host, LatencyNs, Metric,
    Mismatch, OptionSource, Pool, Problem, ResultFile, SeriesPoint, Status, Tool, Trial, Verdict, Verified,
};
use crate::units::Bytes;

/// Two arms, two workloads, three repeats, with a bit of everything that can happen.
pub(crate) fn result() -> ResultFile {
    let profile = json!({
        "version": 1,
        "name": "cache-or-not",
        "targets": {
            "plain": {"rbd": {"pool": "rbd", "size": "10GiB", "client": "librbd"}, "options": {"rbd_cache": false}},
            "cached": {"rbd": {"pool": "rbd", "size": "10GiB", "client": "librbd"}, "options": {"rbd_cache": true}},
        },
        "workloads": {"randwrite-4k": {"rw": "randwrite"}, "oltp": {"jobs": {"data": {}, "redo": {}}}},
        "sweep": {"workloads.randwrite-4k.iodepth": [1, 32]},
    });
    let start = serde_json::from_value(json!("2026-01-31T12:00:00Z")).expect("it is a time");
    let mut result = ResultFile::new(profile, start);
    result.finished = serde_json::from_value(json!("2026-01-31T12:10:12Z")).expect("it is a time");
    result.tool = Tool { version: "0.1.0".to_owned(), commit: "0123456789ab".to_owned() };
    result.planned_trials = 18;
    result.seed = 42;
    result.host = host();
    result.cluster = Some(cluster());
    result.labels.insert("place".to_owned(), "host".to_owned());
    result.notes = vec![problem(
        "usable_range",
        "oltp redo: 4096 bytes at the end of each image are not used: \
        bs=12k does not divide 10GiB",
    )];
    for repeat in 0..3 {
        for arm in ["cached", "plain"] {
            result.trials.push(write_trial(arm, 32, repeat));
            result.trials.push(write_trial(arm, 1, repeat));
            result.trials.push(mixed_trial(arm, repeat));
        }
    }
    result.trials.insert(4, disturbed());
    result.comparisons = vec![
        comparison(Metric::Iops, 1.402, [1.351, 1.455], 0.000_04, Verdict::Better),
        comparison(Metric::P99, 1.004, [0.991, 1.017], 0.62, Verdict::Same),
        comparison(Metric::UsPerIo, 1.051, [0.968, 1.141], 0.21, Verdict::Undecided),
    ];
    result
}

/// A minimal result: one arm, one workload, one trial, all well.
pub(crate) fn single() -> ResultFile {
    let mut result = result();
    let trial = result.trials.remove(0);
    result.trials = vec![Trial { repeat: 0, ..trial }];
    result.comparisons.clear();
    result.notes.clear();
    result.planned_trials = 1;
    result
}

fn host() -> Host {
    Host {
        name: "node1".to_owned(),
        kernel: "6.1.0-30-amd64".to_owned(),
        cpu_model: "Intel Xeon Gold 6430".to_owned(),
        cpus: 16,
        memory_bytes: 64 << 30,
        governor: Some("performance".to_owned()),
        allocator: "glibc".to_owned(),
        clock_read_ns: 25,
        is_guest: false,
    }
}

fn cluster() -> Cluster {
    let pool = Pool { kind: "replicated".to_owned(), size: 3, min_size: 2, pg_num: 128 };
    Cluster {
        fsid: "6dfd4ac4-1d5c-4e9c-9c57-2f6b9d7b7b15".to_owned(),
        release: "16.2.15 pacific".to_owned(),
        client_release: "16.2.15".to_owned(),
        health: "HEALTH_OK".to_owned(),
        osds: 12,
        pools: BTreeMap::from([("rbd".to_owned(), pool)]),
    }
}

fn problem(code: &str, text: &str) -> Problem {
    Problem { code: code.to_owned(), text: text.to_owned() }
}

/// Figures of `iops` I/Os a second for 30 s, with response times around `typical` and a long tail.
fn figures(iops: u64, bs: u64, typical: u64) -> Figures {
    let mut times =
        Histogram::<u64>::new_with_bounds(100, 3_600_000_000_000, 3).expect("the bounds are in order");
    let ios = iops * 30;
    for index in 0..ios {
        let rank = (index as f64 + 0.5) / ios as f64;
        let time = typical as f64 * (0.6 - 0.6 * (1.0 - rank).ln());
        times.record(time as u64).expect("it is within the bounds");
    }
    Figures::of(&times, &times, Bytes(ios * bs), Duration::from_secs(30))
}

fn option(value: &str, source: OptionSource) -> EffectiveOption {
    EffectiveOption { value: value.to_owned(), source }
}

fn trial(arm: &str, workload: &str, repeat: u32) -> Trial {
    let cached = arm == "cached";
    let policy = if cached {
        option("writeback", OptionSource::Image)
    } else {
        option("writearound", OptionSource::Default)
    };
    let conditions =
        [("client", "librbd"), ("object_size", "4MiB"), ("read_ahead", if cached { "512KiB" } else { "0" })];
    Trial {
        arm: arm.to_owned(),
        target: arm.to_owned(),
        workload: workload.to_owned(),
        settings: BTreeMap::new(),
        repeat,
        attempt: 0,
        status: Status::Valid,
        problems: Vec::new(),
        started: None,
        measured_s: 30.0,
        effective_options: BTreeMap::from([
            ("rbd_cache".to_owned(), option(if cached { "true" } else { "false" }, OptionSource::Client)),
            ("rbd_cache_policy".to_owned(), policy),
            ("objecter_inflight_ops".to_owned(), option("1024", OptionSource::Default)),
        ]),
        conditions: conditions.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        jobs: BTreeMap::new(),
        checks: BTreeMap::new(),
        durable_on_ack: Some(!cached),
        drain_s: cached.then_some(1.4),
        effective_bytes_per_s: None,
        cache: cached.then(cache_figures),
        cpu: Cpu {
            process_user_s: 8.1,
            process_system_s: 1.2 + f64::from(repeat) / 10.0,
            host_busy_s: Some(12.0),
            us_per_io: Some(23.4 + f64::from(repeat)),
            host_us_per_io: None,
        },
        max_rss_bytes: 120 << 20,
        counters: BTreeMap::new(),
        series: Vec::new(),
        slices: Vec::new(),
    }
}

fn cache_figures() -> CacheFigures {
    CacheFigures {
        hits: 8_213,
        misses: 2_787,
        hit_ratio: Some(0.746_636),
        written_bytes: 90 << 20,
        flushed_bytes: 84 << 20,
        owed_bytes: Some(14 << 20),
        blocked_writes: 58,
        blocked_bytes: 237_568,
        blocked_s: 0.377,
        readaheads: 12,
        readahead_bytes: 6 << 20,
    }
}

fn write_trial(arm: &str, iodepth: u64, repeat: u32) -> Trial {
    let mut trial = trial(arm, "randwrite-4k", repeat);
    trial.settings.insert("workloads.randwrite-4k.iodepth".to_owned(), iodepth.to_string());
    let iops = (if arm == "cached" { 700 } else { 500 }) + u64::from(repeat) * 13;
    let write = figures(iops * (1 + iodepth / 8), 4096, 2_600_000 + 40_000 * u64::from(repeat));
    trial.effective_bytes_per_s = trial.drain_s.map(|drain| write.bytes as f64 / (trial.measured_s + drain));
    trial.jobs.insert(String::new(), BTreeMap::from([("write".to_owned(), write)]));
    let point = SeriesPoint {
        t_s: 1.0,
        job: String::new(),
        op: "write".to_owned(),
        iops: iops as f64,
        bytes_per_s: iops as f64 * 4096.0,
        mean_ns: Some(2.6e6),
        p99_ns: None,
        max_ns: Some(9_000_000),
    };
    trial.series.push(point);
    let counters = json!({"wr": iops * 30, "wr_latency": {"avgcount": iops * 30, "sum": 1.5}});
    let counters = serde_json::from_value(counters).expect("it is a map");
    trial.counters.insert("librbd-10a-rbd-image".to_owned(), counters);
    if arm == "plain" && iodepth == 32 {
        trial.problems.push(problem("scrub", "a scrub of pool rbd ran meanwhile"));
    }
    trial
}

fn mixed_trial(arm: &str, repeat: u32) -> Trial {
    let mut trial = trial(arm, "oltp", repeat);
    let data = [("read", figures(3500, 16384, 900_000)), ("write", figures(1500, 16384, 2_100_000))];
    trial.jobs.insert("data".to_owned(), data.map(|(op, figures)| (op.to_owned(), figures)).into());
    let mut redo = figures(40, 12288, 1_500_000);
    if arm == "cached" && repeat == 2 {
        redo.errors.insert("EIO".to_owned(), 2);
    }
    trial.jobs.insert("redo".to_owned(), BTreeMap::from([("write".to_owned(), redo)]));
    let lateness = LatencyNs {
        mean: Some(1200.0),
        max: Some(45_000),
        min: Some(300),
        stddev: Some(800.0),
        ..LatencyNs::default()
    };
    let mismatch = Mismatch {
        image: 0,
        offset: 1_048_576,
        expected: "generation 3".to_owned(),
        found: "generation 2".to_owned(),
    };
    let mismatched = arm == "plain" && repeat == 1;
    let verified = Verified {
        units: 105_000,
        mismatches: if mismatched { 2 } else { 0 },
        first: if mismatched { vec![mismatch] } else { Vec::new() },
    };
    trial.checks.insert(
        "data".to_owned(),
        Checks { unsent: 3, unfinished: 1, lateness_ns: Some(lateness), verified: Some(verified) },
    );
    trial
}

fn disturbed() -> Trial {
    Trial {
        status: Status::Invalid,
        problems: vec![problem("osd_down", "osd.3 went down 12 s into the trial")],
        attempt: 1,
        ..write_trial("plain", 32, 1)
    }
}

fn comparison(metric: Metric, ratio: f64, ci: [f64; 2], p_value: f64, verdict: Verdict) -> Comparison {
    Comparison {
        workload: "randwrite-4k".to_owned(),
        settings: BTreeMap::from([("workloads.randwrite-4k.iodepth".to_owned(), "32".to_owned())]),
        job: String::new(),
        op: "write".to_owned(),
        metric,
        baseline: "plain".to_owned(),
        candidate: "cached".to_owned(),
        ratio,
        ci,
        level: 0.95,
        p_value,
        verdict,
    }
}
