//! The cluster watched while load runs, on a connection of its own, and waited for before it does.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::Error;
use super::events::Events;
use crate::ceph::{self, Cluster, Role, within};
use crate::measure::{Finding, Journal, Look};
use crate::plan::Plan;
use crate::report::Phase;
use crate::target::connect;

/// From one look to the next.
const EVERY: Duration = Duration::from_secs(1);
/// How long the monitors may take for an answer; then the cluster is out of sight.
const ANSWER: Duration = Duration::from_secs(5);
/// How long the cluster is waited for before a trial.
const PATIENCE: Duration = Duration::from_secs(300);
/// For how many times `cluster.timeout` the monitors may be silent meanwhile: they may have to elect a leader.
const SILENCES: u32 = 4;
/// How long it must have been clean after something was the matter: what OSDs report takes up to two periods of 5 s until
/// the monitors tell it.
const SETTLE: Duration = Duration::from_secs(10);
/// From one line on what is waited for to the next.
const REMIND: Duration = Duration::from_secs(30);

/// Who watches the cluster.
#[derive(Debug)]
pub(super) struct Watch {
    /// None where no target uses a cluster.
    eye: Option<Eye>,
    last: Option<Look>,
    /// Something was the matter when it was last looked at.
    disturbed: bool,
    shift: Option<Shift>,
}

/// What looks need: a connection, and the pools that matter.
#[derive(Clone, Debug)]
struct Eye {
    cluster: Cluster,
    pools: Arc<[String]>,
}

/// A trial that is being watched.
#[derive(Debug)]
struct Shift {
    stop: CancellationToken,
    task: JoinHandle<(Journal, Duration)>,
    /// Ends the task with the run, should the trial not get to its end.
    _guard: DropGuard,
}

impl Watch {
    /// A watch on nothing.
    pub(super) const fn of_nothing() -> Self {
        Self { eye: None, last: None, disturbed: false, shift: None }
    }

    /// Connects.
    ///
    /// # Errors
    /// Of connecting.
    pub(super) async fn open(plan: &Plan, cancel: &CancellationToken) -> Result<Self, Error> {
        let answer = ("rados_mon_op_timeout".to_owned(), ANSWER.as_secs().to_string());
        let cluster = connect(&plan.cluster, Role::Admin, vec![answer], cancel).await?;
        let eye = Eye { cluster, pools: plan.pools().into() };
        Ok(Self { eye: Some(eye), ..Self::of_nothing() })
    }

    /// Waits until nothing is the matter with the cluster; no time at all where that was so before.
    ///
    /// # Errors
    /// [`Error::NotClean`] after five minutes; [`Error::Silent`] after four times `cluster.timeout` without an answer;
    /// [`Error::Interrupted`].
    pub(super) async fn wait_until_clean(
        &mut self,
        events: &Events,
        cancel: &CancellationToken,
    ) -> Result<(), Error> {
        let Some(eye) = self.eye.clone() else { return Ok(()) };
        let begin = Instant::now();
        let (mut waiting, mut clean_since, mut said) = (false, None, None::<Instant>);
        let mut heard = begin;
        loop {
            let obstacles = match self.obstacles(&eye).await {
                Ok(obstacles) => {
                    heard = Instant::now();
                    obstacles
                }
                Err(cause) if heard.elapsed() > eye.cluster.timeout() * SILENCES => {
                    return Err(Error::Silent { waited: heard.elapsed(), cause });
                }
                Err(error) => vec![error.to_string()],
            };
            if obstacles.is_empty() {
                let settle = if self.disturbed { SETTLE } else { Duration::ZERO };
                if clean_since.get_or_insert_with(Instant::now).elapsed() >= settle {
                    self.disturbed = false;
                    return Ok(());
                }
            } else {
                (clean_since, self.disturbed) = (None, true);
                if begin.elapsed() > PATIENCE {
                    return Err(Error::NotClean { waited: PATIENCE, obstacles: obstacles.join("; ") });
                }
                if said.is_none_or(|said| said.elapsed() > REMIND) {
                    said = Some(Instant::now());
                    events.message(format!("waiting for a clean cluster: {}", obstacles.join("; ")));
                }
            }
            if !std::mem::replace(&mut waiting, true) {
                events.phase(Phase::Wait, Duration::ZERO);
            }
            tokio::select! {
                () = sleep(EVERY) => {}
                () = cancel.cancelled() => return Err(Error::Interrupted),
            }
        }
    }

    /// Looks, and tells what keeps a trial from beginning.
    ///
    /// # Errors
    /// Of the monitors, such as that they did not answer.
    async fn obstacles(&mut self, eye: &Eye) -> Result<Vec<String>, ceph::Error> {
        let look = eye.look(self.last.as_ref()).await?;
        let events = self.last.as_ref().map(|last| look.events_since(last)).unwrap_or_default();
        // It takes a while until one sees what follows from it.
        self.disturbed |= !events.is_empty();
        let obstacles = look.obstacles();
        self.last = Some(look);
        Ok(obstacles)
    }

    /// Begins to watch a trial; the cluster was found clean before.
    pub(super) fn begin(&mut self) {
        let (Some(eye), Some(last)) = (self.eye.clone(), self.last.clone()) else { return };
        let stop = CancellationToken::new();
        let task = tokio::spawn(eye.watch(Journal::new(last), stop.clone()));
        self.shift = Some(Shift { _guard: stop.clone().drop_guard(), stop, task });
    }

    /// Ends what [`Self::begin`] began, with a last look. What was found, the worst first.
    pub(super) async fn end(&mut self) -> Vec<Finding> {
        let Some(Shift { stop, task, _guard }) = self.shift.take() else { return Vec::new() };
        stop.cancel();
        // It can't fail but by a bug of ours, which has been printed.
        let Ok((journal, length)) = task.await else { return Vec::new() };
        self.last = Some(journal.last().clone());
        let findings = journal.findings(length);
        self.disturbed |= findings.iter().any(|finding| finding.trouble.invalidates());
        findings
    }
}

impl Eye {
    /// Looks every second until `stop`, and once more then.
    async fn watch(self, mut journal: Journal, stop: CancellationToken) -> (Journal, Duration) {
        let begin = Instant::now();
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            let last = tokio::select! {
                _ = ticks.tick() => false,
                () = stop.cancelled() => true,
            };
            let look = self.look(Some(journal.last())).await;
            match look {
                Ok(look) => journal.note(begin.elapsed(), look),
                Err(error) => journal.no_answer(error.to_string()),
            }
            if last {
                return (journal, begin.elapsed());
            }
        }
    }

    async fn look(&self, before: Option<&Look>) -> Result<Look, ceph::Error> {
        let (Self { cluster, pools }, before) = (self.clone(), before.cloned());
        // A look is short, and ends by itself: it is not interrupted, which would leave its thread behind.
        let never = CancellationToken::new();
        within("looking at the cluster", ANSWER * 4, &never, move || {
            Look::take(&cluster, &pools, before.as_ref())
        })
        .await
    }
}
