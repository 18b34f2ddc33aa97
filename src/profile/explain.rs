//! serde's errors in a user's words.

use super::fio_words;
use super::nearest::nearest;

/// The longest list of alternatives that helps more than it hides.
const MAX_LISTED: usize = 12;

/// Says what serde said, with the nearest valid word and without names of Rust types.
pub(super) fn explain(message: &str) -> String {
    let words = quoted(message);
    match words.as_slice() {
        [key, valid @ ..] if message.starts_with("unknown field") => unknown_key(key, valid),
        [value, valid @ ..] if message.starts_with("unknown variant") => {
            format!("`{value}` is not {}{}", list(valid), did_you_mean(value, valid))
        }
        [key] if message.starts_with("missing field") => format!("`{key}` is missing"),
        _ => [("u64", "whole number"), ("u32", "whole number")]
            .iter()
            .fold(message.to_owned(), |text, (rust, plain)| {
                text.replace(&format!("expected {rust}"), &format!("expected a {plain}"))
            }),
    }
}

fn unknown_key(key: &str, valid: &[&str]) -> String {
    let hint = did_you_mean(key, valid);
    match fio_words::advice(key) {
        Some(advice) if hint.is_empty() && valid.contains(&"iodepth") => format!("unknown key; {advice}"),
        _ if hint.is_empty() && valid.len() <= MAX_LISTED => {
            format!("unknown key; it may be {}", list(valid))
        }
        _ => format!("unknown key{hint}"),
    }
}

fn did_you_mean(word: &str, valid: &[&str]) -> String {
    nearest(word, valid.iter().copied()).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

fn list(words: &[&str]) -> String {
    match words {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

/// The words that serde put in backquotes.
fn quoted(message: &str) -> Vec<&str> {
    message.split('`').skip(1).step_by(2).collect()
}
