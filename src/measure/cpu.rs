//! CPU time: of a load thread, of the whole process, and of the host.
//!
//! Kernel paths spend CPU outside our process, so the host's busy time is kept beside the process's; what the host
//! does anyway is measured while idle and subtracted.

use std::fs;
use std::ops::{AddAssign, Sub};
use std::time::{Duration, Instant};

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;
use nix::unistd::{SysconfVar, sysconf};

/// CPU time spent by a thread or a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// In user space.
    pub user: Duration,
    /// In the kernel.
    pub system: Duration,
}

impl CpuTime {
    /// What the calling thread has used since it began.
    #[must_use]
    pub fn of_thread() -> Self {
        Self::of(UsageWho::RUSAGE_THREAD)
    }

    /// What all threads of this process have used since it began.
    #[must_use]
    pub fn of_process() -> Self {
        Self::of(UsageWho::RUSAGE_SELF)
    }

    /// User and system time together.
    #[must_use]
    pub fn total(self) -> Duration {
        self.user + self.system
    }

    fn of(who: UsageWho) -> Self {
        // getrusage can only fail for a bad `who`.
        getrusage(who).map_or_else(|_| Self::default(), |usage| Self::from(&usage))
    }
}

impl From<&Usage> for CpuTime {
    fn from(usage: &Usage) -> Self {
        Self { user: duration(usage.user_time()), system: duration(usage.system_time()) }
    }
}

impl Sub for CpuTime {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
        }
    }
}

impl AddAssign for CpuUsage {
    fn add_assign(&mut self, other: Self) {
        self.elapsed += other.elapsed;
        self.process += other.process;
        self.host_busy = self.host_busy.zip(other.host_busy).map(|(own, other)| own + other);
    }
}

impl AddAssign for CpuTime {
    fn add_assign(&mut self, other: Self) {
        self.user += other.user;
        self.system += other.system;
    }
}

fn duration(time: TimeVal) -> Duration {
    Duration::new(time.tv_sec().try_into().unwrap_or(0), u32::try_from(time.tv_usec()).unwrap_or(0) * 1000)
}

/// CPU time of the process and of the host over a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuUsage {
    /// How long the stretch was.
    pub elapsed: Duration,
    /// What this process used.
    pub process: CpuTime,
    /// How long the host's processors were busy, summed over all of them; `None` where /proc/stat can't be read.
    pub host_busy: Option<Duration>,
}

impl CpuUsage {
    /// How much of the processors that were there was used, 0 to 1: of the host's, or of those that this process may use
    /// where it has fewer.
    #[must_use]
    pub fn share(&self) -> f64 {
        let own = std::thread::available_parallelism().map_or(1, usize::from);
        let all = sysconf(SysconfVar::_NPROCESSORS_ONLN).ok().flatten().unwrap_or(1);
        let of = |busy: Duration, cpus: f64| busy.as_secs_f64() / (self.elapsed.as_secs_f64() * cpus);
        let host = self.host_busy.map_or(0.0, |busy| of(busy, all as f64));
        host.max(of(self.process.total(), own as f64)).min(1.0)
    }

    /// Process CPU per I/O; `None` without I/O.
    #[must_use]
    pub fn process_per_io(&self, ios: u64) -> Option<Duration> {
        per_io(self.process.total(), ios)
    }

    /// Host CPU per I/O above what the host used while `idle`; `None` without I/O or without /proc/stat.
    #[must_use]
    pub fn host_per_io(&self, ios: u64, idle: &Self) -> Option<Duration> {
        let background = idle.host_busy?.div_duration_f64(idle.elapsed);
        if !background.is_finite() {
            return None;
        }
        per_io(self.host_busy?.saturating_sub(self.elapsed.mul_f64(background)), ios)
    }
}

fn per_io(spent: Duration, ios: u64) -> Option<Duration> {
    (ios > 0).then(|| Duration::from_nanos((spent.as_nanos() / u128::from(ios)) as u64))
}

/// The beginning of a stretch of time whose CPU use is wanted.
#[derive(Clone, Copy, Debug)]
pub struct CpuMeter {
    started: Instant,
    process: CpuTime,
    host_busy: Option<Duration>,
}

impl CpuMeter {
    /// Starts now.
    #[must_use]
    pub fn start() -> Self {
        Self { started: Instant::now(), process: CpuTime::of_process(), host_busy: host_busy() }
    }

    /// What was used since the start; the meter can be read again.
    #[must_use]
    pub fn read(&self) -> CpuUsage {
        let host_busy = host_busy().zip(self.host_busy).map(|(now, then)| now.saturating_sub(then));
        CpuUsage { elapsed: self.started.elapsed(), process: CpuTime::of_process() - self.process, host_busy }
    }
}

/// How long the host's processors have been busy since boot.
fn host_busy() -> Option<Duration> {
    let ticks_per_second = u64::try_from(sysconf(SysconfVar::CLK_TCK).ok()??).ok()?;
    let ticks = busy_ticks(&fs::read_to_string("/proc/stat").ok()?)?;
    Some(Duration::from_nanos(ticks * (1_000_000_000 / ticks_per_second)))
}

/// Busy ticks in the text of /proc/stat: user, nice, system, irq, softirq. Idle and iowait are not busy, steal is
/// another guest's work, and guest time is within user already.
fn busy_ticks(stat: &str) -> Option<u64> {
    let total = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let fields: Vec<u64> = total.split_whitespace().map_while(|field| field.parse().ok()).collect();
    [0, 1, 2, 5, 6].into_iter().map(|field| fields.get(field).copied()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spin(how_long: Duration) {
        let begin = CpuTime::of_thread().total();
        while CpuTime::of_thread().total() - begin < how_long {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn idle_waiting_and_stolen_ticks_are_not_busy() {
        let stat = "cpu  1 20 300 4000 50000 600000 7000000 80000000 1 1\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(busy_ticks(stat), Some(7_600_321));
        assert_eq!(busy_ticks("intr 1 2 3"), None);
    }

    #[test]
    fn work_of_another_thread_counts_for_the_process_and_the_host_but_not_for_this_thread() {
        let (meter, own) = (CpuMeter::start(), CpuTime::of_thread());
        std::thread::spawn(|| spin(Duration::from_millis(100))).join().expect("spins");
        let (usage, own) = (meter.read(), CpuTime::of_thread() - own);
        assert!(usage.process.total() >= Duration::from_millis(100), "{usage:?}");
        // The kernel counts the host's time in ticks of 10 ms.
        assert!(usage.host_busy.expect("/proc/stat is there") >= Duration::from_millis(50), "{usage:?}");
        assert!(own.total() < Duration::from_millis(50), "{own:?}");
    }

    #[test]
    fn the_idle_hosts_share_is_taken_off_each_io() {
        let usage = |elapsed, busy| CpuUsage {
            elapsed: Duration::from_secs(elapsed),
            process: CpuTime::default(),
            host_busy: Some(Duration::from_secs(busy)),
        };
        let idle = usage(10, 1);
        assert_eq!(usage(20, 6).host_per_io(1_000_000, &idle), Some(Duration::from_micros(4)));
        assert_eq!(usage(20, 1).host_per_io(1_000_000, &idle), Some(Duration::ZERO));
        assert_eq!(usage(20, 6).host_per_io(0, &idle), None);
    }
}
