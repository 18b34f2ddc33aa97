//! Names of options of Ceph's clients that may have been meant.

/// The option of Ceph's clients whose name is nearest to `name`, if one is near enough to have been meant.
#[must_use]
pub fn nearest_option(name: &str) -> Option<&'static str> {
    nearest(&name.replace([' ', '-'], "_"), include_str!("options.txt").lines())
}

/// The candidate nearest to `name`, if one is near enough to have been meant.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |candidate: &&str| strsim::damerau_levenshtein(name, candidate);
    candidates.min_by_key(distance).filter(|best| distance(best) <= name.len().div_ceil(3))
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
