//! Which RBD images an arm's I/O goes to, by their names.

use crate::ceph::View;
use crate::plan::ExistingImage;

/// The images of an arm, and whether they are opened to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageSet {
    /// The pool.
    pub pool: String,
    /// The namespace within it, if it is not the default one.
    pub namespace: Option<String>,
    /// The images' names.
    pub names: Vec<String>,
    /// The snapshot to open instead of the head.
    pub snapshot: Option<String>,
    /// Open them to be written.
    pub writable: bool,
}

impl ImageSet {
    /// An image that exists, to be read.
    #[must_use]
    pub fn existing(existing: &ExistingImage) -> Self {
        Self {
            pool: existing.pool.clone(),
            namespace: (!existing.namespace.is_empty()).then(|| existing.namespace.clone()),
            names: vec![existing.image.clone()],
            snapshot: existing.snapshot.clone(),
            writable: false,
        }
    }

    /// The first image: `POOL/[NAMESPACE/]IMAGE`.
    #[must_use]
    pub fn first_name(&self) -> String {
        let (pool, image) = (&self.pool, &self.names[0]);
        match &self.namespace {
            Some(namespace) => format!("{pool}/{namespace}/{image}"),
            None => format!("{pool}/{image}"),
        }
    }

    /// How they are opened.
    pub(super) fn view(&self) -> View<'_> {
        match (&self.snapshot, self.writable) {
            (Some(snapshot), _) => View::Snapshot(snapshot),
            (None, true) => View::Write,
            (None, false) => View::Read,
        }
    }
}
