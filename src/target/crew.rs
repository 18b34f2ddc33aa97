//! The load threads of an arm: one driver each, told window by window what to do.
//!
//! The type of the lane ends here: a thread is monomorphic over its lane, and what stands above talks to every crew
//! alike, through two channels per thread.

use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use super::Error;
use crate::ceph::{self, within};
use crate::clock::Monotonic;
use crate::lane::Lane;
use crate::load::{Common, Driver, Window, prepare_thread};
use crate::measure::Tally;
use crate::plan::Job;

/// How much longer than its window and its stall limit a thread may take before it counts as stuck in a call.
const GRACE: Duration = Duration::from_secs(10);
/// How long a thread that came back from its window may take to end. A lane waits less for what it has in flight.
const END: Duration = Duration::from_secs(40);
/// How long one that did not come back may take.
const STUCK_END: Duration = Duration::from_secs(1);

/// The load threads of one arm.
#[derive(Debug, Default)]
pub(super) struct Crew {
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    job: usize,
    windows: UnboundedSender<Window>,
    tallies: UnboundedReceiver<Result<Tally, Error>>,
    /// It has not come back from the window that it was last sent into.
    is_away: bool,
    thread: JoinHandle<()>,
}

impl Crew {
    /// Starts a thread for each of the `numjobs` of each job; `lane` makes the lane of the thread with that number,
    /// counted over all jobs.
    ///
    /// # Errors
    /// [`Error::Thread`] if the system gives no thread.
    pub(super) fn start<L: Lane + 'static>(
        jobs: &[Job],
        commons: &[Common],
        mut lane: impl FnMut(usize, &Job) -> MakeLane<L>,
    ) -> Result<Self, Error> {
        let mut members = Vec::new();
        for (index, (job, common)) in jobs.iter().zip(commons).enumerate() {
            for number in 0..job.numjobs {
                let make_lane = lane(members.len(), job);
                let seat = Seat { job: job.clone(), number, common: common.clone() };
                members.push(Member::start(index, seat, make_lane)?);
            }
        }
        Ok(Self { members })
    }

    /// Runs one window on all threads, and gives the tally of each job once all of them are back.
    ///
    /// # Errors
    /// The first error of a thread; [`Error::LoadThreadStuck`] if one does not come back in time.
    pub(super) async fn run(&mut self, window: Window, jobs: usize) -> Result<Vec<Tally>, Error> {
        for member in &mut self.members {
            // A thread that is gone shows below, where its tally is missing.
            let _ = member.windows.send(window);
            member.is_away = true;
        }
        let limit = window.stop.saturating_duration_since(Instant::now()) + window.stall * 2 + GRACE;
        let deadline = tokio::time::Instant::now() + limit;
        let mut tallies: Vec<Option<Tally>> = (0..jobs).map(|_| None).collect();
        let mut failure = None;
        for member in &mut self.members {
            let answer = tokio::time::timeout_at(deadline, member.tallies.recv());
            let answer = answer.await.map_err(|_| Error::LoadThreadStuck { limit })?;
            member.is_away = false;
            match answer {
                Some(Ok(tally)) => match &mut tallies[member.job] {
                    Some(whole) => whole.merge(tally),
                    empty => *empty = Some(tally),
                },
                Some(Err(error)) => failure = failure.or(Some(error)),
                None => failure = failure.or(Some(Error::LoadThreadDied)),
            }
        }
        match failure {
            Some(error) => Err(error),
            None => Ok(tallies.into_iter().flatten().collect()),
        }
    }

    /// Ends the threads, which drain and drop their lanes.
    ///
    /// # Errors
    /// [`ceph::Error::Stuck`] if a thread is stuck within a call of the client: it is left behind, with all that it uses.
    pub(super) async fn end(self) -> Result<(), ceph::Error> {
        let limit = if self.members.iter().any(|member| member.is_away) { STUCK_END } else { END };
        // The channels go at once, which tells all threads to end before the first is waited for.
        let threads: Vec<_> = self.members.into_iter().map(|member| member.thread).collect();
        within("ending the load threads", limit, &CancellationToken::new(), move || {
            for thread in threads {
                // A panic of the thread was reported as a missing tally already.
                let _ = thread.join();
            }
            Ok(())
        })
        .await
    }
}

/// Makes the lane of a load thread, on that thread.
pub(super) type MakeLane<L> = Box<dyn FnOnce() -> Result<L, Error> + Send>;

/// What a load thread works with.
struct Seat {
    job: Job,
    number: u32,
    common: Common,
}

impl Member {
    fn start<L: Lane + 'static>(job: usize, seat: Seat, make_lane: MakeLane<L>) -> Result<Self, Error> {
        let (windows, orders) = unbounded_channel();
        let (answers, tallies) = unbounded_channel();
        let thread = thread::Builder::new()
            .name("load".to_owned())
            .spawn(move || work(&seat, make_lane, orders, &answers))
            .map_err(Error::Thread)?;
        Ok(Self { job, windows, tallies, is_away: false, thread })
    }
}

/// The life of a load thread. Its lane is made on it, for a lane wakes the thread that made it.
fn work<L: Lane>(
    seat: &Seat,
    make_lane: MakeLane<L>,
    mut orders: UnboundedReceiver<Window>,
    answers: &UnboundedSender<Result<Tally, Error>>,
) {
    let lane = prepare_thread(&seat.job).map_err(Error::from).and_then(|()| make_lane());
    let lane = match lane {
        Ok(lane) => lane,
        Err(error) => {
            let _ = answers.send(Err(error));
            return;
        }
    };
    let mut driver = Driver::new(lane, Monotonic::new(), &seat.job, seat.number, seat.common.clone());
    while let Some(window) = orders.blocking_recv() {
        let tally = driver.run(&window).map_err(Error::from);
        let failed = tally.is_err();
        if answers.send(tally).is_err() {
            break;
        }
        if failed {
            // What was waited for in vain within the window is not waited for once more.
            driver.finish().set_drain_deadline(Duration::ZERO);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::lane::{Done, Io, LaneError};
    use crate::measure::Series;
    use crate::plan::OnError;
    use crate::units::Bytes;

    /// A client whose calls never return.
    struct Silent;

    impl Lane for Silent {
        fn push(&mut self, _io: Box<Io>) {
            loop {
                thread::park();
            }
        }

        fn reap(&mut self, _until: Instant, _done: impl FnMut(Done)) -> Result<(), LaneError> {
            Ok(())
        }

        fn in_flight(&self) -> u32 {
            0
        }

        fn set_drain_deadline(&mut self, _deadline: Duration) {}
    }

    #[tokio::test]
    async fn a_thread_that_is_stuck_in_a_call_is_left_behind() {
        let job = Job { size: Bytes(4096), ..Job::default() };
        let no = || Arc::new(AtomicBool::new(false));
        let common =
            Common { images: 1, ledger: None, series: Arc::new(Series::new(1)), halt: no(), give_up: no() };
        let mut crew =
            Crew::start(&[job], &[common], |_, _| Box::new(|| Ok(Silent))).expect("a thread is to be had");
        let start = Instant::now();
        let window = Window {
            start,
            counted_from: start,
            stop: start + Duration::from_secs(1),
            measured: true,
            stall: Duration::from_secs(1),
            on_error: OnError::Stop,
        };
        // Nobody waits for as long as the crew would: a signal came.
        let ended = tokio::time::timeout(Duration::from_millis(50), crew.run(window, 1)).await;
        assert!(ended.is_err(), "{ended:?}");
        let error = crew.end().await.expect_err("the thread can't end");
        assert_eq!(error.exit(), crate::exit::Exit::Stuck, "{error}");
    }
}
