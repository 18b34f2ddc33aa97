//! The result itself.

use crate::result::ResultFile;

/// The result as `result.json` holds it.
#[must_use]
pub fn json(result: &ResultFile) -> String {
    let mut text =
        serde_json::to_string_pretty(result).expect("a result has text keys only, so it is valid JSON");
    text.push('\n');
    text
}
