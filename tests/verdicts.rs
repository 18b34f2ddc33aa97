//! Verdicts on a cluster whose truth is known, and results compared by hand.

use std::fs;

use cephmark::result::{Comparison, Verdict};

use crate::support::cluster::shared;
use crate::support::site::Site;

/// The only comparison of the last run.
#[track_caller]
fn verdict(site: &Site<'_>) -> Comparison {
    let [comparison] = &site.result().comparisons[..] else { panic!("{:#?}", site.result().comparisons) };
    comparison.clone()
}

/// An arm whose client's messenger holds back what OSDs send it by a random time of this many seconds at the most.
fn arm(name: &str, seconds: f64, options: &str) -> String {
    let inject =
        format!("ms_inject_delay_type: osd, ms_inject_delay_probability: 1, ms_inject_delay_max: {seconds}");
    format!("  {name}: {{rbd: {{namespace: NAMESPACE, size: 16MiB}}, options: {{{inject}, {options}}}}}\n")
}

/// The cluster is 10 ms away on average, beside which what else this host does is little.
#[test]
fn a_working_set_in_the_cache_is_better_with_three_blocks() {
    let profile = format!(
        "\
version: 1
name: cache
targets:
{}{}workloads:
  reads: {{rw: randread, bs: 4k, iodepth: 4, size: 256KiB}}
run: {{ramp_time: 2s, runtime: 1s, repeats: 3}}
compare: {{baseline: uncached, metrics: [mean]}}
",
        arm("uncached", 0.02, "rbd_cache: false"),
        arm("cached", 0.02, "rbd_cache: true, rbd_cache_policy: writeback")
    );
    let site = Site::on(shared());
    site.run(&profile, &[]).success();
    assert_eq!(site.result().trials.len(), 6);
    let found = verdict(&site);
    assert_eq!((found.candidate.as_str(), found.verdict), ("cached", Verdict::Better), "{found:?}");
}

/// Of the two arms one waits for 50 ms on average, the other for 55.5 ms. They take turns, so that a host which is busy at
/// times is so for both.
#[test]
fn a_delay_that_makes_ios_ten_percent_slower_is_found_by_a_run_that_repeats_until_it_knows() {
    let profile = format!(
        "\
version: 1
name: delay
targets:
{}{}workloads:
  reads: {{rw: randread, bs: 4k, iodepth: 32}}
run: {{ramp_time: 300ms, runtime: 3s, repeats: auto, budget: 4m, order: sliced, slice: 500ms}}
compare: {{baseline: prompt, metrics: [mean]}}
",
        arm("prompt", 0.1, "rbd_cache: false"),
        arm("late", 0.111, "rbd_cache: false")
    );
    let site = Site::on(shared());
    site.run(&profile, &[]).success();
    let found = verdict(&site);
    assert_eq!((found.candidate.as_str(), found.verdict), ("late", Verdict::Worse), "{found:?}");
    assert!((1.02..1.3).contains(&found.ratio), "{found:?}");
}

/// An arm that does nothing, which nothing is as fast as, and one on the cluster.
const FLOOR: &str = "\
version: 1
name: floor
targets:
  floor: {null: {size: 16MiB}}
  t: {rbd: {namespace: NAMESPACE, size: 16MiB}, options: {rbd_cache: false}}
workloads:
  reads: {rw: randread, bs: 4k, iodepth: 4}
run: {ramp_time: 0s, runtime: 500ms, repeats: 3}
compare: {baseline: floor, metrics: [iops]}
";

#[test]
fn a_regression_fails_a_comparison_only_where_that_is_asked_for() {
    let site = Site::on(shared());
    site.run(FLOOR, &[]).success();
    assert_eq!(verdict(&site).verdict, Verdict::Worse);
    assert!(site.cephmark(&["compare", "out"]).success().contains("worse"));
    assert_eq!(site.cephmark(&["compare", "out", "--fail-on", "worse"]).status.code(), Some(1));
    let turned = ["compare", "out", "--fail-on", "worse", "--baseline", "t"];
    assert!(site.cephmark(&turned).success().contains("better"));
    let wrong = site.cephmark(&["compare", "out", "--baseline", "x"]);
    wrong.refused(2, &["there is no arm `x`; there is floor, t"]);
}

#[test]
fn results_of_other_loads_are_refused_and_what_else_differs_is_named() {
    let site = Site::on(shared());
    let run = |name: &str, sets: &[&str]| {
        site.run(FLOOR, sets).success();
        fs::rename(site.path("out"), site.path(name)).expect("a result");
    };
    run("a", &[]);
    run("blocks", &["workloads.reads.bs=8k"]);
    run("b", &["targets.t.rbd.features=[layering]", "labels={place: there}"]);
    let refused = site.cephmark(&["compare", "a", "blocks"]);
    refused.refused(2, &["workload reads differs between the first result and result 2 in bs"]);
    let end = site.cephmark(&["compare", "a", "b", "--baseline", "place=there t"]);
    let said = end.success().split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["unpaired: ", "different features: ", " layering in place=there t"] {
        assert!(said.contains(words), "{words:?} is not in {said}");
    }
}
