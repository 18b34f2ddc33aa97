//! The images under test: those that cephmark makes look as the profile says, those that exist are used as they are.

use std::fs;
use std::thread;
use std::time::Duration;

use cephmark::ceph::View;
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::ceph::{TestPool, tool};
use crate::support::cluster::shared;
use crate::support::site::{PROFILE, Site};

/// `rbd info` of an image.
fn info(site: &Site<'_>, image: &str) -> Value {
    serde_json::from_str(&site.rbd(&["info", "--format", "json", image])).expect("JSON")
}

#[test]
fn new_images_have_the_layout_that_the_profile_gives() {
    let site = Site::on(shared());
    let data = TestPool::new(site.lab);
    let rbd = format!(
        "{{namespace: NAMESPACE, size: 16MiB, images: 2, object_size: 1MiB, stripe_unit: 64KiB, stripe_count: 4, \
         features: [layering, striping, exclusive-lock], data_pool: {}}}",
        data.name
    );
    let slow = "workloads.slow={rw: randread, runtime: 60s}";
    let mut running =
        site.start(PROFILE, &[&format!("targets.t.rbd={rbd}"), "workloads.w.number_ios=10", slow]);
    running.wait_for("t slow: measuring");
    let images = site.images();
    assert_eq!(images.len(), 2, "{images:?}");
    for image in &images {
        let info = info(&site, &site.image(image));
        assert_eq!((&info["size"], &info["object_size"]), (&Value::from(16 << 20), &Value::from(1 << 20)));
        assert_eq!((&info["stripe_unit"], &info["stripe_count"]), (&Value::from(64 << 10), &Value::from(4)));
        assert_eq!(info["data_pool"], Value::from(data.name.as_str()));
        let mut features: Vec<_> = info["features"].as_array().expect("a list").iter().collect();
        features.retain(|feature| *feature != "data-pool");
        assert_eq!(features, ["layering", "striping", "exclusive-lock"]);
        let run = site.rbd(&["image-meta", "get", &site.image(image), "cephmark_run"]);
        assert!(image.contains(run.trim()), "{image} is marked with {run}");
    }
    running.signal(Signal::SIGINT);
    running.end().fails(130, &["interrupted"]);
    let trial = &site.result().trials[0];
    assert_eq!(trial.conditions["features"], "layering,striping,exclusive-lock,data-pool");
    assert_eq!(trial.conditions["stripe"], "64KiBx4");
    site.assert_clean();
    let objects = tool(site.lab, "rados", &["-p", &data.name, "--all", "ls"]);
    assert!(!objects.contains("rbd_data"), "{objects}");
}

#[test]
fn the_load_goes_to_all_images_of_an_arm() {
    let site = Site::on(shared());
    site.run(PROFILE, &["targets.t.rbd.images=2", "workloads.w.number_ios=400"]).success();
    let trial = &site.result().trials[0];
    let written = |logger: &String| {
        logger.starts_with("librbd-").then(|| trial.counters[logger]["wr"].as_u64().expect("a count"))
    };
    let written: Vec<u64> = trial.counters.keys().filter_map(written).collect();
    assert_eq!(written.iter().sum::<u64>(), 400);
    assert!(written.len() == 2 && written.iter().all(|writes| *writes > 100), "{written:?}");
}

#[test]
fn an_image_that_exists_is_read_without_a_trace() {
    let site = Site::on(shared());
    let image = site.image("theirs");
    fs::write(site.path("data"), b"years of work ".repeat(100_000)).expect("a file");
    site.rbd(&["import", "--no-progress", &site.path("data").to_string_lossy(), &image]);
    let target = "targets.t={rbd: {image: rbd/NAMESPACE/theirs}}";
    let pool = site.pool();
    let mut running = site.start(PROFILE, &[target, "workloads.w.rw=randread", "run.runtime=2s"]);
    running.wait_for("measuring");
    // Who opens an image only to read it does not watch it, and so takes no part in its locks.
    let watchers = pool.image("theirs", View::Read).and_then(|image| image.watchers()).expect("a list");
    assert_eq!(watchers, []);
    running.end().success();
    assert!(site.result().trials[0].jobs[""]["read"].ios > 0);
    site.rbd(&["export", "--no-progress", &image, &site.path("after").to_string_lossy()]);
    let [before, after] = ["data", "after"].map(|name| fs::read(site.path(name)).expect("a file"));
    assert!(before == after, "it was changed");
    site.rbd(&["rm", "--no-progress", &image]);
    site.assert_clean();
}

#[test]
fn an_image_that_exists_is_overwritten_where_its_data_may_be_lost_and_stays() {
    let site = Site::on(shared());
    let image = site.create("theirs", 8);
    let target = "targets.t={rbd: {image: rbd/NAMESPACE/theirs}, destroys_data: true}";
    site.run(PROFILE, &[target]).success();
    assert_eq!(site.images(), ["theirs"]);
    assert!(site.rbd(&["du", &image]).contains("8 MiB"));
    assert_eq!(info(&site, &image)["size"], Value::from(8 << 20));
    site.rbd(&["rm", "--no-progress", &image]);
}

#[test]
fn a_snapshot_is_read_while_its_image_changes() {
    let site = Site::on(shared());
    let image = site.create("theirs", 8);
    let snapshot = format!("{image}@then");
    site.rbd(&["snap", "create", "--no-progress", &snapshot]);
    let targets = "targets={t: {rbd: {image: rbd/NAMESPACE/theirs@then}}}";
    let end = site.run(PROFILE, &[targets, "workloads.w.rw=read"]);
    end.success();
    // Nothing was in it when the snapshot was taken, and that is said.
    let result = site.result();
    assert!(result.notes.iter().any(|note| note.text.contains("hold data")), "{:?}", result.notes);
    assert!(result.trials[0].jobs[""]["read"].ios > 0);
    site.rbd(&["snap", "rm", "--no-progress", &snapshot]);
    site.rbd(&["rm", "--no-progress", &image]);
}

#[test]
fn a_thousand_images_are_one_arm_and_take_no_thread_each() {
    let site = Site::on(shared());
    let threads = |images: u32| {
        let rbd = format!(
            "targets.t.rbd={{namespace: NAMESPACE, size: 4KiB, images: {images}, features: [layering]}}"
        );
        let load = "workloads.w={rw: write, bs: 4k, iodepth: 64, number_ios: 1000}";
        let running = site.start(PROFILE, &[&rbd, load, "run.runtime=60s", "run.prefill=false"]);
        let (pid, mut most) = (running.pid(), 0);
        let watched = thread::spawn(move || {
            while let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) {
                most = most.max(tasks.count());
                thread::sleep(Duration::from_millis(20));
            }
            most
        });
        running.end().success();
        let trial = site.result().trials.remove(0);
        assert_eq!(trial.jobs[""]["write"].ios, 1000);
        fs::remove_dir_all(site.path("out")).expect("the results");
        (watched.join().expect("it was watched"), trial)
    };
    let (one, _) = threads(1);
    let (thousand, trial) = threads(1000);
    assert!(thousand <= one + 4, "{thousand} threads for 1000 images, {one} for one");
    let written = trial.counters.iter().filter(|(logger, _)| logger.starts_with("librbd-"));
    let written: Vec<u64> = written.map(|(_, counters)| counters["wr"].as_u64().unwrap_or(0)).collect();
    assert_eq!((written.len(), written.iter().all(|writes| *writes == 1)), (1000, true));
    site.assert_clean();
}
