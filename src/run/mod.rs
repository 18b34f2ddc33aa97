//! A run: ties plan, targets, load loop and result together. `tokio` carries this control side and nothing else.

mod bench;
mod cache_figures;
mod caches;
mod campaign;
mod clean;
mod cluster;
mod course;
mod error;
mod events;
mod fairness;
mod fill;
mod held;
mod id;
mod interrupt;
mod judge;
mod outlook;
mod paths;
mod preflight;
mod ready;
mod record;
mod resume;
mod sliced;
mod stage;
mod trial;
mod watch;

use std::path::Path;

use tokio_util::sync::CancellationToken;

pub use bench::Bench;
pub use clean::{Leftover, find_left_mappings, find_leftovers, remove_leftover};
pub use error::Error;
pub use events::Events;
pub use interrupt::listen;
pub use outlook::look as look_ahead;
pub use preflight::{connect, needs_cluster, options as check_options};
pub use ready::Ready;
pub use resume::{is_complete, plan_of};

use crate::exit::Exit;
use crate::plan::{Order, Plan};
use crate::report::Event;
use crate::result::{self, Problem, ResultDirectory, ResultFile, Timestamp};

/// Runs a plan: what `cephmark run` does between reading the profile and printing the report.
///
/// # Errors
/// What kept the run from beginning. What ended it later is in the inner result, next to all trials that were over;
/// without any, nothing is left in the directory either.
pub async fn run(
    plan: &Plan,
    out: Option<&Path>,
    events: &Events,
    cancel: &CancellationToken,
) -> Result<(ResultFile, Result<Exit, Error>, ResultDirectory), Error> {
    let started = Timestamp::now();
    let directory = ResultDirectory::prepare(out, &plan.name, started)?;
    let ran = run_into(plan, &directory, None, started, events, cancel).await;
    if ran.as_ref().map_or(true, |(result, _)| result.trials.is_empty()) {
        directory.discard();
    }
    let (result, outcome) = ran?;
    Ok((result, outcome, directory))
}

/// Goes on with an interrupted run, which left this result of a plan in a directory: what `cephmark run --resume` does.
///
/// # Errors
/// As those of [`run`]; the result so far stays whatever happens.
pub async fn resume(
    plan: &Plan,
    so_far: ResultFile,
    directory: &Path,
    events: &Events,
    cancel: &CancellationToken,
) -> Result<(ResultFile, Result<Exit, Error>, ResultDirectory), Error> {
    let directory = ResultDirectory::reopen(directory)?;
    let ran = run_into(plan, &directory, Some(so_far), Timestamp::now(), events, cancel).await;
    let (result, outcome) = ran?;
    Ok((result, outcome, directory))
}

/// As [`run`], into a directory that is there, and going on with what there is so far.
async fn run_into(
    plan: &Plan,
    directory: &ResultDirectory,
    so_far: Option<ResultFile>,
    started: Timestamp,
    events: &Events,
    cancel: &CancellationToken,
) -> Result<(ResultFile, Result<Exit, Error>), Error> {
    let mut bench = Bench::open(plan, cancel).await?;
    let (fresh, resumes) = (bench.result(plan, started), so_far.is_some());
    let result = so_far.map_or(Ok(fresh.clone()), |so_far| resume::reopen(so_far, &fresh))?;
    events.send(Event::Run {
        trials: plan.trials.len(),
        at_most: plan.run.until_decided,
        expected: plan.needs.duration,
    });
    let campaign = campaign::Campaign::new(plan, &mut bench, result, directory, events, cancel);
    let campaign = if resumes { campaign.resuming() } else { campaign };
    Ok(campaign.run_and_clean_up().await)
}

/// Writes down what is known before the first trial.
fn describe(plan: &Plan, result: &mut ResultFile) {
    result.most_repeats = plan.run.until_decided.then_some(plan.run.repeats);
    result.seed = plan.run.seed;
    result.order = match plan.run.order {
        Order::Interleaved => result::Order::Interleaved,
        Order::Sliced => result::Order::Sliced,
        Order::Sequential => result::Order::Sequential,
    };
    result.labels = plan.labels.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    let warnings =
        plan.warnings.iter().map(|fault| Problem { code: "plan".to_owned(), text: fault.to_string() });
    result.notes.extend(warnings);
}
