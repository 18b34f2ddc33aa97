//! Names of options of Ceph's clients that may have been meant.

use crate::nearest::nearest;

/// The option of Ceph's clients whose name is nearest to `name`, if one is near enough to have been meant.
#[must_use]
pub fn nearest_option(name: &str) -> Option<&'static str> {
    nearest(name, include_str!("options.txt").lines())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_the_option_that_was_meant() {
        assert_eq!(nearest_option("rbd_cach_size"), Some("rbd_cache_size"));
        assert_eq!(nearest_option("rbd cache max-dirty"), Some("rbd_cache_max_dirty"));
        assert_eq!(nearest_option("objecter_inflight_op"), Some("objecter_inflight_ops"));
    }

    #[test]
    fn a_name_unlike_any_option_finds_none() {
        assert_eq!(nearest_option("banana"), None);
    }
}
