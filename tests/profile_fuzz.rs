//! Whatever a file holds, the user gets a plan or a line that says what is wrong: never a panic.

use cephmark::plan::Plan;
use cephmark::profile::Profile;
use proptest::prelude::*;

const SEEDS: [&str; 2] = [include_str!("../configs/smoke.yaml"), include_str!("../configs/rbd-4k.yaml")];

/// Pieces that profiles are made of, and some that they must not hold.
const PIECES: [&str; 24] = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ": ",
    ",",
    "\n",
    "\n  ",
    "- ",
    "'",
    "\"",
    "#",
    "&a ",
    "*a",
    "!t ",
    "|",
    "~",
    "0",
    "-1",
    "1e999",
    "18446744073709551615",
    "zip",
    "\u{85}",
];

proptest! {
    #[test]
    fn a_damaged_profile_is_planned_or_refused(
        seed in 0..SEEDS.len(),
        edits in prop::collection::vec((0.0..1.0f64, 0..12usize, 0..PIECES.len()), 1..4),
    ) {
        let mut text: Vec<char> = SEEDS[seed].chars().collect();
        for (place, length, piece) in edits {
            let start = (place * text.len() as f64) as usize;
            let end = (start + length).min(text.len());
            text.splice(start..end, PIECES[piece].chars());
        }
        let text: String = text.into_iter().collect();
        match Profile::parse("p.yaml", &text, &[]).and_then(|loaded| Plan::new(&loaded)) {
            Ok(plan) => prop_assert!(!plan.render().is_empty()),
            Err(fault) => prop_assert!(fault.to_string().starts_with("p.yaml:"), "{fault}"),
        }
    }
}
