//! What arms are to have alike for a comparison to be of what it names: the limits that their paths set to I/O in flight,
//! and the caches on the way. Told before a run by `check`, and by each trial of what it found in effect.

use std::collections::{BTreeMap, BTreeSet};

use super::record::problem;
use crate::plan::{Access, Arm, Job, Sharing, Subject};
use crate::result::Problem;
use crate::target::librbd_holds;
use crate::units::Bytes;

/// What is in effect of a Ceph option, or of an attribute of a device's queue.
pub(super) type InEffect<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What the path of an arm does with I/O that another's may not, by the names of conditions.
pub(super) fn alike(arm: &Arm, drop_caches: bool, in_effect: InEffect<'_>) -> BTreeMap<String, String> {
    let found = match (&arm.subject, arm.access()) {
        (Subject::Null(_), _) => return BTreeMap::new(),
        (_, Some(access)) => kernel(access, drop_caches, in_effect),
        (_, None) => librbd(in_effect),
    };
    let names = ["page_cache", "read_ahead", "undurable_writes"];
    names.map(str::to_owned).into_iter().zip(found).collect()
}

fn librbd(in_effect: InEffect<'_>) -> [String; 3] {
    let option = |name: &str| in_effect(name).and_then(|value| value.parse().ok()).map(Bytes);
    let ahead = match (in_effect("rbd_cache").as_deref(), option("rbd_readahead_max_bytes")) {
        (Some("true"), Some(most)) if most > Bytes(0) => match option("rbd_readahead_disable_after_bytes") {
            Some(end) if end > Bytes(0) => {
                format!(
                    "{most} (rbd_readahead_max_bytes), within the first {end} read (rbd_readahead_disable_after_bytes)"
                )
            }
            _ => format!("{most} (rbd_readahead_max_bytes)"),
        },
        _ => "none".to_owned(),
    };
    let undurable = match librbd_holds(in_effect) {
        Bytes(0) => "none".to_owned(),
        most => format!("up to {most} (rbd_cache_max_dirty)"),
    };
    ["bypassed".to_owned(), ahead, undurable]
}

fn kernel(access: &Access, drop_caches: bool, in_effect: InEffect<'_>) -> [String; 3] {
    if access.direct {
        let undurable = match in_effect("write_cache").as_deref() {
            Some("write through") => "none",
            Some(_) => "what the device's cache holds (write_cache)",
            None => "as the file system decides",
        };
        return ["bypassed", "none", undurable].map(str::to_owned);
    }
    let page_cache = if drop_caches { "dropped before the measured part" } else { "used" };
    let ahead = in_effect("read_ahead_kb")
        .map_or_else(|| "as the file system decides".to_owned(), |kib| format!("{kib}KiB (read_ahead_kb)"));
    [page_cache.to_owned(), ahead, dirty_pages()]
}

/// How much written data the kernel holds before writers have to wait.
fn dirty_pages() -> String {
    let setting = |name: &str| {
        std::fs::read_to_string(format!("/proc/sys/vm/{name}")).ok().and_then(|text| text.trim().parse().ok())
    };
    match (setting("dirty_bytes"), setting("dirty_ratio")) {
        (Some(bytes), _) if bytes > 0 => format!("up to {} (vm.dirty_bytes)", Bytes(bytes)),
        (_, Some(percent)) => format!("up to {percent} % of memory (vm.dirty_ratio)"),
        _ => "in the page cache".to_owned(),
    }
}

/// Where a path sets limits that the load is above, so that not all of it gets to what is measured.
pub(super) fn limits(arm: &Arm, jobs: &[Job], drop_caches: bool, in_effect: InEffect<'_>) -> Vec<Problem> {
    match (&arm.subject, arm.access()) {
        (Subject::Null(_), _) => Vec::new(),
        (_, None) => throttled(arm.connections, jobs, in_effect),
        (_, Some(access)) if access.direct => queued(jobs, in_effect).into_iter().collect(),
        (_, Some(_)) if drop_caches => Vec::new(),
        (_, Some(_)) => cached(jobs).into_iter().collect(),
    }
}

/// librados lets only so much out, and makes whoever sends more wait.
fn throttled(connections: Sharing, jobs: &[Job], in_effect: InEffect<'_>) -> Vec<Problem> {
    let shared = connections == Sharing::Shared;
    let flights = jobs.iter().map(|job| {
        let ios = u64::from(job.iodepth) * if shared { u64::from(job.numjobs) } else { 1 };
        [ios, ios * job.largest_block().get()]
    });
    // Of the load threads of one connection.
    let [ios, bytes] = flights.fold([0, 0], |[ios, bytes], [more_ios, more_bytes]| {
        if shared { [ios + more_ios, bytes + more_bytes] } else { [ios.max(more_ios), bytes.max(more_bytes)] }
    });
    let above = |name: &str, wanted: u64, show: fn(u64) -> String| {
        let limit = in_effect(name)?.parse().ok().filter(|limit| (1..wanted).contains(limit))?;
        let text = format!(
            "{} in flight, but {name} lets {} out at a time: the rest waits within the client; raise it in `options`, or \
             lower iodepth",
            show(wanted),
            show(limit)
        );
        Some(problem("throttled", text))
    };
    let counts = above("objecter_inflight_ops", ios, |ios| format!("{ios} I/Os"));
    counts
        .into_iter()
        .chain(above("objecter_inflight_op_bytes", bytes, |bytes| Bytes(bytes).to_string()))
        .collect()
}

/// A device's queue takes so many requests of limited size; the rest waits in front of it.
fn queued(jobs: &[Job], in_effect: InEffect<'_>) -> Option<Problem> {
    let attribute = |name: &str| in_effect(name).and_then(|value| value.parse::<u64>().ok());
    // A device without hardware queues hands all on at once, as device-mapper's do, whatever its `nr_requests` says.
    let (each, queues) = (attribute("nr_requests")?, attribute("hardware_queues")?);
    let largest = attribute("max_sectors_kb").map_or(u64::MAX, |kib| kib.max(1) * 1024);
    let of_thread = |job: &Job| u64::from(job.iodepth) * job.largest_block().get().div_ceil(largest);
    let requests: u64 = jobs.iter().map(|job| u64::from(job.numjobs) * of_thread(job)).sum();
    let deepest = jobs.iter().map(of_thread).max()?;
    let (wanted, room, of) =
        if deepest > each { (deepest, each, "by one thread") } else { (requests, each * queues, "in all") };
    (wanted > room).then(|| {
        let text = format!(
            "{wanted} requests in flight {of}, but the device's queue takes {room} (nr_requests={each}, \
             hardware_queues={queues}): the rest waits in front of it; raise it in `queue` or in what makes the device, or \
             lower iodepth"
        );
        problem("queue_limit", text)
    })
}

/// What fits memory may be read from there.
fn cached(jobs: &[Job]) -> Option<Problem> {
    let working_set = jobs.iter().filter(|job| job.rw.reads()).map(|job| job.size).max()?;
    let memory = Bytes(nix::sys::sysinfo::sysinfo().ok()?.ram_total());
    (working_set < memory).then(|| {
        let text = format!(
            "reads go through the page cache, and their {working_set} fit this host's {} of memory: they may never reach \
             the storage; add `run.drop_caches`, or leave out `direct: false`",
            memory.rounded()
        );
        problem("page_cache", text)
    })
}

/// In words what is not alike in all of these arms.
pub(super) fn unlike(arms: &[(&str, BTreeMap<String, String>)]) -> Vec<String> {
    let names: BTreeSet<&String> = arms.iter().flat_map(|(_, found)| found.keys()).collect();
    let mut said = Vec::new();
    for name in names {
        let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (arm, found) in arms {
            if let Some(value) = found.get(name) {
                values.entry(value).or_default().push(arm);
            }
        }
        if values.len() > 1 {
            let values: Vec<_> =
                values.iter().map(|(value, arms)| format!("{value} in {}", arms.join(", "))).collect();
            said.push(format!("not alike: {name}: {}", values.join("; ")));
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::profile::Profile;

    const LIBRBD: &str = "{rbd: {size: 1GiB}}";
    const DEVICE: &str = "{block: {path: /dev/vdb}}";
    const BUFFERED: &str = "{block: {path: /dev/vdb}, direct: false}";

    /// What is said of a target under a workload with these values in effect.
    fn said(
        target: &str,
        workload: &str,
        values: &[(&str, &str)],
    ) -> (BTreeMap<String, String>, Vec<Problem>) {
        let profile =
            format!("{{version: 1, name: test, targets: {{t: {target}}}, workloads: {{w: {workload}}}}}");
        let plan =
            Plan::new(&Profile::parse("test.yaml", &profile, &[]).expect("a profile")).expect("a plan");
        let in_effect = |name: &str| {
            values.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let jobs = plan.workloads[0].jobs(Bytes(1 << 30), 0).expect("they fit");
        let arm = &plan.arms[0];
        (alike(arm, false, &in_effect), limits(arm, &jobs, false, &in_effect))
    }

    fn limit(target: &str, workload: &str, values: &[(&str, &str)]) -> Option<String> {
        let (_, mut limits) = said(target, workload, values);
        assert!(limits.len() <= 1, "{limits:?}");
        limits
            .pop()
            .map(|limit| format!("{}: {}", limit.code, limit.text.split(':').next().unwrap_or_default()))
    }

    #[test]
    fn what_a_connection_does_not_let_out_is_told_with_both_numbers() {
        let bytes = [("objecter_inflight_op_bytes", "104857600"), ("objecter_inflight_ops", "1024")];
        let told = |workload: &str| limit(LIBRBD, workload, &bytes);
        assert_eq!(told("{rw: write, bs: 4m, iodepth: 25}"), None, "just what it lets out");
        assert_eq!(
            told("{rw: write, bs: 4m, iodepth: 100}").as_deref(),
            Some("throttled: 400MiB in flight, but objecter_inflight_op_bytes lets 100MiB out at a time")
        );
        assert_eq!(
            told("{jobs: {a: {rw: read, iodepth: 512, numjobs: 2}, b: {rw: read}}}").as_deref(),
            Some("throttled: 1025 I/Os in flight, but objecter_inflight_ops lets 1024 I/Os out at a time")
        );
        let own = "{rbd: {size: 1GiB}, handles: per_job, connections: per_job}";
        assert_eq!(
            limit(own, "{rw: read, iodepth: 512, numjobs: 4}", &bytes),
            None,
            "each thread has its own"
        );
        let unlimited = [("objecter_inflight_op_bytes", "0")];
        assert_eq!(limit(LIBRBD, "{rw: write, bs: 4m, iodepth: 100}", &unlimited), None);
    }

    #[test]
    fn what_a_queue_does_not_take_is_told_as_the_requests_that_it_becomes() {
        let queue = [("nr_requests", "128"), ("max_sectors_kb", "1280"), ("hardware_queues", "2")];
        let told = |workload: &str| limit(DEVICE, workload, &queue);
        assert_eq!(told("{rw: read, iodepth: 128, numjobs: 2}"), None);
        assert_eq!(
            told("{rw: read, bs: 4m, iodepth: 100}").as_deref(),
            Some(
                "queue_limit: 400 requests in flight by one thread, but the device's queue takes 128 \
                 (nr_requests=128, hardware_queues=2)"
            )
        );
        assert_eq!(
            told("{rw: read, iodepth: 100, numjobs: 3}").as_deref(),
            Some(
                "queue_limit: 300 requests in flight in all, but the device's queue takes 256 (nr_requests=128, \
                 hardware_queues=2)"
            )
        );
        let stacked = [("nr_requests", "128")];
        assert_eq!(limit(DEVICE, "{rw: read, iodepth: 512}", &stacked), None, "device-mapper's");
        assert_eq!(limit(DEVICE, "{rw: read, iodepth: 512}", &[]), None, "a network's");
    }

    #[test]
    fn reads_that_memory_may_answer_are_told_with_its_size() {
        let told = limit(BUFFERED, "{rw: randread, size: 1MiB}", &[]).expect("it fits");
        assert!(
            told.starts_with("page_cache: reads go through the page cache, and their 1MiB fit this host's ")
        );
        assert_eq!(
            limit(BUFFERED, "{rw: randread, size: 1MiB}", &[("nr_requests", "1")]).as_deref(),
            Some(&*told)
        );
        assert_eq!(limit(DEVICE, "{rw: randread, size: 1MiB}", &[]), None);
    }

    #[test]
    fn caches_on_the_way_are_described_alike_for_all_paths() {
        let cached = [
            ("rbd_cache", "true"),
            ("rbd_cache_policy", "writearound"),
            ("rbd_cache_max_dirty", "25165824"),
            ("rbd_readahead_max_bytes", "524288"),
            ("rbd_readahead_disable_after_bytes", "52428800"),
        ];
        let read = "{rw: read}";
        let (with, _) = said(LIBRBD, read, &cached);
        assert_eq!(with["undurable_writes"], "up to 24MiB (rbd_cache_max_dirty)");
        assert_eq!(
            with["read_ahead"],
            "512KiB (rbd_readahead_max_bytes), within the first 50MiB read (rbd_readahead_disable_after_bytes)"
        );
        let (without, _) =
            said(LIBRBD, read, &[("rbd_cache", "false"), ("rbd_readahead_max_bytes", "524288")]);
        let (direct, _) = said(DEVICE, read, &[("read_ahead_kb", "128"), ("write_cache", "write through")]);
        assert_eq!(without, direct);
        assert_eq!(unlike(&[("a", without.clone()), ("b", direct.clone())]), Vec::<String>::new());
        let (buffered, _) = said(BUFFERED, read, &[("read_ahead_kb", "128")]);
        let unlike = unlike(&[("a", direct), ("b", buffered), ("c", without)]);
        assert_eq!(unlike[0], "not alike: page_cache: bypassed in a, c; used in b");
        assert_eq!(unlike[1], "not alike: read_ahead: 128KiB (read_ahead_kb) in b; none in a, c");
        assert!(unlike[2].starts_with("not alike: undurable_writes: none in a, c; up to "), "{unlike:?}");
    }
}
