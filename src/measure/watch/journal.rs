//! What a series of looks at the cluster amounts to over a trial.

use std::collections::BTreeMap;
use std::time::Duration;

use super::condition::Trouble;
use super::look::Look;

/// How many events of a kind are named.
const NAMED: usize = 3;

/// Something that a reader of the trial must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it was.
    pub trouble: Trouble,
    /// What it was and when, in words: "osd.3 went down, 12 s into the trial".
    pub text: String,
}

/// What was seen of the cluster during a trial. Times are from its begin.
#[derive(Debug)]
pub struct Journal {
    last: Look,
    answered_at: Duration,
    /// Why the last question had no answer.
    silence: Option<String>,
    /// By trouble, what happened; and of what lasted, how it was at its worst.
    found: BTreeMap<(Trouble, String), Spell>,
}

/// A stretch of time in which something was seen.
#[derive(Debug)]
struct Spell {
    from: Duration,
    until: Duration,
    extent: u64,
    text: String,
}

impl Journal {
    /// The journal of a trial before which the cluster looked like this.
    #[must_use]
    pub fn new(before: Look) -> Self {
        Self { last: before, answered_at: Duration::ZERO, silence: None, found: BTreeMap::new() }
    }

    /// The last look.
    #[must_use]
    pub fn last(&self) -> &Look {
        &self.last
    }

    /// Notes what a look saw.
    pub fn note(&mut self, at: Duration, look: Look) {
        self.end_silence(at);
        for (trouble, text) in look.events_since(&self.last) {
            self.add((trouble, text.clone()), at, 1, text);
        }
        for condition in look.conditions() {
            self.add((condition.trouble, String::new()), at, condition.extent, condition.text);
        }
        (self.last, self.answered_at) = (look, at);
    }

    /// Notes that the monitors gave no answer, and why.
    pub fn no_answer(&mut self, why: String) {
        self.silence.get_or_insert(why);
    }

    /// Everything found by the time of the trial's end, the worst first.
    #[must_use]
    pub fn findings(mut self, end: Duration) -> Vec<Finding> {
        self.end_silence(end);
        let mut findings: BTreeMap<Trouble, Vec<String>> = BTreeMap::new();
        for ((trouble, _), spell) in &self.found {
            findings.entry(*trouble).or_default().push(spell.to_string());
        }
        let finding = |(trouble, texts)| Finding { trouble, text: listed(texts) };
        findings.into_iter().map(finding).collect()
    }

    fn end_silence(&mut self, now: Duration) {
        if let Some(why) = self.silence.take() {
            let (from, text) = (self.answered_at, format!("no answer from the monitors ({why})"));
            let spell = Spell { from, until: now, extent: 1, text };
            self.found.entry((Trouble::WatchLost, String::new())).or_insert(spell).until = now;
        }
    }

    fn add(&mut self, key: (Trouble, String), at: Duration, extent: u64, text: String) {
        let new = || Spell { from: at, until: at, extent: 0, text: String::new() };
        let spell = self.found.entry(key).or_insert_with(new);
        spell.until = at;
        if extent > spell.extent {
            (spell.extent, spell.text) = (extent, text);
        }
    }
}

/// `osd.3 went down, 12 s into the trial`
impl std::fmt::Display for Spell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (from, until) = (self.from.as_secs_f64().round(), self.until.as_secs_f64().round());
        write!(f, "{}, {from}", self.text)?;
        if until > from {
            write!(f, " to {until}")?;
        }
        f.write_str(" s into the trial")
    }
}

fn listed(mut texts: Vec<String>) -> String {
    let more = texts.len().saturating_sub(NAMED);
    texts.truncate(NAMED);
    if more > 0 {
        texts.push(format!("and {more} more"));
    }
    texts.join("; ")
}
