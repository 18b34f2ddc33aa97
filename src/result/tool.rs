//! Provenance of a result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The build that wrote a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Version of cephmark, or for an imported result the tool that measured it, such as `fio-3.33`.
    pub version: String,
    /// Commit it was built from, with `-dirty` where the tree had changes; "unknown" outside of a checkout.
    #[serde(default)]
    pub commit: String,
}

impl Tool {
    /// This very build.
    #[must_use]
    pub fn this() -> Self {
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), commit: env!("CEPHMARK_COMMIT").to_owned() }
    }
}
