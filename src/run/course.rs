//! How far a run goes: with a budget until it is spent, and if it repeats by itself until every comparison is decided.
//!
//! Such a run looks at the comparisons after the repeats that `stats::Looks` names and at no other time, on which the intervals
//! rely. A workload whose comparisons are all decided is not repeated any more; the others go on.

use std::time::{Duration, Instant};

use crate::compare;
use crate::plan::{Plan, WorkloadPlan};
use crate::report::Look;
use crate::report::human::{clock, ratio};
use crate::result::{Comparison, ResultFile};
use crate::stats::Looks;

/// How many open comparisons are named.
const NAMED: usize = 3;

/// How far a run goes.
#[derive(Debug)]
pub(super) struct Course<'a> {
    plan: &'a Plan,
    /// None for a fixed number of repeats.
    looks: Option<Looks>,
    started: Instant,
    repeat: u32,
    repeat_started: Instant,
    /// By workload, whether it is repeated.
    goes_on: Vec<bool>,
}

impl<'a> Course<'a> {
    /// The course of a run that begins now.
    #[must_use]
    pub(super) fn new(plan: &'a Plan) -> Self {
        let now = Instant::now();
        Self {
            plan,
            looks: plan.run.until_decided.then(|| Looks::until(plan.run.repeats)),
            started: now,
            repeat: plan.trials.first().map_or(0, |trial| trial.repeat),
            repeat_started: now,
            goes_on: vec![true; plan.workloads.len()],
        }
    }

    /// The same for a run of which so much is over.
    #[must_use]
    pub(super) fn after(self, spent: Duration) -> Self {
        Self { started: self.started.checked_sub(spent).unwrap_or(self.started), ..self }
    }

    /// Whether a workload is (still) to be run.
    #[must_use]
    pub(super) fn wants(&self, workload: usize) -> bool {
        self.goes_on[workload]
    }

    /// Comes to a trial of this repeat, or to the end after the last one, and decides what goes on if it is a new one.
    pub(super) fn reach(&mut self, repeat: u32, result: &ResultFile, now: Instant) -> Option<Look> {
        let budget = self.plan.run.budget;
        if repeat == self.repeat || (self.looks.is_none() && budget.is_none()) {
            return None;
        }
        let is_look = self.looks.as_ref().is_some_and(|looks| looks.is_one(repeat));
        let took = now - std::mem::replace(&mut self.repeat_started, now);
        self.repeat = repeat;
        if !self.goes_on.contains(&true) {
            return None;
        }
        let open = compare::open(result);
        let spent = budget.filter(|budget| now - self.started + took > *budget);
        if is_look {
            for (workload, goes_on) in self.plan.workloads.iter().zip(&mut self.goes_on) {
                *goes_on &= !decided(workload, result, &open);
            }
        }
        if spent.is_some() {
            self.goes_on.fill(false);
        }
        let tells = self.looks.is_some() && (is_look || spent.is_some());
        tells.then(|| Look {
            open: open.iter().map(|comparison| name(comparison)).collect(),
            of: result.comparisons.len(),
            text: said(repeat, &open, result.comparisons.len(), spent),
        })
    }
}

/// Whether a workload has comparisons, and none of them is open.
fn decided(workload: &WorkloadPlan, result: &ResultFile, open: &[&Comparison]) -> bool {
    let of_it = |comparison: &Comparison| {
        let settings = comparison.settings.iter().map(|(path, value)| (path.as_str(), value.as_str()));
        let mut own: Vec<_> =
            workload.settings.iter().map(|(path, value)| (path.as_str(), value.as_str())).collect();
        own.sort_unstable();
        comparison.workload == workload.name && settings.eq(own)
    };
    result.comparisons.iter().any(of_it) && !open.iter().any(|comparison| of_it(comparison))
}

/// `after 5 repeats 1 of 4 comparisons is open: randwrite write iops, b against a (0.962 to 1.073)`
fn said(repeats: u32, open: &[&Comparison], all: usize, spent: Option<Duration>) -> String {
    let mut names: Vec<String> = open.iter().take(NAMED).map(|comparison| name(comparison)).collect();
    let more = open.len() - names.len();
    names.extend((more > 0).then(|| format!("and {more} more")));
    let state = match (all, open.len()) {
        (0, _) => "nothing can be compared yet".to_owned(),
        (1, 0) => "the comparison is decided".to_owned(),
        (_, 0) => format!("all {all} comparisons are decided"),
        (_, open) => {
            format!(
                "{open} of {all} comparisons {} open: {}",
                if open == 1 { "is" } else { "are" },
                names.join("; ")
            )
        }
    };
    let budget = spent.map_or_else(String::new, |budget| {
        format!("; no further one fits into the budget of {}", clock(budget))
    });
    format!("after {repeats} repeats {state}{budget}")
}

fn name(comparison: &Comparison) -> String {
    let Comparison { workload, settings, job, op, metric, baseline, candidate, ci: [low, high], .. } =
        comparison;
    let settings =
        settings.iter().map(|(path, value)| format!("{}={value}", path.rsplit('.').next().unwrap_or(path)));
    let words = [workload.clone()].into_iter().chain(settings).chain([
        job.clone(),
        op.clone(),
        metric.name().to_owned(),
    ]);
    let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
    let (low, high) = (ratio(*low), ratio(*high));
    format!("{}, {candidate} against {baseline} ({low} to {high})", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;
    use crate::result::{Metric, Timestamp, Verdict};

    const SECOND: Duration = Duration::from_secs(1);

    fn plan() -> Plan {
        let profile = "
version: 1
name: test
targets: {a: {null: {}}, b: {null: {}}}
workloads: {r: {rw: randread}, w: {rw: randwrite}}
sweep: {workloads.w.iodepth: [1, 32]}
run: {ramp_time: 0s, runtime: 1s, repeats: auto, budget: 90s}
compare: {precision: 2%}
";
        Plan::new(&Profile::parse("test.yaml", profile, &[]).expect("a profile")).expect("a plan")
    }

    /// A result with one comparison for each workload, undecided where its interval has a half width.
    fn result(plan: &Plan, widths: [Option<f64>; 3]) -> ResultFile {
        let mut result = ResultFile::new(plan.profile.clone(), Timestamp::now());
        for (workload, width) in plan.workloads.iter().zip(widths) {
            let ci = width.map_or([1.2, 1.5], |width| [1.0 / (1.0 + width), 1.0 + width]);
            result.comparisons.push(Comparison {
                workload: workload.name.clone(),
                settings: workload.settings.iter().cloned().collect(),
                job: String::new(),
                op: "write".to_owned(),
                metric: Metric::Iops,
                baseline: "a".to_owned(),
                candidate: "b".to_owned(),
                ratio: 1.0,
                ci,
                level: 0.95,
                p_value: 0.5,
                verdict: if width.is_some() { Verdict::Undecided } else { Verdict::Better },
            });
        }
        result
    }

    fn wanted(course: &Course<'_>) -> [bool; 3] {
        [0, 1, 2].map(|workload| course.wants(workload))
    }

    #[test]
    fn what_is_decided_or_precise_enough_is_not_repeated_any_more() {
        let plan = plan();
        let mut course = Course::new(&plan);
        let now = course.started;
        let open = result(&plan, [None, Some(0.019), Some(0.07)]);
        assert_eq!(
            (course.reach(0, &open, now), course.reach(2, &open, now)),
            (None, None),
            "no look is due"
        );
        assert_eq!(wanted(&course), [true; 3]);
        let look = course.reach(3, &open, now).expect("the first look");
        assert_eq!((look.open.len(), look.of), (1, 3));
        assert_eq!(
            look.text,
            "after 3 repeats 1 of 3 comparisons is open: w iodepth=32 write iops, b against a (0.935 to 1.070)"
        );
        assert_eq!(wanted(&course), [false, false, true]);
        let look = course.reach(4, &result(&plan, [None; 3]), now).expect("another look");
        assert_eq!(look.text, "after 4 repeats all 3 comparisons are decided");
        assert_eq!(wanted(&course), [false; 3]);
        assert_eq!(course.reach(5, &open, now), None, "it is over");
    }

    #[test]
    fn a_run_ends_before_the_repeat_that_would_take_longer_than_its_budget() {
        let plan = plan();
        let mut course = Course::new(&plan);
        let (open, start) = (result(&plan, [Some(0.1); 3]), course.started);
        assert_eq!(course.reach(1, &open, start + SECOND * 40), None);
        let line = course.reach(2, &open, start + SECOND * 70).expect("the next would end at 100 s").text;
        assert!(line.starts_with("after 2 repeats 3 of 3 comparisons are open: "), "{line}");
        assert!(line.ends_with("; no further one fits into the budget of 1m30s"), "{line}");
        assert_eq!(wanted(&course), [false; 3]);
    }

    #[test]
    fn numbers_for_people_are_rounded() {
        let mut plan = plan();
        plan.run.budget = Some(Duration::from_nanos(33_927_811_664));
        let mut result = result(&plan, [Some(0.1); 3]);
        result.comparisons[0].ci = [1e-9, 56_003_350_309.35];
        let mut course = Course::new(&plan);
        let line = course.reach(3, &result, course.started + SECOND * 30).expect("it is over").text;
        assert!(line.ends_with("; no further one fits into the budget of 34s"), "{line}");
        assert!(line.contains("b against a (<0.001 to >1000)"), "{line}");
    }

    #[test]
    fn a_workload_without_a_comparison_is_not_decided() {
        let plan = plan();
        let mut course = Course::new(&plan);
        let mut nothing = result(&plan, [None; 3]);
        nothing.comparisons.clear();
        let look = course.reach(3, &nothing, course.started).expect("the first look");
        assert_eq!(look.text, "after 3 repeats nothing can be compared yet");
        assert_eq!(wanted(&course), [true; 3]);
    }

    #[test]
    fn a_fixed_number_of_repeats_looks_at_nothing() {
        let mut plan = plan();
        (plan.run.until_decided, plan.run.budget) = (false, None);
        let mut course = Course::new(&plan);
        assert_eq!(course.reach(3, &result(&plan, [None; 3]), course.started + SECOND * 1000), None);
        assert_eq!(wanted(&course), [true; 3]);
    }

    #[test]
    fn a_fixed_number_of_repeats_may_have_a_budget() {
        let mut plan = plan();
        plan.run.until_decided = false;
        let mut course = Course::new(&plan);
        let (open, start) = (result(&plan, [Some(0.1); 3]), course.started);
        assert_eq!(course.reach(1, &open, start + SECOND * 40), None);
        assert_eq!(wanted(&course), [true; 3]);
        assert_eq!(course.reach(2, &open, start + SECOND * 70), None, "nothing to say");
        assert_eq!(wanted(&course), [false; 3], "the next would end at 100 s of 90");
    }
}
