//! The caller's side of a start: it may take ten seconds, and somebody waits.

/// Who is told of progress, and says when to stop.
pub struct Watcher<'a> {
    say: &'a (dyn Fn(&str) + Sync),
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> Watcher<'a> {
    /// `say` gets a line for each step; `stop` is asked every few milliseconds, from several threads.
    #[must_use]
    pub const fn new(say: &'a (dyn Fn(&str) + Sync), stop: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self { say, stop }
    }

    /// Hears nothing and never stops.
    #[must_use]
    pub const fn silent() -> Watcher<'static> {
        Watcher { say: &|_| {}, stop: &|| false }
    }

    pub(super) fn say(&self, line: &str) {
        (self.say)(line);
    }

    pub(super) fn stopped(&self) -> bool {
        (self.stop)()
    }
}
