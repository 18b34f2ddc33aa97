//! Where a run is, from its events.

use std::time::{Duration, Instant};

use crate::report::event::{Event, Look, Phase, Tick, TrialLine};
use crate::report::human::{self, Kind, digits};
use crate::result::Status;

/// Where a run is.
#[derive(Debug)]
pub(super) struct Board {
    trials: usize,
    at_most: bool,
    expected: Duration,
    /// What the phases that are over, and the one under way, were expected to take.
    promised: Duration,
    trial: Option<(usize, String)>,
    phase: Option<Stretch>,
    tick: Option<Tick>,
    /// What was found at the last look, of a run that repeats until it has decided.
    look: Option<Look>,
    started: Instant,
}

/// The phase under way.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    phase: Phase,
    since: Instant,
    expected: Duration,
}

impl Board {
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            trials: 0,
            at_most: false,
            expected: Duration::ZERO,
            promised: Duration::ZERO,
            trial: None,
            phase: None,
            tick: None,
            look: None,
            started: now,
        }
    }

    /// Notes an event; the line is one that the user should keep.
    pub(super) fn take(&mut self, event: Event, now: Instant) -> Option<String> {
        match event {
            Event::Run { trials, at_most, expected } => {
                if self.expected.is_zero() {
                    self.started = now;
                }
                (self.trials, self.at_most, self.expected) = (trials, at_most, expected);
                self.promised = Duration::ZERO;
            }
            Event::Trial { index, arm, workload } => self.trial = Some((index, format!("{arm} {workload}"))),
            Event::Phase(phase, expected) => {
                if matches!(phase, Phase::Create | Phase::CleanUp) {
                    self.trial = None;
                }
                self.promised += expected;
                self.phase = Some(Stretch { phase, since: now, expected });
                self.tick = None;
            }
            Event::Tick(tick) => self.tick = Some(tick),
            Event::TrialDone(trial) => {
                let line = format!("{}{}", self.count(), outcome(&trial));
                (self.trial, self.phase, self.tick) = (None, None, None);
                return Some(line);
            }
            Event::Look(look) => {
                let text = look.text.clone();
                self.look = Some(look);
                return Some(text);
            }
            Event::Message(text) => return Some(text),
        }
        None
    }

    /// When the phase under way began.
    pub(super) fn phase_since(&self) -> Option<Instant> {
        self.phase.map(|stretch| stretch.since)
    }

    /// `[3/30] librbd randread-4k: measuring 12s of 30s`
    pub(super) fn activity(&self, now: Instant) -> Option<String> {
        let Stretch { phase, since, expected } = self.phase?;
        let trial = self.trial.as_ref().map_or_else(String::new, |(_, name)| format!("{name}: "));
        let elapsed = human::clock(now - since);
        let of = if expected.is_zero() { String::new() } else { format!(" of {}", human::clock(expected)) };
        Some(format!("{}{trial}{} {elapsed}{of}", self.count(), phase.name()))
    }

    /// `12.3k IOPS, 48.0 MiB/s, p99 2.60 ms`
    pub(super) fn load(&self) -> Option<String> {
        self.tick.as_ref().map(load)
    }

    /// `1 of 4 comparisons open`
    pub(super) fn open(&self) -> Option<String> {
        let Look { open, of, .. } = self.look.as_ref()?;
        (*of > 0).then(|| format!("{} of {} open", open.len(), human::plural(*of, "comparison")))
    }

    /// The open comparisons, a line each as far as `lines` reach.
    pub(super) fn open_ones(&self, lines: usize) -> Vec<String> {
        let open = self.look.iter().flat_map(|look| &look.open);
        open.take(lines).map(|comparison| format!("open: {comparison}")).collect()
    }

    /// What is left of the run as far as it is known; nothing before it is.
    pub(super) fn left(&self, now: Instant) -> Option<Duration> {
        let of_phase =
            self.phase.map_or(Duration::ZERO, |phase| phase.expected.saturating_sub(now - phase.since));
        let left = self.expected.saturating_sub(self.promised) + of_phase;
        (!self.expected.is_zero()).then_some(left)
    }

    /// Time since the run began.
    pub(super) fn elapsed(&self, now: Instant) -> Duration {
        now - self.started
    }

    fn count(&self) -> String {
        let most = if self.at_most { "≤" } else { "" };
        let count = |(index, _): &(usize, String)| format!("[{}/{most}{}] ", index + 1, self.trials);
        self.trial.as_ref().map_or_else(String::new, count)
    }
}

fn load(tick: &Tick) -> String {
    let mib_per_s = digits(tick.bytes_per_s / human::MIB);
    let p99 =
        tick.p99.map_or_else(String::new, |p99| format!(", p99 {}", Kind::Seconds.one(p99.as_secs_f64())));
    format!("{} IOPS, {mib_per_s} MiB/s{p99}", Kind::Count.one(tick.iops))
}

fn outcome(trial: &TrialLine) -> String {
    let problem = trial.problem.as_ref().map_or_else(String::new, |problem| format!(" ({problem})"));
    let status = match trial.status {
        Status::Valid => String::new(),
        Status::Invalid => "INVALID, ".to_owned(),
        Status::Failed => "FAILED, ".to_owned(),
    };
    format!("{} {}: {status}{}{problem}", trial.arm, trial.workload, load(&trial.load))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    #[test]
    fn what_is_left_counts_down_within_a_phase_and_waits_for_one_that_takes_longer() {
        let start = Instant::now();
        let mut board = Board::new(start);
        assert_eq!(board.left(start), None, "before the plan is known");
        board.take(Event::Run { trials: 2, at_most: false, expected: second(70) }, start);
        assert_eq!(board.left(start), Some(second(70)));
        board.take(Event::Phase(Phase::Ramp, second(5)), start);
        assert_eq!(board.left(start + second(2)), Some(second(68)));
        assert_eq!(board.left(start + second(9)), Some(second(65)));
        board.take(Event::Phase(Phase::Measure, second(30)), start + second(9));
        assert_eq!(board.left(start + second(9)), Some(second(65)));
        assert_eq!(board.left(start + second(19)), Some(second(55)));
    }

    #[test]
    fn comparisons_that_are_open_are_kept_in_sight() {
        let mut board = Board::new(Instant::now());
        assert_eq!((board.open(), board.open_ones(3)), (None, vec![]));
        let open =
            ["w iops, b against a (0.93 to 1.07)", "w p99, b against a (0.8 to 1.2)"].map(str::to_owned);
        let look = Look { open: open.into(), of: 3, text: "after 3 repeats".to_owned() };
        assert_eq!(board.take(Event::Look(look), Instant::now()).as_deref(), Some("after 3 repeats"));
        assert_eq!(board.open().as_deref(), Some("2 of 3 comparisons open"));
        assert_eq!(board.open_ones(1), ["open: w iops, b against a (0.93 to 1.07)"]);
    }

    #[test]
    fn a_trial_is_named_with_its_phase_and_its_load() {
        let start = Instant::now();
        let mut board = Board::new(start);
        board.take(Event::Run { trials: 30, at_most: false, expected: second(70) }, start);
        let trial = Event::Trial { index: 2, arm: "librbd".to_owned(), workload: "randread-4k".to_owned() };
        assert_eq!(board.take(trial, start), None);
        board.take(Event::Phase(Phase::Measure, second(30)), start);
        let activity = board.activity(start + second(12));
        assert_eq!(activity.as_deref(), Some("[3/30] librbd randread-4k: measuring 12s of 30s"));
        let load =
            Tick { iops: 12_300.0, bytes_per_s: 48.0 * human::MIB, p99: Some(Duration::from_micros(2600)) };
        board.take(Event::Tick(load), start);
        assert_eq!(board.load().as_deref(), Some("12.3k IOPS, 48.0 MiB/s, p99 2.60 ms"));
        let done = TrialLine {
            arm: "librbd".to_owned(),
            workload: "randread-4k".to_owned(),
            status: Status::Invalid,
            load,
            problem: Some("osd.3 went down".to_owned()),
        };
        let line = board.take(Event::TrialDone(done), start).expect("the end of a trial is worth a line");
        let text =
            "[3/30] librbd randread-4k: INVALID, 12.3k IOPS, 48.0 MiB/s, p99 2.60 ms (osd.3 went down)";
        assert_eq!(line, text);
    }
}
