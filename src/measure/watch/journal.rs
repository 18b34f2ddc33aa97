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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::look::tests::{look, osd, well};
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn found(journal: Journal, length: Duration) -> Vec<(&'static str, String)> {
        journal.findings(length).into_iter().map(|finding| (finding.trouble.code(), finding.text)).collect()
    }

    #[test]
    fn a_trial_in_peace_has_no_findings() {
        let mut journal = Journal::new(well());
        (0..5).for_each(|second| journal.note(SECOND * second, well()));
        assert_eq!(found(journal, SECOND * 5), []);
    }

    #[test]
    fn what_lasts_is_told_at_its_worst_with_its_time_and_what_happens_when_it_does() {
        let degraded = |count| {
            let pgs = [("active+clean", 8 - count), ("active+undersized", count)];
            look(&json!([osd(0, 1, 5), osd(1, 0, 6)]), "", &pgs)
        };
        let mut journal = Journal::new(well());
        journal.note(SECOND, well());
        for (second, count) in [(3, 0), (4, 2), (5, 8), (6, 1)] {
            journal.note(SECOND * second, degraded(count));
        }
        let expected = [
            ("osd_down", "osd.1 went down, 3 s into the trial".to_owned()),
            (
                "pgs_not_clean",
                "8 PGs of the tested pools in active+undersized, 4 to 6 s into the trial".to_owned(),
            ),
        ];
        assert_eq!(found(journal, SECOND * 7), expected);
    }

    #[test]
    fn a_rack_that_fails_is_one_finding() {
        let rack = |up| json!((0..40).map(|id| osd(id, up, 1)).collect::<Vec<_>>());
        let mut journal = Journal::new(look(&rack(1), "", &[]));
        journal.note(SECOND, look(&rack(0), "", &[]));
        let [(code, text)] = found(journal, SECOND).try_into().expect("one");
        assert_eq!(code, "osd_down");
        assert!(text.starts_with("osd.0 went down, 1 s into the trial; osd.1 "), "{text}");
        assert!(text.ends_with("; and 37 more"), "{text}");
    }

    #[test]
    fn silence_lasts_from_the_last_answer_to_the_next_or_to_the_end() {
        let text = |from_to: &str| {
            let text = format!("no answer from the monitors (it timed out), {from_to} s into the trial");
            [("watch_lost", text)]
        };
        let mut journal = Journal::new(well());
        journal.note(SECOND * 2, well());
        journal.no_answer("it timed out".to_owned());
        journal.note(SECOND * 8, well());
        assert_eq!(found(journal, SECOND * 9), text("2 to 8"));
        let mut journal = Journal::new(well());
        journal.no_answer("it timed out".to_owned());
        assert_eq!(found(journal, SECOND * 9), text("0 to 9"));
    }
}
