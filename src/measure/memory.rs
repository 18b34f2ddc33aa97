//! Peak resident memory of this process over a stretch of time.

use std::fs;

use crate::units::Bytes;

/// The beginning of a stretch of time whose peak is wanted.
///
/// The kernel keeps the peak, and since Linux 4.0 starts anew when asked to. Where it may not be asked (some containers)
/// the peak is the largest of the samples taken.
#[derive(Clone, Copy, Debug)]
pub struct PeakMemory {
    /// The largest sample; `None` where the kernel keeps the peak.
    sampled: Option<Bytes>,
}

impl PeakMemory {
    /// Starts now. The peak is the process's own: only one stretch at a time.
    #[must_use]
    pub fn start() -> Self {
        let reset = fs::write("/proc/self/clear_refs", "5").is_ok();
        Self { sampled: (!reset).then(|| resident("VmRSS:").unwrap_or_default()) }
    }

    /// Takes a sample, if the kernel does not keep the peak; to be called about once a second.
    pub fn sample(&mut self) {
        if let Some(peak) = &mut self.sampled {
            *peak = (*peak).max(resident("VmRSS:").unwrap_or_default());
        }
    }

    /// The peak since the start; `None` where /proc cannot be read.
    #[must_use]
    pub fn read(mut self) -> Option<Bytes> {
        self.sample();
        self.sampled.or_else(|| resident("VmHWM:")).filter(|peak| peak.get() > 0)
    }
}

fn resident(field: &str) -> Option<Bytes> {
    field_of(&fs::read_to_string("/proc/self/status").ok()?, field)
}

/// A size in the text of /proc/self/status or /proc/meminfo.
pub(super) fn field_of(text: &str, field: &str) -> Option<Bytes> {
    let value = text.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    Some(Bytes(kibibytes << 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn memory_that_was_freed_again_is_in_the_peak_but_not_in_the_next_one() {
        let peak_of = |mib: usize| {
            let mut peak = PeakMemory::start();
            let touched = vec![1_u8; mib << 20];
            peak.sample();
            drop(std::hint::black_box(touched));
            peak.read().expect("/proc is there").get()
        };
        let (large, small) = (peak_of(256), peak_of(1));
        assert!(large > small + 128 * MIB, "{large} {small}");
    }

    #[test]
    fn a_size_is_read_in_kibibytes() {
        let status = "Name:\tcephmark\nVmHWM:\t    1952 kB\nVmRSS:\t     100 kB\n";
        assert_eq!(field_of(status, "VmHWM:"), Some(Bytes(1952 << 10)));
        assert_eq!(field_of(status, "VmSwap:"), None);
    }
}
