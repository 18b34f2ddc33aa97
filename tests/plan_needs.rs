//! What a plan says it takes, and how the jobs of a trial come out.

use std::time::Duration;

use cephmark::plan::{Pace, Written};
use cephmark::units::{Bytes, Rate};

use crate::planning::{PROFILE, plan, plan_with, with_run, with_target, with_workload};

#[test]
fn time_is_that_of_all_trials() {
    let plan = plan(&with_run("{ramp_time: 5s, runtime: 30s, repeats: 4}")).unwrap();
    assert_eq!(plan.needs.duration, Duration::from_secs(140));
}

#[test]
fn space_counts_all_images_of_all_arms_in_the_pool_of_their_data() {
    let target = "{rbd: {size: 1GiB, images: 3}}\n  u: {rbd: {size: 2GiB, data_pool: ec}}\n  n: {null: {}}";
    let plan = plan(&with_target(target)).unwrap();
    let space: Vec<(&str, Bytes)> =
        plan.needs.space.iter().map(|(pool, bytes)| (pool.as_str(), *bytes)).collect();
    assert_eq!(space, [("rbd", Bytes(3 << 30)), ("ec", Bytes(2 << 30))]);
    assert_eq!(plan.needs.fill, Bytes(5 << 30));
}

#[test]
fn an_image_that_is_neither_filled_nor_written_takes_no_space() {
    let space =
        |job: &str| plan_with(&with_workload(job), &["run.prefill=false"]).unwrap().needs.space["rbd"];
    assert_eq!(space("{rw: randread}"), Bytes(0));
    assert_eq!(space("{rw: randwrite}"), Bytes(1 << 30));
}

#[test]
fn writes_are_bounded_where_the_job_is() {
    let written = |job: &str| plan(&with_workload(job)).unwrap().needs.written;
    let bounded = |bytes| Written { bounded: Bytes(bytes), unbounded: false };
    assert_eq!(written("{rw: randread}"), bounded(0));
    assert_eq!(written("{rw: write, numjobs: 2, io_size: 1m, ramp_time: 0}"), bounded(2 << 20));
    assert_eq!(written("{rw: write, bs: 8k, number_ios: 10, ramp_time: 0}"), bounded(80 << 10));
    assert_eq!(written("{rw: write, rate_iops: 10, ramp_time: 5s, runtime: 5s}"), bounded(100 * 4096));
    assert!(written("{rw: write, io_size: 1m, ramp_time: 5s}").unbounded, "the ramp is not counted");
    assert!(written("{rw: write}").unbounded);
}

#[test]
fn memory_is_that_of_the_largest_trial() {
    let plan = plan(&with_workload("{rw: read, bssplit: 4k/50:64k/50, iodepth: 8, numjobs: 2}")).unwrap();
    assert_eq!(plan.needs.buffers, Bytes(16 * 65536));
    assert_eq!(plan.needs.verify, Bytes(0));
}

#[test]
fn verification_remembers_eight_bytes_for_each_unit() {
    let needs = plan(&with_workload("{rw: randrw, verify: crc32c}")).unwrap().needs;
    assert_eq!(needs.verify, Bytes((1 << 30) / 4096 * 8));
}

#[test]
fn a_job_has_every_default_filled_in() {
    let job = plan(PROFILE).unwrap().workloads[0].jobs(Bytes(10_000), 0).unwrap().remove(0);
    assert_eq!((job.name.as_str(), job.iodepth, job.numjobs, job.rwmixread), ("", 1, 1, 50));
    assert_eq!((job.offset, job.size), (Bytes(0), Bytes(8192)), "two whole blocks of 4KiB fit");
    assert_eq!((job.runtime, job.ramp_time), (Duration::from_secs(30), Duration::from_secs(5)));
    assert_eq!(job.pace, Pace::Closed);
}

#[test]
fn a_rate_is_of_each_load_thread_as_in_fio() {
    let plan = plan(&with_workload("{rw: read, rate_iops: 100, numjobs: 4, rate_process: poisson}")).unwrap();
    let job = plan.workloads[0].jobs(Bytes(1 << 20), 0).unwrap().remove(0);
    assert_eq!(job.pace, Pace::Poisson(Rate::per_second(100.0).unwrap()));
}

#[test]
fn each_repeat_draws_anew_unless_the_user_chose_the_seed() {
    let seeds = |job: &str| {
        let plan = plan(&with_workload(job)).unwrap();
        [0, 1, 0].map(|repeat| plan.workloads[0].jobs(Bytes(1 << 20), repeat).unwrap()[0].randseed)
    };
    let [first, second, again] = seeds("{rw: randread}");
    assert!(first != second && first == again);
    assert_eq!(seeds("{rw: randread, randseed: 9}"), [9, 9, 9]);
}

#[test]
fn jobs_of_a_workload_draw_differently() {
    let plan = plan(&with_workload("{jobs: {a: {rw: randread}, b: {rw: randread}}}")).unwrap();
    let jobs = plan.workloads[0].jobs(Bytes(1 << 20), 0).unwrap();
    assert_ne!(jobs[0].randseed, jobs[1].randseed);
}

#[test]
fn the_plan_can_be_read_by_a_person() {
    let target = "{rbd: {size: 1GiB}, options: {rbd_cache: false}}\n  n: {null: {}}";
    let yaml = with_target(target).replace("randwrite", "randrw, rwmixread: 70, bs: 3m, size: 64MiB");
    let text = plan(&yaml).unwrap().render();
    assert_eq!(
        text,
        "\
test: 2 trials (2 arms x 1 workload x 1 repeat)

arms
  t         librbd: 1 new image of 1GiB in rbd, filled; rbd_cache=false
  n         null: I/O over 10GiB that completes at once

workloads
  w         rw=randrw bs=3MiB iodepth=1 rwmixread=70 size=64MiB; 30s after a ramp of 5s

order
  seed      1; interleaved: blocks of all arms, in random order
  repeat 1  w: n, t

takes
  time      1m 10s for all trials; opening, filling and retries come on top
  fill      1GiB written once
  writes    as much as the cluster takes in trials
  memory    3MiB of buffers, 0 to verify
  space     1GiB in pool rbd, before replication

warnings
  !         p.yaml:7:3: workloads.w: the usable range is 63MiB of 64MiB: blocks of 3MiB do not divide it
"
    );
}
