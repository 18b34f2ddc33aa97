//! Whether a trial measured one state of the target, or the way from one to another.
//!
//! The measured part is cut into fifths. As in SNIA's performance test specification, it is steady if the line through
//! their means rises or falls by at most 10 % of the mean, and if no two of them differ by more than 20 %. Seconds are
//! noisy, and a fifth has few of them, so what that noise explains is not held against a trial.

/// Parts that are compared.
const WINDOWS: usize = 5;
/// Seconds that a part needs for its noise to be known.
const SECONDS_MIN: usize = 3;
/// Rise or fall of the line through the parts, of the mean.
const DRIFT_MAX: f64 = 0.10;
/// Difference of any two parts, of the mean.
const RANGE_MAX: f64 = 0.20;
/// Standard errors that a rise must exceed. Noise alone does so in 1 of 1,000 trials of 15 s, in fewer of longer ones, and
/// in 2 of 100 where half of a second is like the one before.
const DRIFT_ERRORS: f64 = 4.5;
/// Standard errors of a part that the range must exceed; noise alone does so no more often.
const RANGE_ERRORS: f64 = 8.0;

/// How a figure moved over a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unsteady {
    /// It rose or fell by this share of its mean.
    Drift(f64),
    /// Parts of the trial differ by this share of its mean.
    Range(f64),
}

impl Unsteady {
    /// Judges the figures of a trial's whole seconds. `None` if it was steady as far as can be told: also if it was
    /// shorter than 15 s.
    #[must_use]
    pub fn of(seconds: &[f64]) -> Option<Self> {
        let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
        if seconds.len() < WINDOWS * SECONDS_MIN || mean <= 0.0 {
            return None;
        }
        let edge = |window: usize| window * seconds.len() / WINDOWS;
        let windows: [&[f64]; WINDOWS] =
            std::array::from_fn(|window| &seconds[edge(window)..edge(window + 1)]);
        let means = windows.map(|window| window.iter().sum::<f64>() / window.len() as f64);
        let error = error_of_a_window(&windows, &means) / mean;
        let (drift, drift_error) = (drift(&means) / mean, error * 1.6_f64.sqrt());
        let range = (means.iter().copied().fold(f64::MIN, f64::max)
            - means.iter().copied().fold(f64::MAX, f64::min))
            / mean;
        if drift.abs() > DRIFT_MAX.max(DRIFT_ERRORS * drift_error) {
            Some(Self::Drift(drift))
        } else if range > RANGE_MAX.max(RANGE_ERRORS * error) {
            Some(Self::Range(range))
        } else {
            None
        }
    }
}

/// What the least-squares line through the means gains from the first to the last. Its variance is 1.6 times that of a
/// mean.
fn drift(means: &[f64; WINDOWS]) -> f64 {
    let slope: f64 =
        means.iter().zip([-2.0, -1.0, 0.0, 1.0, 2.0]).map(|(mean, at)| mean * at).sum::<f64>() / 10.0;
    slope * (WINDOWS - 1) as f64
}

/// The standard error of a part's mean, from how seconds vary within parts; larger where one second is like the one
/// before.
fn error_of_a_window(windows: &[&[f64]; WINDOWS], means: &[f64; WINDOWS]) -> f64 {
    let (mut squares, mut products, mut count) = (0.0, 0.0, 0);
    for (window, mean) in windows.iter().zip(means) {
        squares += window.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        products += window.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>();
        count += window.len();
    }
    if squares == 0.0 {
        return 0.0;
    }
    let variance = squares / (count - WINDOWS) as f64;
    let likeness = (products / squares).clamp(0.0, 0.9);
    let per_window = count as f64 / WINDOWS as f64;
    (variance / per_window * (1.0 + likeness) / (1.0 - likeness)).sqrt()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// Seconds around `trend` with noise of which a second shares `likeness` with the one before.
    fn noisy(seed: u64, count: usize, noise: f64, likeness: f64, trend: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut state = 0.0;
        let second = |second: usize| {
            let fresh: f64 = StandardNormal.sample(&mut random);
            state = likeness * state + (1.0 - likeness * likeness).sqrt() * fresh;
            trend(second as f64 / count as f64) * (1.0 + noise * state)
        };
        (0..count).map(second).collect()
    }

    fn flagged(count: usize, noise: f64, likeness: f64, trend: impl Fn(f64) -> f64 + Copy) -> usize {
        (0..1000).filter(|&seed| Unsteady::of(&noisy(seed, count, noise, likeness, trend)).is_some()).count()
    }

    #[test]
    fn noise_alone_is_steady() {
        for (count, noise, likeness) in [(15, 0.1, 0.0), (30, 0.1, 0.0), (30, 0.3, 0.0), (60, 0.1, 0.5)] {
            let flagged = flagged(count, noise, likeness, |_| 1e4);
            assert!(flagged <= 10, "{flagged} of 1000 at {count} s, {noise}, {likeness}");
        }
    }

    #[test]
    fn a_fall_by_a_third_a_start_at_half_and_a_wave_are_not() {
        let fall = |at: f64| 1e4 * (1.0 - at / 3.0);
        let start = |at: f64| if at < 0.2 { 5e3 } else { 1e4 };
        let wave = |at: f64| 1e4 * (1.0 + 0.2 * (at * std::f64::consts::TAU).cos());
        assert!(flagged(30, 0.05, 0.0, fall) > 950, "{}", flagged(30, 0.05, 0.0, fall));
        assert!(flagged(30, 0.05, 0.0, start) > 950, "{}", flagged(30, 0.05, 0.0, start));
        assert!(flagged(30, 0.05, 0.0, wave) > 750, "{}", flagged(30, 0.05, 0.0, wave));
    }

    #[test]
    fn a_drift_is_told_with_its_sign_and_size() {
        let falling: Vec<f64> = (0..30).map(|second| 1000.0 - 10.0 * f64::from(second)).collect();
        let Some(Unsteady::Drift(drift)) = Unsteady::of(&falling) else { panic!("it drifts") };
        assert!((-0.30..-0.25).contains(&drift), "{drift}");
    }

    #[test]
    fn what_is_too_short_or_empty_is_not_judged() {
        assert_eq!(Unsteady::of(&(0..14).map(f64::from).collect::<Vec<_>>()), None);
        assert_eq!(Unsteady::of(&[0.0; 60]), None);
        assert_eq!(Unsteady::of(&[]), None);
    }
}
