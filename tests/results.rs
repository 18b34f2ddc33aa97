//! The result of a run as a program reads it: complete at any time, described by a schema, reported in every format.

use std::fs;
use std::thread;
use std::time::Duration;

use cephmark::result::{ResultFile, Status};
use serde_json::Value;

use crate::support::cluster::shared;
use crate::support::schema;
use crate::support::site::{PROFILE, Running, Site};

#[test]
fn the_file_is_complete_after_every_trial() {
    let site = Site::on(shared());
    let mut running = site.start(PROFILE, &["run.repeats=3"]);
    for over in 1..=3 {
        running.wait_for(&format!("[{over}/3] t w: "));
        // It is saved after the line is said.
        let (mut trials, mut looks) = (0, 0);
        while trials < over {
            thread::sleep(Duration::from_millis(20));
            // Whenever it is read it is whole.
            trials = site.result().trials.len();
            looks += 1;
            assert!(looks < 500, "trial {over} is not in the result");
        }
    }
    let end = running.end();
    end.success();
    assert!(end.stderr.last().is_some_and(|line| line == "result: out/result.json"), "{end:#?}");
    let result = site.result();
    assert!(result.finished.is_some());
    let repeats: Vec<_> = result.trials.iter().map(|trial| (trial.repeat, trial.status)).collect();
    assert_eq!(repeats, [(0, Status::Valid), (1, Status::Valid), (2, Status::Valid)]);
    site.assert_clean();
}

#[test]
fn without_out_it_goes_to_a_directory_named_after_the_profile_and_the_time() {
    let site = Site::on(shared());
    site.write(PROFILE);
    site.cephmark(&["run", "profile.yaml", "--set", "workloads.w.number_ios=10"]).success();
    let entries: Vec<_> = fs::read_dir(site.path("results")).expect("it was made").flatten().collect();
    let [entry] = &entries[..] else { panic!("{entries:?}") };
    assert!(entry.file_name().to_string_lossy().starts_with("test-20"), "{entry:?}");
    ResultFile::load(&entry.path()).expect("a result");
}

#[test]
fn a_dry_run_shows_the_plan_and_does_none_of_it() {
    let site = Site::on(shared());
    site.write(PROFILE);
    let mut command =
        site.command(&["run", "profile.yaml", "--out", "out", "--dry-run", "--set", "run.repeats=7"]);
    command.env("CEPH_CONF", "/nowhere/ceph.conf");
    let end = Running::start(command).end();
    assert!(end.success().starts_with("test: 7 trials (1 arm x 1 workload x 7 repeats)\n"), "{end:#?}");
    site.assert_untouched();
}

#[test]
fn check_asks_the_cluster_unless_it_is_told_not_to() {
    let site = Site::on(shared());
    site.write(PROFILE);
    let online = site.cephmark(&["check", "profile.yaml"]);
    let told = format!("cluster {} has what the plan needs\n", site.lab.fsid());
    assert!(online.success().ends_with(&told), "{online:#?}");
    let elsewhere = ["check", "profile.yaml", "--set", "targets.t.rbd.pool=nowhere"];
    site.cephmark(&elsewhere).fails(3, &["can't open the pool nowhere"]);
    let offline = site.cephmark(&[&elsewhere[..], &["--offline"]].concat());
    assert!(offline.success().starts_with("test: 1 trial"), "{offline:#?}");
    site.assert_untouched();
}

#[test]
fn every_format_reports_a_real_result() {
    let site = Site::on(shared());
    site.run(PROFILE, &["workloads.w.rw=randrw"]).success();
    let trial = &site.result().trials[0];
    let report = |format: &str| {
        let end = site.cephmark(&["report", "out", "--format", format]);
        assert!(end.stderr.is_empty(), "{end:#?}");
        end.success().to_owned()
    };
    let text = report("text");
    assert!(text.starts_with("test  cephmark ") && text.contains(site.lab.fsid()), "{text}");
    let csv = report("csv");
    let mut rows = csv.lines().map(|row| row.split(',').collect::<Vec<_>>());
    let names = rows.next().expect("a row of names");
    let column = |name: &str| names.iter().position(|column| *column == name).expect("a column");
    for row in rows {
        let figures = &trial.jobs[""][row[column("op")]];
        assert_eq!(row[column("ios")], figures.ios.to_string());
    }
    assert_eq!(csv.lines().count(), 3, "reads and writes");
    assert!(report("markdown").starts_with("# test\n"));
    let json: Value = serde_json::from_str(&report("json")).expect("JSON");
    let file: Value =
        serde_json::from_slice(&fs::read(site.path("out/result.json")).expect("a file")).expect("JSON");
    assert_eq!(json, file);
    site.cephmark(&["report", "out/result.json", "-o", "report.txt"]).success();
    assert!(fs::read_to_string(site.path("report.txt")).expect("it was written").contains(site.lab.fsid()));
}

#[test]
fn a_real_result_is_as_its_schema_says() {
    let site = Site::on(shared());
    site.run(PROFILE, &["workloads.w.rw=randrw", "labels={place: here}"]).success();
    let file: Value =
        serde_json::from_slice(&fs::read(site.path("out/result.json")).expect("a file")).expect("JSON");
    let schema = printed_schema(&site, "result");
    schema::check(&schema, &file).unwrap_or_else(|error| panic!("{error}"));
    let mut wrong = file;
    wrong["trials"][0]["jobs"][""]["write"]["ios"] = Value::from("many");
    assert!(schema::check(&schema, &wrong).expect_err("no number").contains("/trials/0/jobs//write/ios"));
}

#[test]
fn every_config_is_as_the_schema_of_profiles_says() {
    let site = Site::on(shared());
    let schema = printed_schema(&site, "profile");
    let configs = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/configs")).expect("the configs");
    let mut checked = 0;
    for config in configs.flatten().map(|entry| entry.path()) {
        let loaded = cephmark::profile::Profile::load(&config, &[]).unwrap_or_else(|error| panic!("{error}"));
        schema::check(&schema, loaded.document.value())
            .unwrap_or_else(|error| panic!("{}: {error}", config.display()));
        checked += 1;
    }
    assert!(checked >= 5, "{checked} configs");
    let wrong =
        serde_json::json!({"version": 1, "name": "x", "targets": {}, "workloads": {}, "wrokloads": {}});
    assert!(schema::check(&schema, &wrong).expect_err("an unknown key").contains("wrokloads"));
}

fn printed_schema(site: &Site<'_>, format: &str) -> Value {
    serde_json::from_str(site.cephmark(&["schema", format]).success()).expect("JSON")
}
