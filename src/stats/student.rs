//! Student's t distribution, for any degrees of freedom above 0.

/// Probability of a value beyond `t` on either side.
#[must_use]
pub fn two_sided_p(t: f64, degrees: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + t * t))
}

/// The value beyond which, on either side, lie values with probability `error`, above 0 and below 1.
#[must_use]
pub fn critical_value(error: f64, degrees: f64) -> f64 {
    // Newton's method on the logarithms of both: the curve is concave there, so that it comes down to the solution from
    // above, whatever the tail. No step more than doubles t, lest it land where p vanishes.
    let mut t = 1.0;
    for _ in 0..100 {
        let p = two_sided_p(t, degrees);
        let step = ((p.ln() - error.ln()) * p / (2.0 * t * density(t, degrees))).min(std::f64::consts::LN_2);
        t *= step.exp();
        if step.abs() < 1e-12 {
            break;
        }
    }
    t
}

fn density(t: f64, degrees: f64) -> f64 {
    let half = (degrees + 1.0) / 2.0;
    let scale = ln_gamma(half) - ln_gamma(degrees / 2.0) - (degrees * std::f64::consts::PI).ln() / 2.0;
    (scale - half * (t * t / degrees).ln_1p()).exp()
}

/// The regularised incomplete beta function I_x(a, b).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    // The fraction converges fast on this side of the mean; the other side follows by symmetry.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * continued_fraction(a, b, x) / a
    } else {
        1.0 - front * continued_fraction(b, a, 1.0 - x) / b
    }
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for coefficient in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + coefficient * d);
            c = away_from_zero(1.0 + coefficient / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// Logarithm of the gamma function for arguments above 0, by Lanczos' approximation.
fn ln_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 6] = [
        76.180_091_729_471_46,
        -86.505_320_329_416_77,
        24.014_098_240_830_91,
        -1.231_739_572_450_155,
        0.120_865_097_386_617_9e-2,
        -0.539_523_938_495_3e-5,
    ];
    let series = COEFFICIENTS.iter().zip(1..).map(|(coefficient, step)| coefficient / (x + f64::from(step)));
    let sum = 1.000_000_000_190_015 + series.sum::<f64>();
    let base = x + 5.5;
    (x + 0.5) * base.ln() - base + (2.506_628_274_631_000_5 * sum / x).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn critical_values_agree_with_the_printed_tables() {
        let table = [
            (0.05, 1.0, 12.706),
            (0.05, 2.0, 4.303),
            (0.05, 9.0, 2.262),
            (0.05, 30.0, 2.042),
            (0.01, 4.0, 4.604),
            (0.001, 10.0, 4.587),
            (0.05, 1e6, 1.960),
        ];
        for (error, degrees, value) in table {
            let found = critical_value(error, degrees);
            assert!((found - value).abs() < 6e-4, "{error} with {degrees}: {found}, not {value}");
        }
    }

    #[test]
    fn two_degrees_of_freedom_have_a_closed_form() {
        for t in [0.1_f64, 1.0, 4.0, 100.0, 1e5] {
            let root = (2.0 + t * t).sqrt();
            // 1 - t / root, without the cancellation.
            let exact = 2.0 / (root * (root + t));
            assert!((two_sided_p(t, 2.0) / exact - 1.0).abs() < 1e-8, "t = {t}");
        }
    }

    #[test]
    fn critical_values_invert_p_values_over_the_whole_range() {
        for degrees in [1.0, 1.7, 2.0, 5.5, 20.0, 300.0] {
            for error in [0.9, 0.3, 0.05, 1e-3, 1e-6, 1e-9] {
                let back = two_sided_p(critical_value(error, degrees), degrees);
                assert!((back / error - 1.0).abs() < 1e-6, "{error} with {degrees}: {back}");
            }
        }
    }

    #[test]
    fn the_ends_are_certain() {
        assert_eq!(two_sided_p(0.0, 5.0), 1.0);
        assert_eq!(two_sided_p(f64::INFINITY, 5.0), 0.0);
    }
}
