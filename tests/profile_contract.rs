//! The whole format is read, also what this version then refuses to plan.

use cephmark::profile::{Metric, Profile, RbdClient, Repeats};
use cephmark::units::{Bytes, Percent, Time};

const WHOLE: &str = "\
version: 1
name: krbd-vs-librbd
labels: {place: host}
cluster: {conf: /etc/ceph/ceph.conf, user: client.admin, timeout: 15s}
targets:
  librbd: {rbd: {pool: rbd, size: 10GiB, client: librbd}, options: {rbd_cache: false}}
  krbd:   {rbd: {pool: rbd, size: 10GiB, client: krbd}, map_options: [queue_depth=128]}
  nbd:    {rbd: {pool: rbd, size: 10GiB, client: nbd}}
  mine:   {rbd: {image: rbd/ns/vol1@snap1}}
  fs:     {cephfs: {fs: cephfs, path: /cephmark, client: libcephfs}}
  objs:   {rados: {pool: bench, object_size: 4MiB, objects: 1000}}
  disk:   {block: {path: /dev/vdb}}
  nfs:    {file: {path: /mnt/nfs/io, size: 400MiB}}
  floor:  {null: {}}
workloads:
  randwrite-16k: {rw: randwrite, bs: 16k, iodepth: 32}
  oltp:
    jobs: {data: {rw: randrw, rwmixread: 70, bs: 16k, iodepth: 16}, redo: {rw: write, bs: 4k, fdatasync: 1}}
sweep:
  targets.librbd.options.rbd_cache_policy: [writearound, writeback]
  workloads.randwrite-16k.iodepth: [1, 32]
run: {ramp_time: 5s, runtime: 30s, repeats: 5, order: interleaved}
compare: {baseline: krbd, metrics: [iops, p99], min_effect: 3%, precision: 2%}
";

#[test]
fn every_kind_of_target_and_every_section_is_read() {
    let profile = Profile::parse("p.yaml", WHOLE, &[]).unwrap().profile;
    assert_eq!(profile.targets.len(), 9);
    assert_eq!(profile.targets["krbd"].rbd.as_ref().unwrap().client, RbdClient::Krbd);
    assert_eq!(profile.targets["objs"].rados.as_ref().unwrap().object_size, Bytes(4 << 20));
    assert!(profile.targets["floor"].null.is_some(), "`null` is a name here");
    assert_eq!(profile.workloads["oltp"].jobs.as_ref().unwrap()["redo"].fdatasync, 1);
    assert_eq!((profile.run.runtime, profile.run.repeats), (Time::from_secs(30), Repeats::Count(5)));
    let compare = profile.compare.unwrap();
    assert_eq!((compare.metrics, compare.min_effect), (vec![Metric::Iops, Metric::P99], Percent::whole(3)));
}

#[test]
fn targets_and_workloads_keep_the_order_in_which_they_were_written() {
    let profile = Profile::parse("p.yaml", WHOLE, &[]).unwrap().profile;
    assert_eq!(profile.targets.keys().take(3).collect::<Vec<_>>(), ["librbd", "krbd", "nbd"]);
    assert_eq!(profile.workloads.keys().collect::<Vec<_>>(), ["randwrite-16k", "oltp"]);
}

#[test]
fn a_section_without_a_value_is_empty() {
    let yaml =
        "version: 1\nname: x\nlabels:\ntargets:\n  floor:\n    null:\nworkloads:\n  w: {rw: read}\nrun:\n";
    assert!(Profile::parse("p.yaml", yaml, &[]).unwrap().profile.targets["floor"].null.is_some());
}
