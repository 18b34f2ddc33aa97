//! One trial: an arm opened afresh, ramp, clean caches, the measured window, the flush, everything read back.

use std::time::Duration;

use super::cache_figures::has_cache;
use super::held::{Held, Outcome, Setting};
use super::stage::{Driven, Stretch};
use super::watch::Watch;
use super::{Error, record};
use crate::report::Phase;
use crate::result::{Timestamp, Trial};

/// Runs one trial to its record. A trial whose load failed is a record too, as is one that the cluster disturbed; an
/// error is what ends the run.
///
/// # Errors
/// Of setting up; [`Error::Target`] with exit code 5 if the cluster is stuck; [`Error::Interrupted`].
pub(super) async fn run(setting: Setting<'_>, watch: &mut Watch) -> Result<Trial, Error> {
    let mut held = Held::open(setting).await?;
    watch.begin();
    let started = Timestamp::now();
    let mut measured = measure(&mut held).await;
    let findings = watch.end().await;
    if let Err(error) = measured {
        measured = Err(held.explain(error).await);
        findings.iter().for_each(|finding| held.stage().events.message(finding.text.clone()));
    }
    let about = held.close().await;
    Ok(record::trial(about, started, &measured?, &findings))
}

/// Ramp, flush, measured window, flush; the counters on both sides of it.
async fn measure(held: &mut Held<'_>) -> Result<Outcome, Error> {
    let (stage, workload) = (held.stage(), held.about.setting.workload);
    stage.events.phase(Phase::Ramp, workload.ramp_time);
    held.ramp().await?;
    let session = &mut held.session;
    let before = session.counters().await?;
    stage.events.phase(Phase::Measure, workload.runtime);
    let driven = stage.drive(session, Stretch::measured(workload.runtime)).await?;
    stage.events.phase(Phase::Drain, Duration::ZERO);
    let at_stop = if has_cache(&before) { Some(session.counters().await?) } else { None };
    let flush = held.flush().await?;
    let counters = [before, held.session.counters().await?];
    let Driven { tallies, series, cpu, peak_memory } = driven;
    // The load threads may have flushed already, by `end_fsync`.
    let drain = flush + tallies.iter().map(|tally| tally.end_sync).max().unwrap_or_default();
    Ok(Outcome { tallies, series, cpu, peak_memory, drain, counters, at_stop, slices: Vec::new() })
}
