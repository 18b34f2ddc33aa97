//! Numbers as people read them: three significant digits and a unit.

use std::time::Duration;

/// A number and its unit.
struct Scaled {
    number: String,
    unit: &'static str,
    /// What one of the unit is in the unit of the value given.
    factor: f64,
}

impl Scaled {
    /// `value` in the first of `units` (each with how many of it make the next) that keeps it below 1000.
    fn new(value: f64, units: &[(&'static str, f64)]) -> Self {
        let last = units.len() - 1;
        let mut factor = 1.0;
        for (unit, next) in &units[..last] {
            if value / factor < 999.5 {
                return Self { number: digits(value / factor), unit, factor };
            }
            factor *= next;
        }
        Self { number: digits(value / factor), unit: units[last].0, factor }
    }
}

const COUNT: &[(&str, f64)] = &[("", 1e3), ("k", 1e3), ("M", 1e3), ("G", 1e3)];
const NANOSECONDS: &[(&str, f64)] = &[(" ns", 1e3), (" us", 1e3), (" ms", 1e3), (" s", 1.0)];
const BYTES: &[(&str, f64)] =
    &[(" B", 1024.0), (" KiB", 1024.0), (" MiB", 1024.0), (" GiB", 1024.0), (" TiB", 1024.0)];

/// Three significant digits of a value from 0 up, more where it is 1000 or above.
#[must_use]
pub fn digits(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if value < 9.995 {
        format!("{value:.2}")
    } else if value < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

/// A ratio to a thousandth where it is near 1; beyond a thousandfold it does not matter by how much.
#[must_use]
pub fn ratio(ratio: f64) -> String {
    match ratio {
        ..0.001 => "<0.001".to_owned(),
        ..10.0 => format!("{ratio:.3}"),
        ..1000.0 => digits(ratio),
        _ => ">1000".to_owned(),
    }
}

/// How a figure is written: alone, and as a range below its median.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A count or a rate of I/Os: `1.23k`.
    Count,
    /// Nanoseconds: `456 us`.
    Nanoseconds,
    /// Seconds: `1.20 s`.
    Seconds,
    /// Bytes: `1.41 GiB`.
    Bytes,
    /// Bytes per second as fio prints them: `48.0 (50.3)` for MiB/s and MB/s; ranges in MiB/s.
    BytesPerSecond,
    /// A number whose unit stands elsewhere: `23.4`.
    Plain,
}

impl Kind {
    /// One value.
    #[must_use]
    pub fn one(self, value: f64) -> String {
        match self {
            Self::BytesPerSecond => format!("{} ({})", digits(value / MIB), digits(value / MB)),
            _ => {
                let Scaled { number, unit, .. } = self.scaled(value);
                format!("{number}{unit}")
            }
        }
    }

    /// A range from `low` to `high`, to stand below `middle`: in its unit, which is repeated only where it is a mere
    /// suffix.
    #[must_use]
    pub fn range(self, low: f64, high: f64, middle: f64) -> String {
        if self == Self::BytesPerSecond {
            return format!("{}-{}", digits(low / MIB), digits(high / MIB));
        }
        let unit = self.scaled(middle);
        let suffix = if unit.unit.starts_with(' ') { "" } else { unit.unit };
        format!("{}-{}{suffix}", digits(low / unit.factor), digits(high / unit.factor))
    }

    fn scaled(self, value: f64) -> Scaled {
        match self {
            Self::Count => Scaled::new(value, COUNT),
            Self::Nanoseconds => Scaled::new(value, NANOSECONDS),
            Self::Seconds => {
                let Scaled { number, unit, factor } = Scaled::new(value * 1e9, NANOSECONDS);
                Scaled { number, unit, factor: factor / 1e9 }
            }
            Self::Bytes => Scaled::new(value, BYTES),
            Self::BytesPerSecond | Self::Plain => Scaled { number: digits(value), unit: "", factor: 1.0 },
        }
    }
}

/// Bytes of a MiB.
pub const MIB: f64 = 1024.0 * 1024.0;
const MB: f64 = 1e6;

/// A rate of bytes as fio prints it: `48.0MiB/s (50.3MB/s)`.
#[must_use]
pub fn bandwidth(bytes_per_s: f64) -> String {
    format!("{}MiB/s ({}MB/s)", digits(bytes_per_s / MIB), digits(bytes_per_s / MB))
}

/// A length of time to the second: `12s`, `4m12s`, `1h02m`.
#[must_use]
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// `1 trial`, `2 trials`.
#[must_use]
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("{count} {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_kept_whatever_the_size() {
        let counts = [
            (0.0, "0"),
            (7.0, "7.00"),
            (123.4, "123"),
            (999.4, "999"),
            (999.6, "1.00k"),
            (12_345.0, "12.3k"),
        ];
        for (value, text) in counts {
            assert_eq!(Kind::Count.one(value), text);
        }
        assert_eq!(Kind::Count.one(1_630_000.0), "1.63M");
        assert_eq!(Kind::Nanoseconds.one(456_000.0), "456 us");
        assert_eq!(Kind::Nanoseconds.one(2_605_000.0), "2.60 ms");
        assert_eq!(Kind::Nanoseconds.one(3.6e12), "3600 s");
        assert_eq!(Kind::Seconds.one(1.2), "1.20 s");
        assert_eq!(Kind::Bytes.one(1.5 * 1024.0 * 1024.0 * 1024.0), "1.50 GiB");
    }

    #[test]
    fn a_range_is_in_the_unit_of_the_median_above_it() {
        assert_eq!(Kind::Count.range(11_900.0, 12_800.0, 12_300.0), "11.9-12.8k");
        assert_eq!(Kind::Nanoseconds.range(900e3, 1.2e6, 1e6), "0.90-1.20");
        assert_eq!(Kind::Seconds.range(1.4, 1.5, 1.4), "1.40-1.50");
        assert_eq!(Kind::BytesPerSecond.range(MIB * 46.5, MIB * 50.0, MIB * 48.0), "46.5-50.0");
    }

    #[test]
    fn rates_and_times_read_as_in_fio() {
        assert_eq!(bandwidth(48.0 * MIB), "48.0MiB/s (50.3MB/s)");
        assert_eq!(clock(Duration::from_secs(59)), "59s");
        assert_eq!(clock(Duration::from_secs(252)), "4m12s");
        assert_eq!(clock(Duration::from_secs(3725)), "1h02m");
    }
}
