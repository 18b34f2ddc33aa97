//! What a run tells while it goes on.

use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

/// A part of a run that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Images are created.
    Create,
    /// Images are filled.
    Fill,
    /// Clients connect and open.
    Open,
    /// Load that is not measured.
    Ramp,
    /// Load that is.
    Measure,
    /// Caches are flushed.
    Drain,
    /// Images are removed.
    CleanUp,
}

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// A phase began, which is to take this long, as far as that is known.
    Phase(Phase, Duration),
    /// Message.
    Message(String),
}

/// Where a run tells what it does; nobody needs to listen.
#[derive(Clone, Debug)]
pub struct Events(Option<UnboundedSender<Event>>);

impl Events {
    /// Events for a listener.
    #[must_use]
    pub const fn to(listener: UnboundedSender<Event>) -> Self {
        Self(Some(listener))
    }

    /// Events for nobody.
    #[must_use]
    pub const fn unheard() -> Self {
        Self(None)
    }

    /// Tells one.
    pub fn send(&self, event: Event) {
        if let Some(listener) = &self.0 {
            // A listener that is gone does not keep the run from going on.
            let _ = listener.send(event);
        }
    }

    /// A phase began.
    pub fn phase(&self, phase: Phase, expected: Duration) {
        self.send(Event::Phase(phase, expected));
    }

    /// Something the user should read now.
    pub fn message(&self, text: String) {
        self.send(Event::Message(text));
    }
}
