//! Trials of one workload whose arms alternate: all held open at once, each under load for a slice in every round.
//!
//! What drifts more slowly than a round is shared by all arms of it. Clients, caches and connections stay as they are from
//! one slice to the next; the begin of a slice, in which queues fill again, does not count; its end is a flush, so that
//! what an arm has cached is paid for by that arm.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

use super::held::{Held, Outcome, Setting};
use super::stage::{Driven, Stretch};
use super::watch::Watch;
use super::{Error, record};
use crate::measure::{Second, Tally};
use crate::plan::{BlockOrders, OnError, Slicing};
use crate::report::Phase;
use crate::result::{Timestamp, Trial};

/// Runs one trial of each arm to their records.
///
/// # Errors
/// As those of a single trial.
pub(super) async fn run(settings: Vec<Setting<'_>>, watch: &mut Watch) -> Result<Vec<Trial>, Error> {
    let mut arms = open(settings).await?;
    watch.begin();
    let started = Timestamp::now();
    let mut measured = measure(&mut arms).await;
    let findings = watch.end().await;
    if let Err((arm, error)) = measured {
        measured = Err((arm, arms[arm].explain(error).await));
        findings.iter().for_each(|finding| arms[arm].stage().events.message(finding.text.clone()));
    }
    let mut trials = Vec::new();
    let mut outcomes = measured.map_err(|(_, error)| error).map(Vec::into_iter);
    for held in arms {
        let about = held.close().await;
        if let Ok(Some(outcome)) = outcomes.as_mut().map(Iterator::next) {
            trials.push(record::trial(about, started, &outcome, &findings));
        }
    }
    outcomes?;
    Ok(trials)
}

/// Opens all arms, or none.
async fn open(settings: Vec<Setting<'_>>) -> Result<Vec<Held<'_>>, Error> {
    let mut arms = Vec::new();
    for setting in settings {
        match Held::open(setting).await {
            Ok(held) => arms.push(held),
            Err(error) => {
                for held in arms {
                    held.close().await;
                }
                return Err(error);
            }
        }
    }
    Ok(arms)
}

/// An error, and the arm that it is of.
type ArmError = (usize, Error);

/// A ramp of each arm, then rounds of slices.
async fn measure(arms: &mut [Held<'_>]) -> Result<Vec<Outcome>, ArmError> {
    let (stage, count) = (arms[0].stage(), arms.len() as u32);
    let Setting { workload, repeat, .. } = arms[0].about.setting;
    stage.events.phase(Phase::Ramp, workload.ramp_time * count);
    for (index, held) in arms.iter_mut().enumerate() {
        held.ramp().await.map_err(|error| (index, error))?;
    }
    let before = counters(arms).await?;
    stage.events.phase(Phase::Measure, workload.runtime * count);
    let slicing = workload.slicing(stage.run.slice);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(stage.run.seed ^ u64::from(repeat));
    let mut orders = BlockOrders::new(arms.len());
    let mut sums: Vec<Option<Outcome>> = arms.iter().map(|_| None).collect();
    let origin = Instant::now();
    for round in 0..slicing.rounds {
        for arm in orders.draw(&mut random) {
            let outcome =
                slice(&mut arms[arm], slicing, round, origin).await.map_err(|error| (arm, error))?;
            match &mut sums[arm] {
                Some(sum) => sum.append(outcome),
                sum @ None => *sum = Some(outcome),
            }
        }
        let failed = |outcome: &Outcome| outcome.tallies.iter().any(|tally| tally.failure.is_some());
        if stage.run.on_error == OnError::Stop && sums.iter().flatten().any(failed) {
            break;
        }
    }
    let after = counters(arms).await?;
    let counters = before.into_iter().zip(after).map(|(before, after)| [before, after]);
    Ok(sums.into_iter().flatten().zip(counters).map(|(sum, counters)| Outcome { counters, ..sum }).collect())
}

async fn counters(arms: &[Held<'_>]) -> Result<Vec<BTreeMap<String, Value>>, ArmError> {
    let mut found = Vec::new();
    for (index, held) in arms.iter().enumerate() {
        found.push(held.session.counters().await.map_err(|error| (index, error.into()))?);
    }
    Ok(found)
}

/// One slice of one arm, closed by its flush.
async fn slice(held: &mut Held<'_>, slicing: Slicing, round: u32, origin: Instant) -> Result<Outcome, Error> {
    let stage = held.stage();
    let Slicing { length, edge, .. } = slicing;
    let begin = origin.elapsed();
    let driven = stage.drive(&mut held.session, Stretch { length, edge, measured: true }).await?;
    let drain = held.flush().await?;
    let Driven { tallies, series, cpu, peak_memory } = driven;
    let series = series.into_iter().map(|seconds| moved(seconds, begin + edge)).collect();
    let mut outcome = Outcome {
        tallies,
        series,
        cpu,
        peak_memory,
        drain,
        counters: Default::default(),
        at_stop: None,
        slices: Vec::new(),
    };
    outcome.slices.push(record::slice(&held.about.setting, &outcome, round, begin));
    Ok(outcome)
}

/// Seconds on the clock of all slices.
fn moved(seconds: Vec<Second>, begin: Duration) -> Vec<Second> {
    seconds.into_iter().map(|second| Second { at: second.at + begin, ..second }).collect()
}

impl Outcome {
    /// Adds the slice after.
    fn append(&mut self, next: Self) {
        self.tallies.iter_mut().zip(next.tallies).for_each(|(sum, tally): (&mut Tally, _)| sum.append(tally));
        self.series.iter_mut().zip(next.series).for_each(|(sum, seconds)| sum.extend(seconds));
        self.cpu += next.cpu;
        self.peak_memory = self.peak_memory.max(next.peak_memory);
        self.drain += next.drain;
        self.slices.extend(next.slices);
    }
}
