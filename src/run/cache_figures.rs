//! From the counters of librbd's caches to what a result says of them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::held::Outcome;
use crate::result::CacheFigures;

/// How the loggers of librbd's caches and of its images are called, before the image.
const CACHE: &str = "objectcacher-librbd-";
const IMAGE: &str = "librbd-";

/// Whether any image has a cache that keeps data.
pub(super) fn has_cache(counters: &BTreeMap<String, Value>) -> bool {
    counters.keys().any(|logger| logger.starts_with(CACHE))
}

/// What the caches did between the counters before the window and those after its flush; none where there is no cache.
///
/// Hits and misses are those of operations: the counters of bytes hold the whole piece of memory that a read found its
/// bytes in. A read ahead counts as a miss of its own, and the reads it was made for as hits, so it is left out.
#[must_use]
pub(super) fn figures(outcome: &Outcome) -> Option<CacheFigures> {
    let [before, after] = &outcome.counters;
    if !has_cache(after) {
        return None;
    }
    let grown = |kind, name| sum(after, kind, name) - sum(before, kind, name);
    let whole = |kind, name| grown(kind, name).max(0.0) as u64;
    let (hits, readaheads) = (whole(CACHE, "cache_ops_hit"), whole(IMAGE, "readahead"));
    let misses = whole(CACHE, "cache_ops_miss").saturating_sub(readaheads);
    let owed = |at_stop| (sum(after, CACHE, "data_flushed") - sum(at_stop, CACHE, "data_flushed")) as u64;
    Some(CacheFigures {
        hits,
        misses,
        hit_ratio: (hits + misses > 0).then(|| hits as f64 / (hits + misses) as f64),
        written_bytes: whole(CACHE, "data_written"),
        flushed_bytes: whole(CACHE, "data_flushed"),
        owed_bytes: outcome.at_stop.as_ref().map(owed),
        blocked_writes: whole(CACHE, "write_ops_blocked"),
        blocked_bytes: whole(CACHE, "write_bytes_blocked"),
        blocked_s: grown(CACHE, "write_time_blocked"),
        readaheads,
        readahead_bytes: whole(IMAGE, "readahead_bytes"),
    })
}

/// A counter summed over all loggers of a kind.
fn sum(counters: &BTreeMap<String, Value>, kind: &str, name: &str) -> f64 {
    let of_kind = counters.iter().filter(|(logger, _)| logger.starts_with(kind));
    of_kind.filter_map(|(_, values)| values.get(name)?.as_f64()).sum()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::measure::CpuMeter;

    /// Of a run on a cluster: 4 KiB read in sequence, with reading ahead.
    fn outcome() -> Outcome {
        let counters = |factor: u64| {
            let cache = json!({
                "cache_ops_hit": 35_145 * factor, "cache_ops_miss": 609 * factor,
                "cache_bytes_hit": 83_033_022_464_u64 * factor, "data_flushed": 4096 * factor,
            });
            let image = json!({"rd": 35_457 * factor, "readahead": 297 * factor});
            BTreeMap::from([("objectcacher-librbd-1-a".to_owned(), cache), ("librbd-1-a".to_owned(), image)])
        };
        Outcome {
            tallies: Vec::new(),
            series: Vec::new(),
            cpu: CpuMeter::start().read(),
            peak_memory: None,
            drain: Duration::ZERO,
            counters: [counters(1), counters(2)],
            at_stop: Some(counters(1)),
            slices: Vec::new(),
        }
    }

    #[test]
    fn hits_and_misses_add_up_to_the_reads_of_the_load() {
        let figures = figures(&outcome()).expect("there is a cache");
        assert_eq!((figures.hits, figures.misses, figures.readaheads), (35_145, 312, 297));
        assert_eq!(figures.hits + figures.misses, 35_457);
        assert_eq!(figures.owed_bytes, Some(4096));
    }

    #[test]
    fn a_client_without_a_cache_has_no_figures_of_one() {
        let mut outcome = outcome();
        for counters in &mut outcome.counters {
            counters.remove("objectcacher-librbd-1-a");
        }
        assert_eq!(figures(&outcome), None);
    }
}
