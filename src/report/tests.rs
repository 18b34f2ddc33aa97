//! Every format, against the text that a person once judged by eye (`snapshots/`).

use super::fixture;
use super::{Detail, Layout, Palette, csv, json, markdown, text};
use crate::result::ResultFile;

fn plain(width: usize) -> Layout {
    Layout { width, palette: Palette::off(), detail: Detail::Unrepeated }
}

#[test]
fn the_text_of_a_run_with_repeats_in_140_columns() {
    insta::assert_snapshot!(text(&fixture::result(), plain(140)));
}

#[test]
fn the_text_of_a_run_with_repeats_folds_into_80_columns() {
    let text = text(&fixture::result(), plain(80));
    insta::assert_snapshot!(text);
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "too long: {line}");
    }
}

#[test]
fn a_single_trial_is_shown_as_fio_would() {
    insta::assert_snapshot!(text(&fixture::single(), plain(100)));
}

#[test]
fn every_trial_is_shown_when_asked_for() {
    let detailed = Layout { detail: Detail::Trials, ..plain(140) };
    let text = text(&fixture::result(), detailed);
    assert_eq!(text.matches(", valid\n").count(), 18);
    assert_eq!(text.matches(", INVALID\n").count(), 1);
}

#[test]
fn an_interrupted_run_says_how_far_it_got() {
    let mut result = fixture::result();
    result.trials.truncate(3);
    result.finished = None;
    let text = text(&result, plain(140));
    assert!(text.contains("15 trials of 18 planned did not run"), "{text}");
}

#[test]
fn a_result_without_any_trial_still_makes_a_report() {
    let mut result = fixture::result();
    result.trials.clear();
    result.comparisons.clear();
    assert!(text(&result, plain(80)).contains("0 of 18 trials valid"));
    assert_eq!(csv(&result).lines().count(), 1);
}

#[test]
fn colour_changes_nothing_but_the_colour() {
    let coloured = Layout { palette: Palette::on(), ..plain(100) };
    let text_in_colour = text(&fixture::result(), coloured);
    assert!(text_in_colour.contains("\u{1b}["));
    let mut bare = String::new();
    let mut within = false;
    for c in text_in_colour.chars() {
        match c {
            '\u{1b}' => within = true,
            'm' if within => within = false,
            _ if within => {}
            _ => bare.push(c),
        }
    }
    let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(trimmed(&bare), trimmed(&text(&fixture::result(), plain(100))));
}

#[test]
fn the_markdown_of_a_run() {
    insta::assert_snapshot!(markdown(&fixture::result(), Detail::Unrepeated));
}

#[test]
fn the_csv_has_a_row_for_each_trial_job_and_operation() {
    let text = csv(&fixture::result());
    // 13 write trials (one of them repeated) with one operation each, 6 mixed trials with three.
    assert_eq!(text.lines().count(), 1 + 13 + 6 * 3);
    insta::assert_snapshot!(text.lines().take(4).collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_json_is_the_result() {
    let result = fixture::result();
    let back: ResultFile = serde_json::from_str(&json(&result)).expect("it is JSON");
    assert_eq!(back, result);
}
