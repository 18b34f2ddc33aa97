//! Exit code 4: I/O errors, and data that is not what was written. The trial is in the result with what went wrong, and
//! what cephmark made is removed.

use cephmark::ceph::View;
use cephmark::result::{Status, Trial};
use serde_json::json;

use crate::support::cluster::shared;
use crate::support::site::{End, PROFILE, Running, Site};

/// Shuts the client out that runs the load.
#[track_caller]
fn blocklist_writer(site: &Site<'_>, running: &mut Running) {
    let pool = site.pool();
    running.wait_for("measuring");
    let image = pool.image(&pool.images().expect("a list")[0], View::Read).expect("the image");
    let owner = image.lock_owners().expect("a list").remove(0);
    let command =
        json!({"prefix": "osd blocklist", "blocklistop": "add", "addr": owner.address, "expire": 60.0});
    pool.cluster().mon_command(&command).expect("the monitors do so");
}

/// The only trial, which failed.
#[track_caller]
fn failed(site: &Site<'_>, end: &End) -> Trial {
    assert_eq!(end.status.code(), Some(4), "{end:#?}");
    assert!(end.stderr.iter().any(|line| line.contains("FAILED")), "{end:#?}");
    let mut trials = site.result().trials;
    assert_eq!((trials.len(), trials[0].status), (1, Status::Failed));
    trials.remove(0)
}

fn problem<'a>(trial: &'a Trial, code: &str) -> &'a str {
    let problem = trial.problems.iter().find(|problem| problem.code == code);
    &problem.unwrap_or_else(|| panic!("no {code} in {:?}", trial.problems)).text
}

#[test]
fn a_client_that_the_cluster_shuts_out_ends_its_trial() {
    let site = Site::on(shared());
    let mut running = site.start(PROFILE, &["run.runtime=60s"]);
    blocklist_writer(&site, &mut running);
    let end = running.end();
    let trial = failed(&site, &end);
    let text = problem(&trial, "io_error");
    assert!(text.contains("write of 4KiB at") && text.contains("ESHUTDOWN"), "{text}");
    assert!(trial.jobs[""]["write"].errors["ESHUTDOWN"] >= 1);
    site.assert_clean();
}

#[test]
fn errors_are_counted_to_the_end_where_the_profile_asks_for_it() {
    let site = Site::on(shared());
    let mut running = site.start(PROFILE, &["run.runtime=5s", "run.on_error=count"]);
    blocklist_writer(&site, &mut running);
    let end = running.end();
    let trial = failed(&site, &end);
    assert!(trial.measured_s > 4.9, "{}", trial.measured_s);
    assert!(trial.jobs[""]["write"].errors["ESHUTDOWN"] > 100, "{:?}", trial.jobs[""]["write"].errors);
    site.assert_clean();
}

#[test]
fn data_that_somebody_else_changed_is_a_mismatch_with_its_place() {
    let site = Site::on(shared());
    let sets = [
        "targets.t.rbd={namespace: NAMESPACE, size: 16MiB, features: [layering]}",
        "workloads.w={rw: randread, bs: 4k, iodepth: 4, verify: crc32c}",
        "run.runtime=5s",
    ];
    let mut running = site.start(PROFILE, &sets);
    running.wait_for("measuring");
    let image = site.image(&site.images()[0]);
    let bench = ["--io-type", "write", "--io-size", "4096", "--io-total", "4M", "--io-pattern", "seq"];
    site.rbd(&[&["bench"], &bench[..], &[&image]].concat());
    let end = running.end();
    let trial = failed(&site, &end);
    let text = problem(&trial, "verify_mismatch");
    assert!(text.contains("image 0") && text.contains("offset"), "{text}");
    let verified = trial.checks[""].verified.as_ref().expect("it was verified");
    let first = &verified.first[0];
    assert!(verified.mismatches >= 1 && first.offset.is_multiple_of(4096), "{verified:?}");
    assert_eq!((first.expected.as_str(), first.found.as_str()), ("generation 1", "no header of cephmark"));
    site.assert_clean();
}
