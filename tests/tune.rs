//! `cephmark tune` on a cluster: a best that is known is found and proven, and where nothing matters nothing is.

use cephmark::result::{ResultFile, Status, Verdict};
use cephmark::tune::{Conclusion, Finding, Outcome};
use nix::sys::signal::Signal;

use crate::support::ceph::tool;
use crate::support::cluster::shared;
use crate::support::site::{End, Running, Site};

/// Random reads of 12 MiB: only a cache of 32 MiB holds them, and only under a policy that keeps what was read. Larger
/// ones are as good, but break the constraint.
const CACHE: &str = "\
version: 1
name: cache
targets:
  t:
    rbd: {namespace: NAMESPACE, size: 16MiB}
    options: {rbd_cache_max_dirty: 2MiB, rbd_cache_target_dirty: 1MiB}
workloads:
  w: {rw: randread, bs: 16k, size: 12MiB, iodepth: 2}
run: {ramp_time: 1s, runtime: 1s}
tune:
  space: {rbd_cache_policy: [writearound, writeback], rbd_cache_size: [4MiB, 32MiB, 128MiB]}
  constraints: [memory <= 64MiB]
  budget: 150s
";

fn tune(site: &Site<'_>, profile: &str) -> (End, Outcome) {
    site.write(profile);
    let end = site.cephmark(&["tune", "profile.yaml", "-o", "out"]);
    end.success();
    let outcome = Outcome::load(&site.path("out")).expect("an outcome");
    assert!(outcome.took_s <= outcome.budget_s, "{} s of {} s", outcome.took_s, outcome.budget_s);
    (end, outcome)
}

#[test]
fn a_cache_that_holds_the_working_set_is_found_and_proven() {
    let site = Site::on(shared());
    let (end, outcome) = tune(&site, CACHE);
    assert_eq!(outcome.conclusion, Conclusion::Better, "{end:#?}");
    let best = outcome.best.expect("there is one");
    assert_eq!(best.arm, "t[rbd_cache_policy=writeback,rbd_cache_size=32MiB]", "{end:#?}");
    let [gain] = &best.comparisons[..] else { panic!("{:?}", best.comparisons) };
    assert_eq!((gain.baseline.as_str(), gain.verdict), ("t[current]", Verdict::Better));
    let out = |name: &str| {
        outcome.settings.iter().find(|tried| tried.arm.contains(name)).and_then(|tried| tried.out.clone())
    };
    let said = out("writeback,rbd_cache_size=128MiB").expect("it breaks the constraint");
    assert_eq!(said, "memory <= 64MiB is broken: 128MiB");
    let policy =
        outcome.effects.iter().find(|effect| effect.option == "rbd_cache_policy").expect("an effect");
    assert_eq!(policy.better, "writeback", "{policy:?}");

    let search = ResultFile::load(&site.path("out/search")).expect("the trials of the search");
    let confirmation = ResultFile::load(&site.path("out/confirmation")).expect("the fresh trials");
    assert!(search.trials.iter().chain(&confirmation.trials).all(|trial| trial.status == Status::Valid));
    assert_eq!(confirmation.trials.len() as u32, 2 * best.blocks);
    assert_eq!(confirmation.comparisons, best.comparisons);

    let pool = "rbd config pool set rbd rbd_cache_size 33554432";
    for line in
        ["[client]", "rbd_cache_size = 33554432", "ceph config set client rbd_cache_policy writeback", pool]
    {
        assert!(end.stdout.contains(line), "{line}: {}", end.stdout);
    }
    let set = tool(site.lab, "ceph", &["config", "dump"]) + &site.rbd(&["config", "pool", "list", "rbd"]);
    assert!(
        !set.lines().any(|line| line.contains("rbd_cache") && line.contains("pool")),
        "nothing is changed: {set}"
    );
    site.assert_clean();
}

#[test]
fn where_nothing_matters_no_difference_is_proven() {
    // Reads of 4 KiB are below every threshold.
    let profile = CACHE
        .replace(
            "options: {rbd_cache_max_dirty: 2MiB, rbd_cache_target_dirty: 1MiB}",
            "options: {rbd_cache: false}",
        )
        .replace("bs: 16k", "bs: 4k")
        .replace(
            "{rbd_cache_policy: [writearound, writeback], rbd_cache_size: [4MiB, 32MiB, 128MiB]}",
            "{rbd_sparse_read_threshold_bytes: [32KiB, 128KiB, 256KiB]}",
        )
        .replace("ramp_time: 1s", "ramp_time: 0s")
        .replace("150s", "50s\ncompare: {min_effect: 20%}");
    // One tuning in twenty may claim what is not so; two one after the other hardly ever do.
    let claims_nothing = || {
        let site = Site::on(shared());
        let (end, outcome) = tune(&site, &profile);
        site.assert_clean();
        let nothing = outcome.conclusion == Conclusion::NoProvenDifference
            && outcome.effects.iter().all(|effect| effect.finding != Finding::Matters);
        assert_eq!(
            end.stdout.contains("No proven difference"),
            outcome.conclusion == Conclusion::NoProvenDifference,
            "{}",
            end.stdout
        );
        assert!(!nothing || !end.stdout.contains("ceph config set"), "what is advised? {}", end.stdout);
        nothing
    };
    assert!(claims_nothing() || claims_nothing(), "both of two tunings claim a difference that is not there");
}

#[test]
fn a_tuning_that_is_interrupted_keeps_its_trials_and_nothing_else() {
    let site = Site::on(shared());
    site.write(CACHE);
    let mut running = Running::start(site.command(&["tune", "profile.yaml", "-o", "out"]));
    running.wait_for("[2/");
    running.signal(Signal::SIGINT);
    running.end().fails(130, &["interrupted"]);
    let search = ResultFile::load(&site.path("out/search")).expect("the trials of the search");
    assert!(!search.trials.is_empty());
    assert!(Outcome::load(&site.path("out")).is_err(), "nothing was found out");
    site.assert_clean();
}
