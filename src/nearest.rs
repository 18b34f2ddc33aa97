//! The valid word that a mistyped one most likely meant.

/// The candidate that is nearest to `word`, if one is near enough to be a slip.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_ascii_lowercase().replace([' ', '-'], "_");
    let word = plain(word);
    let length = word.chars().count();
    let slips = (1 + length / 4).min(length.saturating_sub(1));
    let distance = |candidate: &str| strsim::damerau_levenshtein(&word, &plain(candidate));
    let near = candidates.into_iter().map(|candidate| (distance(candidate), candidate));
    near.filter(|(distance, _)| *distance <= slips)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_finds_the_word_it_meant() {
        let words = ["iodepth", "io_size", "number_ios", "numjobs"];
        assert_eq!(nearest("iodepht", words), Some("iodepth"));
        assert_eq!(nearest("num-jobs", words), Some("numjobs"));
        assert_eq!(nearest("IODEPTH", words), Some("iodepth"));
    }

    #[test]
    fn another_word_altogether_finds_none() {
        assert_eq!(nearest("ioengine", ["iodepth", "bs"]), None);
        assert_eq!(nearest("a", ["b"]), None);
    }
}
