//! Which processes belong to a lab. `/proc` is the only witness: a pid file may be stale, and its number may by now
//! be that of a stranger.

use std::fmt;
use std::fs;
use std::path::Path;

use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;

use super::DaemonName;

/// A live process of a lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: Pid,
    pub(super) role: Role,
    /// Whether it is stopped by a signal.
    pub(super) paused: bool,
}

/// By this option a command of the lab's own is told from one of the user's. It also ends a command that nobody waits
/// for any more.
pub(super) const COMMAND_MARK: &str = "--rados_mon_op_timeout=60";

/// What a process does for its lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Daemon(DaemonName),
    /// A [`super::command`], or what is left of one whose caller was killed.
    Command,
}

impl Process {
    /// The process with this number, if it was started for the lab with this configuration file. A zombie has no
    /// command line, and so is none.
    pub(super) fn of(pid: Pid, conf: &Path) -> Option<Self> {
        let cmdline = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let role = role_of(&cmdline, conf)?;
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        Some(Self { pid, role, paused: matches!(state_of(&stat), Some('T' | 't')) })
    }

    /// Sends a signal, after a last look at whom it would hit. Answers whether the process was there.
    pub(super) fn signal(&self, signal: Signal, conf: &Path) -> bool {
        Self::of(self.pid, conf).is_some_and(|now| now.role == self.role)
            && signal::kill(self.pid, signal).is_ok()
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Daemon(name) => name.fmt(f),
            Self::Command => f.write_str("a command"),
        }
    }
}

/// All live processes of the lab with this configuration file.
pub(super) fn all(conf: &Path) -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| Process::of(Pid::from_raw(pid), conf)).collect()
}

fn role_of(cmdline: &[u8], conf: &Path) -> Option<Role> {
    let words: Vec<&str> =
        cmdline.split(|byte| *byte == 0).map(|word| std::str::from_utf8(word).unwrap_or("")).collect();
    let after = |flag| words.windows(2).find(|pair| pair[0] == flag).map(|pair| pair[1]);
    if after("-c").is_none_or(|path| Path::new(path) != conf) {
        return None;
    }
    if words.contains(&COMMAND_MARK) {
        return Some(Role::Command);
    }
    let program = Path::new(words.first()?).file_name()?.to_str()?;
    DaemonName::of_program(program, after("-i")?).map(Role::Daemon)
}

/// The state letter in `/proc/PID/stat`; it follows the name, which may itself hold blanks and parentheses.
fn state_of(stat: &str) -> Option<char> {
    stat.rsplit_once(") ")?.1.chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_started_with_our_configuration_is_ours() {
        let conf = Path::new("/tmp/lab/ceph.conf");
        let ours = |words: &[&str]| role_of(words.join("\0").as_bytes(), conf).map(|role| role.to_string());
        assert_eq!(
            ours(&["/usr/bin/ceph-osd", "-c", "/tmp/lab/ceph.conf", "-i", "3"]).as_deref(),
            Some("osd.3")
        );
        assert_eq!(ours(&["ceph-osd", "-i", "3", "-c", "/tmp/lab/ceph.conf"]).as_deref(), Some("osd.3"));
        assert_eq!(ours(&["ceph-osd", "-c", "/tmp/lab2/ceph.conf", "-i", "3"]), None);
        assert_eq!(ours(&["ceph-osd", "-c", "/etc/ceph/ceph.conf", "-i", "3"]), None);
        assert_eq!(
            ours(&["python3", "ceph", "-c", "/tmp/lab/ceph.conf", COMMAND_MARK]).as_deref(),
            Some("a command")
        );
        assert_eq!(ours(&["python3", "ceph", "-c", "/tmp/lab2/ceph.conf", COMMAND_MARK]), None);
        assert_eq!(ours(&["rbd", "-c", "/tmp/lab/ceph.conf", "bench"]), None, "the user's own");
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
