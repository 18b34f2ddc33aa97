//! serde's errors in a user's words.

use super::fio_words;
use crate::nearest::nearest;

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
        _ => in_plain_words(message),
    }
}

/// What serde calls things, and what they are to whoever writes YAML.
const PLAIN_WORDS: [(&str, &str); 5] = [
    ("expected u64", "expected a whole number"),
    ("expected u32", "expected a whole number"),
    ("expected a boolean", "expected true or false"),
    ("expected a string", "expected a text; put it in quotes"),
    ("expected a sequence", "expected a list"),
];

fn in_plain_words(message: &str) -> String {
    // Every type of ours that is no word, number or list is a map in YAML.
    let message = message
        .split_once("expected struct ")
        .map_or(message.to_owned(), |(what, _)| format!("{what}expected a map"));
    PLAIN_WORDS.iter().fold(message, |text, (serde, plain)| text.replace(serde, plain))
}

fn unknown_key(key: &str, valid: &[&str]) -> String {
    let hint = did_you_mean(key, valid);
    match fio_words::advice(key) {
        Some(advice) if hint.is_empty() && valid.contains(&"iodepth") => format!("unknown key; {advice}"),
        _ if hint.is_empty() && valid.len() <= MAX_LISTED => {
            format!("unknown key; it may be {}", list(valid))
        }
        _ if hint.is_empty() => "unknown key; `cephmark schema profile` lists all keys".to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_names_the_nearest_one() {
        let message = explain("unknown field `iodepht`, expected one of `rw`, `bs`, `iodepth`");
        assert_eq!(message, "unknown key; did you mean `iodepth`?");
    }

    #[test]
    fn an_unknown_key_that_is_near_none_lists_them() {
        assert_eq!(
            explain("unknown field `x`, expected `path` or `size`"),
            "unknown key; it may be path or size"
        );
    }

    #[test]
    fn a_key_of_fio_says_what_to_write_instead() {
        let message = explain("unknown field `time_based`, expected one of `rw`, `bs`, `iodepth`");
        assert!(message.starts_with("unknown key; a trial always lasts for `runtime`"), "{message}");
    }

    #[test]
    fn names_of_rust_types_stay_out_of_it() {
        let message = explain("invalid value: integer `-1`, expected u32");
        assert_eq!(message, "invalid value: integer `-1`, expected a whole number");
        let message = explain("invalid type: integer `5`, expected struct Target");
        assert_eq!(message, "invalid type: integer `5`, expected a map");
    }
}
