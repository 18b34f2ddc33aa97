//! Which processes belong to a lab. `/proc` is the only witness: a pid file may be stale, and its number may by now
//! be that of a stranger.

use std::fs;
use std::path::Path;

use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;

use super::DaemonName;

/// A live daemon of a lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: Pid,
    pub(super) daemon: DaemonName,
    /// Whether it is stopped by a signal.
    pub(super) paused: bool,
}

impl Process {
    /// The process with this number, if it is a daemon that was started with this configuration file. A zombie has no
    /// command line, and so is none.
    pub(super) fn of(pid: Pid, conf: &Path) -> Option<Self> {
        let cmdline = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let daemon = daemon_of(&cmdline, conf)?;
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        Some(Self { pid, daemon, paused: matches!(state_of(&stat), Some('T' | 't')) })
    }

    /// Sends a signal, after a last look at whom it would hit. Answers whether the process was there.
    pub(super) fn signal(&self, signal: Signal, conf: &Path) -> bool {
        Self::of(self.pid, conf).is_some_and(|now| now.daemon == self.daemon)
            && signal::kill(self.pid, signal).is_ok()
    }
}

/// All live daemons that were started with this configuration file.
pub(super) fn daemons(conf: &Path) -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| Process::of(Pid::from_raw(pid), conf)).collect()
}

fn daemon_of(cmdline: &[u8], conf: &Path) -> Option<DaemonName> {
    let mut words = cmdline.split(|byte| *byte == 0).map(|word| std::str::from_utf8(word).unwrap_or(""));
    let program = Path::new(words.next()?).file_name()?.to_str()?;
    let words: Vec<&str> = words.collect();
    let after = |flag| words.windows(2).find(|pair| pair[0] == flag).map(|pair| pair[1]);
    let ours = after("-c").is_some_and(|path| Path::new(path) == conf);
    ours.then(|| DaemonName::of_program(program, after("-i")?))?
}

/// The state letter in `/proc/PID/stat`; it follows the name, which may itself hold blanks and parentheses.
fn state_of(stat: &str) -> Option<char> {
    stat.rsplit_once(") ")?.1.chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_ceph_daemon_with_our_configuration_is_ours() {
        let conf = Path::new("/tmp/lab/ceph.conf");
        let ours = |words: &[&str]| daemon_of(words.join("\0").as_bytes(), conf).map(|name| name.to_string());
        assert_eq!(
            ours(&["/usr/bin/ceph-osd", "-c", "/tmp/lab/ceph.conf", "-i", "3"]).as_deref(),
            Some("osd.3")
        );
        assert_eq!(ours(&["ceph-osd", "-i", "3", "-c", "/tmp/lab/ceph.conf"]).as_deref(), Some("osd.3"));
        assert_eq!(ours(&["ceph-osd", "-c", "/tmp/lab2/ceph.conf", "-i", "3"]), None);
        assert_eq!(ours(&["ceph-osd", "-c", "/etc/ceph/ceph.conf", "-i", "3"]), None);
        assert_eq!(ours(&["vi", "-c", "/tmp/lab/ceph.conf", "-i", "3"]), None);
        assert_eq!(ours(&["ceph-osd", "-c"]), None);
        assert_eq!(ours(&[""]), None);
    }

    #[test]
    fn the_state_is_read_after_the_name() {
        assert_eq!(state_of("42 (a) T (b) S 1 2 3"), Some('S'));
        assert_eq!(state_of(""), None);
    }

    #[test]
    fn this_process_is_no_daemon() {
        assert_eq!(Process::of(Pid::this(), Path::new("/tmp/lab/ceph.conf")), None);
    }
}
