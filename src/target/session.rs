//! One arm held open for load: its clients and its load threads.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Error;
use super::crew::Crew;
use super::librbd::Clients;
use super::medium::Opened;
use crate::lane::{Aio, KernelLane, LibrbdLane, NullLane, Uring};
use crate::load::{Common, Ledger, Window};
use crate::measure::{Series, Tally};
use crate::plan::{Arm, Engine, Job};

/// One arm held open for load.
#[derive(Debug)]
pub struct Session {
    crew: Crew,
    opened: Opened,
    jobs: Vec<Job>,
    series: Vec<Arc<Series>>,
    halt: Arc<AtomicBool>,
    give_up: Arc<AtomicBool>,
}

impl Session {
    /// Starts the load threads of an arm over what is open of it.
    ///
    /// # Errors
    /// [`Error::Thread`] if the system gives no thread.
    pub fn start(
        arm: &Arm,
        opened: Opened,
        jobs: Vec<Job>,
        ledger: Option<Arc<Ledger>>,
    ) -> Result<Self, Error> {
        let (halt, give_up) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let series: Vec<_> = jobs.iter().map(|job| Arc::new(Series::new(job.numjobs))).collect();
        let common = |series: &Arc<Series>| Common {
            images: arm.images(),
            ledger: ledger.clone(),
            series: Arc::clone(series),
            halt: Arc::clone(&halt),
            give_up: Arc::clone(&give_up),
        };
        let commons: Vec<_> = series.iter().map(common).collect();
        // The one place where an arm becomes a lane; all below is monomorphic.
        let crew = match (&opened, opened.files()) {
            (Opened::Images(clients), _) => Crew::start(&jobs, &commons, |thread, job| {
                let (images, depth) = (clients.images_of(thread), job.iodepth);
                Box::new(move || Ok(LibrbdLane::new(images, depth)?))
            }),
            (_, Some(files)) if files.engine() == Engine::IoUring => {
                Crew::start(&jobs, &commons, |thread, job| {
                    let (files, depth) = (files.files_of(thread), job.iodepth);
                    Box::new(move || Ok(KernelLane::<Uring>::new(files, depth)?))
                })
            }
            (_, Some(files)) => Crew::start(&jobs, &commons, |thread, job| {
                let (files, depth) = (files.files_of(thread), job.iodepth);
                Box::new(move || Ok(KernelLane::<Aio>::new(files, depth)?))
            }),
            (_, None) => Crew::start(&jobs, &commons, |_, job| {
                let depth = job.iodepth;
                Box::new(move || Ok(NullLane::new(depth)))
            }),
        }?;
        Ok(Self { crew, opened, jobs, series, halt, give_up })
    }

    /// The jobs, in the order of the tallies.
    #[must_use]
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// The seconds of each job.
    #[must_use]
    pub fn series(&self) -> &[Arc<Series>] {
        &self.series
    }

    /// Set to true it makes every thread stop sending, drain, and come back with what it has.
    #[must_use]
    pub fn halt(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.halt)
    }

    /// Set to true it makes every thread give up what is in flight, and end as if the cluster was stuck.
    #[must_use]
    pub fn give_up(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.give_up)
    }

    /// librbd's clients, if it is what does the I/O.
    #[must_use]
    pub const fn clients(&self) -> Option<&Clients> {
        match &self.opened {
            Opened::Images(clients) => Some(clients),
            Opened::Mapped(_) | Opened::Files(_) | Opened::Null => None,
        }
    }

    /// Runs one window on all threads; a tally for each job.
    ///
    /// # Errors
    /// Of the first thread that fails.
    pub async fn run(&mut self, window: Window) -> Result<Vec<Tally>, Error> {
        self.crew.run(window, self.jobs.len()).await
    }

    /// Ends the load threads, and starts those of other jobs over what is open.
    ///
    /// # Errors
    /// [`crate::ceph::Error::Stuck`] if one is stuck in a call; [`Error::Thread`] if the system gives no thread.
    pub async fn change_jobs(
        &mut self,
        arm: &Arm,
        jobs: Vec<Job>,
        ledger: Option<Arc<Ledger>>,
    ) -> Result<(), Error> {
        mem::take(&mut self.crew).end().await?;
        let opened = mem::replace(&mut self.opened, Opened::Null);
        *self = Self::start(arm, opened, jobs, ledger)?;
        Ok(())
    }

    /// Makes durable what the clients hold, and tells how long that took.
    ///
    /// # Errors
    /// Of the flush, or [`crate::ceph::Error::Stuck`] after `limit`.
    pub async fn flush(&self, limit: Duration) -> Result<Duration, Error> {
        let begin = Instant::now();
        self.opened.flush(limit).await?;
        Ok(begin.elapsed())
    }

    /// Drops what the clients have cached, after writing back what is dirty.
    ///
    /// # Errors
    /// Of any image, or [`crate::ceph::Error::Stuck`] after `limit`.
    pub async fn invalidate(&self, limit: Duration) -> Result<(), Error> {
        match self.clients() {
            Some(clients) => Ok(clients.invalidate(limit).await?),
            None => Ok(()),
        }
    }

    /// The clients' performance counters.
    ///
    /// # Errors
    /// If a client does not answer.
    pub async fn counters(&self) -> Result<BTreeMap<String, Value>, Error> {
        self.opened.counters().await
    }

    /// Ends the load threads, closes and disconnects. After a stalled window this takes up to the lanes' and the
    /// connection's deadlines, and leaves behind what never came back.
    ///
    /// # Errors
    /// Of closing; [`crate::ceph::Error::Stuck`] if a thread is stuck in a call, and stays with what it uses.
    pub async fn end(self) -> Result<(), Error> {
        let ended = self.crew.end().await;
        let closed = self.opened.close().await;
        Ok(ended?).and(closed)
    }
}
