//! Features of an image, by the names that `rbd` uses.

use std::fmt;
use std::str::FromStr;

use super::Error;
use crate::nearest::nearest;

/// A set of image features; written as `layering,exclusive-lock`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features(u64);

const NAMES: [(&str, u32); 12] = [
    ("layering", ceph_sys::rbd::RBD_FEATURE_LAYERING),
    ("striping", ceph_sys::rbd::RBD_FEATURE_STRIPINGV2),
    ("exclusive-lock", ceph_sys::rbd::RBD_FEATURE_EXCLUSIVE_LOCK),
    ("object-map", ceph_sys::rbd::RBD_FEATURE_OBJECT_MAP),
    ("fast-diff", ceph_sys::rbd::RBD_FEATURE_FAST_DIFF),
    ("deep-flatten", ceph_sys::rbd::RBD_FEATURE_DEEP_FLATTEN),
    ("journaling", ceph_sys::rbd::RBD_FEATURE_JOURNALING),
    ("data-pool", ceph_sys::rbd::RBD_FEATURE_DATA_POOL),
    ("operations", ceph_sys::rbd::RBD_FEATURE_OPERATIONS),
    ("migrating", ceph_sys::rbd::RBD_FEATURE_MIGRATING),
    ("non-primary", ceph_sys::rbd::RBD_FEATURE_NON_PRIMARY),
    ("dirty-cache", ceph_sys::rbd::RBD_FEATURE_DIRTY_CACHE),
];

impl Features {
    /// The set of these bits, as C has it.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The bits, as C has them.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether all of `other` are in this set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The set without those of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The set with `name` added.
    fn with(self, name: &str) -> Result<Self, Error> {
        let found = NAMES.iter().find(|(known, _)| *known == name);
        let (_, bit) = found.ok_or_else(|| Error::UnknownFeature {
            feature: name.to_owned(),
            nearest: nearest(name, NAMES.iter().map(|(known, _)| *known)).map(str::to_owned),
        })?;
        Ok(Self(self.0 | u64::from(*bit)))
    }
}

impl FromStr for Features {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        names.try_fold(Self::default(), Self::with)
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = NAMES.iter().filter(|(_, bit)| self.0 & u64::from(*bit) != 0).map(|(name, _)| *name);
        f.write_str(&names.collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_written_as_rbd_writes_them() {
        let features: Features = "layering, exclusive-lock,object-map".parse().expect("known names");
        assert_eq!(features.bits(), 1 | 4 | 8);
        assert_eq!(features.to_string(), "layering,exclusive-lock,object-map");
        assert!(features.contains("object-map".parse().expect("a known name")));
        assert!(!features.contains("fast-diff".parse().expect("a known name")));
    }

    #[test]
    fn a_typo_names_the_feature_that_was_meant() {
        let error = "layering,object_map".parse::<Features>().expect_err("an underscore");
        assert_eq!(error.to_string(), "there is no RBD feature `object_map`; did you mean `object-map`?");
    }
}
