//! `repeats: auto`: how many repeats there may be, and what there must be to decide on.

use cephmark::plan::Plan;

use crate::planning::{plan, refused, with_run};

const TWO_ARMS: &str = "{rbd: {size: 1GiB}}\n  u: {null: {}}";

fn auto(run: &str) -> String {
    with_run(run).replace("{rbd: {size: 1GiB}}", TWO_ARMS)
}

fn most(plan: &Plan) -> (u32, usize) {
    assert!(plan.run.until_decided);
    (plan.run.repeats, plan.trials.len())
}

#[test]
fn there_are_as_many_repeats_as_the_budget_has_room_for_and_60_at_the_most() {
    let most = |run: &str| most(&plan(&auto(run)).unwrap());
    assert_eq!(most("{repeats: auto}"), (60, 120));
    assert_eq!(most("{repeats: auto, budget: 24h}"), (60, 120));
    // Two arms of 35 s each.
    assert_eq!(most("{repeats: auto, budget: 8m}"), (6, 12));
    assert_eq!(most("{repeats: auto, budget: 210s, order: sliced}"), (3, 6));
    assert!(plan(&auto("{repeats: auto}")).unwrap().render().starts_with("test: at most 120 trials ("));
}

#[test]
fn a_budget_has_room_for_three_repeats() {
    let message = "run.budget: must be at least 210s, for 3 repeats of all trials: fewer decide nothing";
    refused(&auto("{repeats: auto, ^budget: 209s}"), message);
}

#[test]
fn there_must_be_something_to_decide_after_each_repeat() {
    refused(
        &with_run("{^repeats: auto}"),
        "run.repeats: `auto` has nothing to decide: there is only one arm; give a number",
    );
    refused(
        &auto("{repeats: auto, ^order: sequential}"),
        "run.order: leaves nothing to decide on until all repeats of an arm are over; `repeats: auto` needs interleaved \
         or sliced",
    );
}
