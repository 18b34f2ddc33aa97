//! Tools that all rules share: names, values without effect, warnings.

use crate::profile::{Document, Fault, Path};

/// Where rules find what was written, and leave what they have to say.
pub(super) struct Check<'a> {
    /// The profile with the settings of the arm or workload at hand.
    pub(super) document: &'a Document,
    /// The paths that vary.
    pub(super) swept: &'a [(String, String)],
    /// What the user should know.
    pub(super) warnings: &'a mut Vec<Fault>,
}

impl Check<'_> {
    /// Whether the user wrote this key.
    pub(super) fn written(&self, path: &Path) -> bool {
        self.document.get(path).is_some()
    }

    /// A fault at a key.
    pub(super) fn fault(&self, path: &Path, message: impl Into<String>) -> Fault {
        self.document.fault(path, message)
    }

    /// Refuses what is not so.
    pub(super) fn ensure(&self, holds: bool, path: &Path, message: impl Into<String>) -> Result<(), Fault> {
        if holds { Ok(()) } else { Err(self.fault(path, message)) }
    }

    /// Warns, once however many arms or workloads it is true of.
    pub(super) fn warn(&mut self, path: &Path, message: impl Into<String>) {
        let warning = self.fault(path, message);
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Says that a key that was written has no effect: a warning, but nothing to sweep over.
    pub(super) fn no_effect(&mut self, path: &Path, reason: &str) -> Result<(), Fault> {
        if self.swept.iter().any(|(swept, _)| *swept == path.to_string()) {
            return Err(self.fault(path, format!("a sweep over it shows nothing: it has no effect {reason}")));
        }
        if self.written(path) {
            self.warn(path, format!("has no effect {reason}"));
        }
        Ok(())
    }
}

/// Refuses names that could not be told apart in paths, arms and files.
pub(super) fn name(document: &Document, path: &Path, name: &str) -> Result<(), Fault> {
    let valid = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | '-');
    if !name.is_empty() && name.chars().all(valid) {
        return Ok(());
    }
    Err(document.fault(path, format!("the name `{name}` may hold only a-z, 0-9, `_` and `-`")))
}
