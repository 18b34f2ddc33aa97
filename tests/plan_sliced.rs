//! `order: sliced`: how a measured part is cut up, and what can't take turns.

use std::time::Duration;

use cephmark::plan::Slicing;
use cephmark::units::Bytes;

use crate::planning::{plan, refused, warned, with_run, with_target};

const TWO_ARMS: &str = "{rbd: {size: 1GiB}}\n  u: {null: {}}";

fn sliced(run: &str) -> String {
    with_run(run).replace("{rbd: {size: 1GiB}}", TWO_ARMS)
}

#[test]
fn every_arm_gets_the_same_slices_which_together_last_as_long_as_the_runtime() {
    let slicing = |run: &str| {
        let plan = plan(&sliced(run)).unwrap();
        plan.workloads[0].slicing(plan.run.slice)
    };
    let cut = |rounds, length: Duration| Slicing { rounds, length, edge: length / 10 };
    assert_eq!(slicing("{order: sliced}"), cut(10, Duration::from_secs(3)));
    assert_eq!(slicing("{order: sliced, runtime: 10s}"), cut(4, Duration::from_millis(2500)));
    assert_eq!(slicing("{order: sliced, runtime: 4s, slice: 500ms}"), cut(8, Duration::from_millis(500)));
}

#[test]
fn arms_of_a_block_run_together_and_hold_their_buffers_at_once() {
    let sliced = plan(&sliced("{order: sliced, repeats: 3}")).unwrap();
    let units: Vec<usize> = sliced.units().map(<[_]>::len).collect();
    assert_eq!(units, [2, 2, 2]);
    assert_eq!(sliced.needs.buffers, Bytes(2 * 4096));
    let alone = plan(&with_run("{repeats: 3}").replace("{rbd: {size: 1GiB}}", TWO_ARMS)).unwrap();
    assert_eq!(alone.units().count(), 6);
    assert_eq!(alone.needs.buffers, Bytes(4096));
}

#[test]
fn slices_must_be_long_enough_and_at_least_two() {
    refused(&sliced("{order: sliced, ^slice: 400ms}"), "run.slice: must be at least 500ms");
    refused(
        &sliced("{order: sliced, ^slice: 3s, runtime: 5s}"),
        "run.slice: leaves workload `w`, which runs for 5s, fewer than two slices; make it shorter, or runtime longer",
    );
}

#[test]
fn jobs_that_end_by_a_count_do_not_take_turns_by_the_clock() {
    for (key, value) in [("io_size", "1m"), ("number_ios", "9"), ("end_fsync", "true")] {
        let job = format!("{{rw: randwrite, ^{key}: {value}}}");
        refused(
            &sliced("{order: sliced}").replace("{rw: randwrite}", &job),
            &format!(
                "workloads.w.{key}: has no meaning in `order: sliced`, where arms take turns by the clock; use interleaved"
            ),
        );
    }
}

#[test]
fn an_existing_image_is_open_once_at_a_time() {
    let twice = "{rbd: {image: rbd/vol}}\n  u: {rbd: {image: rbd/vol@snap}}";
    let profile =
        with_target(twice).replace("{seed: 1, repeats: 1}", "{^order: sliced}").replace("randwrite", "read");
    refused(
        &profile,
        "run.order: the arms `t` and `u` use the same image, `rbd/vol`, which only one of them may have open; use interleaved",
    );
}

#[test]
fn one_arm_alone_is_worth_a_warning() {
    warned(
        &with_run("{^order: sliced}"),
        &["run.order: there is only one arm, with nothing to alternate with"],
    );
}
