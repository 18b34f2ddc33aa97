//! What arms are to have alike is told before a run and in its result, with the numbers.

use crate::support::cluster::shared;
use crate::support::kernel_site::KernelSite;
use crate::support::loop_device::LoopDevice;
use crate::support::site::{PROFILE, Running, Site};

const MIB: u64 = 1 << 20;

/// A text without its line breaks.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn more_than_a_devices_queue_takes_is_told_before_and_after() {
    let (site, device) = (KernelSite::new(), LoopDevice::in_memory(64 * MIB));
    let target = format!("{{block: {{path: {}}}}}", device.path().display());
    // Two requests each, of at most 1280 KiB.
    let deep = "{deep: {rw: randread, bs: 2m, iodepth: 65}, shallow: {rw: randread, bs: 4k, iodepth: 65}}";
    let sets = ["--set", "targets.t.queue={nr_requests: 128, max_sectors_kb: 1280}"];
    let told = "130 requests in flight by one thread, but the device's queue takes 128 (nr_requests=128, \
                hardware_queues=1)";
    let check = Running::start(site.command("check", &target, deep, &sets)).end();
    let text = check.success();
    assert!(text.contains(&format!("note: t deep: {told}")) && !text.contains("note: t shallow"), "{text}");
    let run = site.run(&target, deep, &sets);
    assert!(flat(run.success()).contains(told), "the report says it too: {run:#?}");
    let limited = |trial: usize| {
        site.result().trials[trial].problems.iter().any(|problem| problem.code == "queue_limit")
    };
    assert_eq!([limited(0), limited(1)], [true, false]);
}

#[test]
fn page_cache_and_read_ahead_of_an_arm_are_told_beside_one_that_has_none() {
    let (site, device) = (KernelSite::new(), LoopDevice::in_memory(16 * MIB));
    let target = format!("{{block: {{path: {}}}, queue: {{read_ahead_kb: 64}}}}", device.path().display());
    let (reads, sets) = ("{r: {rw: read}}", ["--set", "sweep={targets.t.direct: [true, false]}"]);
    let told = [
        "page_cache: bypassed in t[direct=true]; used in t[direct=false]",
        "read_ahead: 64KiB (read_ahead_kb) in t[direct=false]; none in t[direct=true]",
    ];
    let check = Running::start(site.command("check", &target, reads, &sets)).end();
    assert!(
        told.iter().all(|line| check.success().contains(&format!("note: not alike: {line}"))),
        "{check:#?}"
    );
    let run = site.run(&target, reads, &sets);
    for line in ["page_cache: used in t[direct=false]; bypassed in t[direct=true]", told[1]] {
        assert!(flat(run.success()).contains(line), "{line} is missing:\n{}", run.success());
    }
    let buffered =
        site.result().trials.into_iter().find(|trial| trial.arm.contains("false")).expect("it ran");
    let problem = buffered.problems.iter().find(|problem| problem.code == "page_cache").expect("it is told");
    assert!(problem.text.contains("their 16MiB fit this host's "), "{}", problem.text);
}

#[test]
fn what_librados_holds_back_and_librbd_holds_is_told_before_and_after() {
    let site = Site::on(shared());
    let sets = [
        "targets={plain: {rbd: {namespace: NAMESPACE, size: 16MiB}, options: {rbd_cache: false}}, \
         cached: {rbd: {namespace: NAMESPACE, size: 16MiB}, options: {rbd_cache: true, objecter_inflight_op_bytes: 1MiB}}}",
        "workloads={w: {rw: write, bs: 64k, iodepth: 32}}",
        "run.repeats=1",
    ];
    let told = "cached w: 2MiB in flight, but objecter_inflight_op_bytes lets 1MiB out at a time";
    let undurable = "undurable_writes: none in plain; up to 24MiB (rbd_cache_max_dirty) in cached";
    site.write(PROFILE);
    let check = ["check", "profile.yaml"].into_iter().chain(sets.iter().flat_map(|set| ["--set", set]));
    let check = site.cephmark(&check.collect::<Vec<_>>());
    for line in [told, &format!("not alike: {undurable}")] {
        assert!(check.success().contains(&format!("note: {line}")), "{}", check.success());
    }
    let run = site.run(PROFILE, &sets);
    let report = flat(run.success());
    for line in [told, "up to 24MiB (rbd_cache_max_dirty) in cached"] {
        assert!(report.contains(line), "{report}");
    }
    let result = site.result();
    let throttled: Vec<&str> = result
        .trials
        .iter()
        .filter(|trial| trial.problems.iter().any(|problem| problem.code == "throttled"))
        .map(|trial| trial.arm.as_str())
        .collect();
    assert_eq!(throttled, ["cached"]);
}
