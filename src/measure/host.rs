//! The machine that the load runs on: what of it moves the figures.

use std::fs;
use std::time::{Duration, Instant};

use super::memory::field_of;
use crate::clock::{Clock as _, Monotonic};
use crate::units::Bytes;

/// Allocators that are preloaded in place of libc's, by a part of their library's name.
const PRELOADED: [&str; 3] = ["tcmalloc", "jemalloc", "mimalloc"];

/// What of a machine moves the figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Release of the kernel, as `uname -r`.
    pub kernel: String,
    /// Model of the processor.
    pub cpu_model: String,
    /// Processors this process may use.
    pub cpus: u32,
    /// Main memory.
    pub memory: Bytes,
    /// CPU frequency governor, such as `performance`; `None` where the kernel offers none, as in most guests.
    pub governor: Option<String>,
    /// Memory allocator in this process: `glibc`, `musl`, `tcmalloc`, `jemalloc` or `mimalloc`.
    pub allocator: String,
    /// What reading the clock costs: every I/O pays for it once or twice.
    pub clock_read: Duration,
    /// Whether it is a guest of a hypervisor.
    pub is_guest: bool,
}

impl Host {
    /// Looks at this machine. To be asked before Ceph's libraries are loaded: those may bring an allocator that nobody
    /// uses. What cannot be found out is empty or 0.
    #[must_use]
    pub fn probe() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let line = |path: &str| read(path).trim().to_owned();
        let cpuinfo = read("/proc/cpuinfo");
        let governor = line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
        Self {
            name: line("/proc/sys/kernel/hostname"),
            kernel: line("/proc/sys/kernel/osrelease"),
            cpu_model: cpuinfo_field(&cpuinfo, "model name").unwrap_or_default().to_owned(),
            cpus: std::thread::available_parallelism().map_or(0, |cpus| cpus.get() as u32),
            memory: field_of(&read("/proc/meminfo"), "MemTotal:").unwrap_or_default(),
            governor: (!governor.is_empty()).then_some(governor),
            allocator: allocator_in(&read("/proc/self/maps")).to_owned(),
            clock_read: clock_read(),
            is_guest: cpuinfo_field(&cpuinfo, "flags")
                .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"))
                || !line("/sys/hypervisor/type").is_empty(),
        }
    }
}

/// The first processor's value of a field.
fn cpuinfo_field<'a>(cpuinfo: &'a str, field: &str) -> Option<&'a str> {
    let lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    lines
        .map(|(name, value)| (name.trim_end(), value.trim()))
        .find(|(name, _)| *name == field)
        .map(|(_, v)| v)
}

/// The memory allocator of a process, by the libraries in the text of its /proc/PID/maps: `glibc`, `musl`, `tcmalloc`,
/// `jemalloc` or `mimalloc`.
#[must_use]
pub fn allocator_in(maps: &str) -> &'static str {
    let libraries =
        || maps.lines().filter_map(|line| line.rsplit('/').next()).filter(|name| name.contains(".so"));
    let preloaded = PRELOADED.into_iter().find(|name| libraries().any(|library| library.contains(name)));
    preloaded.unwrap_or_else(|| {
        if libraries().any(|library| library.starts_with("ld-musl")) { "musl" } else { "glibc" }
    })
}

/// The median of some rounds, as other processes disturb some.
fn clock_read() -> Duration {
    const READS: u32 = 1000;
    let clock = Monotonic::new();
    let mut rounds: Vec<Duration> = (0..9)
        .map(|_| {
            let begin = Instant::now();
            for _ in 1..READS {
                std::hint::black_box(clock.now_ns());
            }
            begin.elapsed() / READS
        })
        .collect();
    rounds.sort_unstable();
    rounds[rounds.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_name_a_kernel_processors_and_memory() {
        let host = Host::probe();
        assert!(!host.name.is_empty() && !host.kernel.is_empty() && !host.cpu_model.is_empty(), "{host:?}");
        assert!(host.cpus > 0 && host.memory > Bytes(1 << 20), "{host:?}");
        assert!(host.clock_read > Duration::ZERO && host.clock_read < Duration::from_micros(50), "{host:?}");
    }

    #[test]
    fn a_preloaded_allocator_is_found_by_its_library() {
        let libc = "7f00-7f01 r-xp 00000000 08:01 1 /usr/lib/x86_64-linux-gnu/libc.so.6\n";
        assert_eq!(allocator_in(libc), "glibc");
        let preloaded = format!("{libc}7f02-7f03 r-xp 0 08:01 2 /usr/lib/libtcmalloc_minimal.so.4\n");
        assert_eq!(allocator_in(&preloaded), "tcmalloc");
        assert_eq!(allocator_in("1-2 r-xp 0 08:01 2 /opt/jemalloc/libother.so\n"), "glibc");
    }

    #[test]
    fn the_first_processor_is_the_model() {
        let cpuinfo = "processor\t: 0\nmodel\t\t: 17\nmodel name\t: Fast CPU\nmodel name\t: Other\n";
        assert_eq!(cpuinfo_field(cpuinfo, "model name"), Some("Fast CPU"));
        assert_eq!(cpuinfo_field(cpuinfo, "flags"), None);
    }
}
