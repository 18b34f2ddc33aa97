//! A mean with what is known of its error.

use super::student::{critical_value, two_sided_p};

/// A series is cut into so many stretches, or up to twice as many, before its autocorrelation is judged.
const STRETCHES: usize = 15;

/// A mean, its standard error, and how well that error itself is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub degrees: f64,
}

impl Mean {
    /// The mean of values that tell nothing of each other; `None` for fewer than two.
    #[must_use]
    pub fn of_independent(values: &[f64]) -> Option<Self> {
        let count = values.len() as f64;
        (values.len() >= 2).then(|| {
            let value = average(values);
            let variance = autocovariance(values, value, 0) * count / (count - 1.0);
            Self { value, error: (variance / count).sqrt(), degrees: count - 1.0 }
        })
    }

    /// The mean of a series in the order of time, whose neighbours may be alike; `None` for fewer than four values.
    ///
    /// The series is cut into some stretches, whose means are taken for an autoregressive process of first order: with
    /// autocorrelation r, n of them are worth n (1 - r) / (1 + r) independent ones.
    #[must_use]
    pub fn of_series(values: &[f64]) -> Option<Self> {
        if values.len() < 4 {
            return None;
        }
        let stretches: Vec<f64> =
            values.chunks_exact(values.len().div_ceil(2 * STRETCHES)).map(average).collect();
        let count = stretches.len() as f64;
        let mean = average(&stretches);
        let variance = autocovariance(&stretches, mean, 0);
        if variance == 0.0 {
            return Some(Self { value: average(values), error: 0.0, degrees: count - 1.0 });
        }
        let seen = autocovariance(&stretches, mean, 1) / variance;
        // Short series look less correlated than they are (Kendall 1954).
        let correlation = (seen + (1.0 + 3.0 * seen) / count).clamp(0.0, 0.99);
        let worth = (count * (1.0 - correlation) / (1.0 + correlation)).max(2.0);
        // The variance about a mean of `worth` values is too small by one part in `worth`.
        let error = (variance / (1.0 - 1.0 / worth) / worth).sqrt();
        Some(Self { value: average(values), error, degrees: worth - 1.0 })
    }

    /// The difference of two means of unlike variance, after Welch and Satterthwaite.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        let (mine, theirs) = (self.error.powi(2), other.error.powi(2));
        let variance = mine + theirs;
        let degrees = if variance > 0.0 {
            variance.powi(2) / (mine.powi(2) / self.degrees + theirs.powi(2) / other.degrees)
        } else {
            self.degrees.min(other.degrees)
        };
        Self { value: self.value - other.value, error: variance.sqrt(), degrees }
    }

    /// The mean with an error of at least `error`.
    #[must_use]
    pub fn no_surer_than(self, error: f64) -> Self {
        Self { error: self.error.max(error), ..self }
    }

    /// Half the width of the interval that misses the true mean with probability `miss`.
    #[must_use]
    pub fn margin(&self, miss: f64) -> f64 {
        critical_value(miss, self.degrees) * self.error
    }

    /// Probability of a mean this far from zero if the true one is zero.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        if self.value == 0.0 { 1.0 } else { two_sided_p(self.value / self.error, self.degrees) }
    }
}

fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Covariance of each value with the one `lag` later, about `mean`.
fn autocovariance(values: &[f64], mean: f64, lag: usize) -> f64 {
    let products = values.iter().zip(&values[lag..]).map(|(a, b)| (a - mean) * (b - mean));
    products.sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn independent_values_have_the_error_of_the_textbook() {
        let mean = Mean::of_independent(&[1.0, 2.0, 3.0, 4.0]).expect("there are enough values");
        assert!(close(mean.value, 2.5) && close(mean.degrees, 3.0));
        assert!(close(mean.error, (5.0_f64 / 3.0 / 4.0).sqrt()));
        assert_eq!(Mean::of_independent(&[1.0]), None);
    }

    #[test]
    fn a_series_that_repeats_itself_is_worth_less() {
        let alternating: Vec<f64> = (0..24).map(|i| f64::from(i % 2)).collect();
        let lasting: Vec<f64> = (0..24).map(|i| f64::from(i / 6 % 2)).collect();
        let of_series = |values: &[f64]| Mean::of_series(values).expect("there are enough values");
        assert!(of_series(&lasting).error > 2.0 * of_series(&alternating).error);
        assert!(of_series(&lasting).degrees < 10.0);
    }

    #[test]
    fn a_constant_series_has_no_error() {
        let mean = Mean::of_series(&[2.0; 40]).expect("there are enough values");
        assert_eq!((mean.value, mean.error), (2.0, 0.0));
    }

    #[test]
    fn the_less_certain_of_two_means_rules_their_difference() {
        let sure = Mean { value: 5.0, error: 0.01, degrees: 50.0 };
        let unsure = Mean { value: 3.0, error: 1.0, degrees: 4.0 };
        let difference = sure.minus(&unsure);
        assert!(close(difference.value, 2.0));
        assert!((difference.degrees - 4.0).abs() < 0.01);
    }
}
