//! What a run tells while it goes on.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use crate::measure::{Second, Series};
use crate::report::{Event, Phase, Tick};

/// Where a run tells what it does; nobody needs to listen.
#[derive(Clone, Debug)]
pub struct Events(UnboundedSender<Event>);

impl Events {
    /// Events for a listener.
    #[must_use]
    pub const fn to(listener: UnboundedSender<Event>) -> Self {
        Self(listener)
    }

    /// Tells one.
    pub fn send(&self, event: Event) {
        // A listener that is gone does not keep the run from going on.
        let _ = self.0.send(event);
    }

    /// A phase began.
    pub fn phase(&self, phase: Phase, expected: Duration) {
        self.send(Event::Phase(phase, expected));
    }

    /// The last second of all jobs.
    pub fn tick(&self, series: &[Arc<Series>]) {
        let seconds: Vec<_> = series.iter().filter_map(|of_job| of_job.latest()).collect();
        let sum = |of: fn(&Second) -> u64| -> f64 {
            seconds.iter().map(|second| of(second) as f64 / second.length.as_secs_f64()).sum()
        };
        if !seconds.is_empty() {
            let p99 = seconds.iter().map(Second::p99).max();
            self.send(Event::Tick(Tick { iops: sum(Second::ios), bytes_per_s: sum(Second::bytes), p99 }));
        }
    }

    /// Something the user should read now.
    pub fn message(&self, text: String) {
        self.send(Event::Message(text));
    }
}
