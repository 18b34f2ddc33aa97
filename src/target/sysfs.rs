//! Attributes that the kernel shows as files.

use std::fs;
use std::path::Path;

/// What an attribute holds; `None` if there is none, or not for this process.
pub(super) fn attribute(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim_end().to_owned())
}
