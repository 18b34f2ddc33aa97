//! A figure over the repeats of a trial.

/// Median and range of one figure over the valid repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The median; the mean of the middle two of an even number.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// How many repeats there were.
    pub repeats: usize,
}

impl Spread {
    /// The spread of `values`; `None` without any, or if one is missing: the repeats that have a p99.9 are those with more
    /// I/Os than the others, and would not stand for all.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = Option<f64>>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect::<Option<_>>()?;
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = if values.len() % 2 == 1 {
            values[middle]
        } else {
            f64::midpoint(values[middle - 1], values[middle])
        };
        Some(Self { median, min, max, repeats: values.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_of_the_middle_and_the_range_of_the_ends() {
        assert_eq!(Spread::of([]), None);
        let of_three = Spread { median: 2.0, min: 1.0, max: 3.0, repeats: 3 };
        assert_eq!(Spread::of([3.0, 1.0, 2.0].map(Some)), Some(of_three));
        assert_eq!(Spread::of([1.0, 2.0].map(Some)).map(|spread| spread.median), Some(1.5));
    }

    #[test]
    fn what_one_repeat_lacks_is_not_told_of_the_others() {
        assert_eq!(Spread::of([Some(3.0), None, Some(2.0)]), None);
    }
}
