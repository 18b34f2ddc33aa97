//! The machine, what else it does, and the programs that met on it.

use std::fs;

use cephmark::measure::Host;
use cephmark::result::Tool;

/// What a table of ratios needs beside it to be read.
#[derive(Debug)]
pub(crate) struct Machine {
    host: Host,
    peer: String,
    load_before: String,
}

impl Machine {
    /// This machine before the first run, with the peer's version.
    pub(crate) fn look(peer: String) -> Self {
        Self { host: Host::probe(), peer, load_before: load() }
    }

    /// In lines: the programs, the machine, the allocators that ran, the load average before and after.
    pub(crate) fn lines(&self, allocators: &[&str]) -> [String; 4] {
        let Host { kernel, cpu_model, cpus, memory, clock_read, is_guest, .. } = &self.host;
        let guest = if *is_guest { ", a guest" } else { "" };
        let tool = Tool::this();
        [
            format!("cephmark {} ({}) against {}", tool.version, tool.commit, self.peer),
            format!(
                "{cpus} x {cpu_model}{guest}, {}, Linux {kernel}; reading the clock takes {clock_read:?}",
                memory.rounded()
            ),
            format!("memory allocator: {}", allocators.join(" and ")),
            format!("load average {} before, {} after", self.load_before, load()),
        ]
    }
}

/// Of one, five and fifteen minutes.
fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}
