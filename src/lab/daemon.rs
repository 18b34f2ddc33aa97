//! One daemon of a lab: its name, its life, and the faults that a test can make it suffer.

use std::fmt;
use std::fs;
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::error::Tail;
use super::home::Home;
use super::process::{self, Process, Role};
use super::program::{GoOn, Program};
use super::{Error, LabSpec};

/// How long a daemon may take to start, stop, or notice a signal.
const PATIENCE: Duration = Duration::from_secs(60);

/// A kind of daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Mon,
    Mgr,
    Osd,
    Mds,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Mon, Self::Mgr, Self::Osd, Self::Mds];

    pub(super) const fn program(self) -> Program {
        match self {
            Self::Mon => Program::Mon,
            Self::Mgr => Program::Mgr,
            Self::Osd => Program::Osd,
            Self::Mds => Program::Mds,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Mon => "mon",
            Self::Mgr => "mgr",
            Self::Osd => "osd",
            Self::Mds => "mds",
        }
    }
}

/// The name of a daemon, such as `osd.0`; a lab has `mon.a`, `mgr.x`, `osd.0` and so on, and maybe `mds.a`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DaemonName {
    pub(super) kind: Kind,
    pub(super) id: String,
}

impl DaemonName {
    pub(super) fn new(kind: Kind, id: impl ToString) -> Self {
        Self { kind, id: id.to_string() }
    }

    pub(super) fn osd(number: u32) -> Self {
        Self::new(Kind::Osd, number)
    }

    pub(super) fn mon() -> Self {
        Self::new(Kind::Mon, "a")
    }

    pub(super) fn mgr() -> Self {
        Self::new(Kind::Mgr, "x")
    }

    pub(super) fn mds() -> Self {
        Self::new(Kind::Mds, "a")
    }

    /// All daemons of a lab, in the order in which they start.
    pub(super) fn all(osds: u32, mds: bool) -> Vec<Self> {
        let mut names = vec![Self::mon(), Self::mgr()];
        names.extend((0..osds).map(Self::osd));
        names.extend(mds.then(Self::mds));
        names
    }

    pub(super) fn of_program(program: &str, id: &str) -> Option<Self> {
        let kind = Kind::ALL.into_iter().find(|kind| kind.program().name() == program)?;
        Some(Self::new(kind, id))
    }
}

impl fmt::Display for DaemonName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.kind.name(), self.id)
    }
}

impl FromStr for DaemonName {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (kind, id) = text.split_once('.').ok_or(())?;
        let kind = Kind::ALL.into_iter().find(|known| known.name() == kind).ok_or(())?;
        Ok(Self::new(kind, id))
    }
}

/// What a daemon does just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It runs, as this process.
    Running(i32),
    /// It is stopped by a signal, and does nothing until it is resumed.
    Paused(i32),
    /// There is no such process.
    Dead,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Running(pid) => write!(f, "running, process {pid}"),
            Self::Paused(pid) => write!(f, "paused, process {pid}"),
            Self::Dead => f.write_str("dead"),
        }
    }
}

/// A handle on one daemon. Dropping it does nothing to the daemon.
#[derive(Clone, Debug)]
pub struct Daemon<'a> {
    home: &'a Home,
    name: DaemonName,
}

impl<'a> Daemon<'a> {
    pub(super) fn new(home: &'a Home, name: DaemonName) -> Self {
        Self { home, name }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &DaemonName {
        &self.name
    }

    /// What it does just now.
    #[must_use]
    pub fn state(&self) -> State {
        match self.process() {
            Some(Process { pid, paused: true, .. }) => State::Paused(pid.as_raw()),
            Some(Process { pid, .. }) => State::Running(pid.as_raw()),
            None => State::Dead,
        }
    }

    /// SIGSTOP: it keeps its connections and answers nothing.
    ///
    /// # Errors
    /// It is dead.
    pub fn pause(&self) -> Result<(), Error> {
        self.signal(Signal::SIGSTOP, |state| matches!(state, State::Paused(_)))
    }

    /// SIGCONT: ends a pause.
    ///
    /// # Errors
    /// It is dead.
    pub fn resume(&self) -> Result<(), Error> {
        self.signal(Signal::SIGCONT, |state| matches!(state, State::Running(_)))
    }

    /// SIGKILL: a crash. An OSD on memstore loses its data with it.
    ///
    /// # Errors
    /// It is dead already.
    pub fn kill(&self) -> Result<(), Error> {
        self.signal(Signal::SIGKILL, |state| state == State::Dead)
    }

    /// SIGTERM: it ends in good order and keeps its data.
    ///
    /// # Errors
    /// It is dead already, or paused and so cannot end.
    pub fn stop(&self) -> Result<(), Error> {
        self.signal(Signal::SIGTERM, |state| state == State::Dead)
    }

    /// Starts it after [`Self::kill`] or [`Self::stop`], in the background: it outlives this process.
    ///
    /// # Errors
    /// It says why it does not start.
    pub fn start(&self) -> Result<(), Error> {
        let until = Instant::now() + PATIENCE;
        self.launch(&|| if Instant::now() < until { Ok(()) } else { Err(self.failed("does not start")) })
    }

    /// [`Self::stop`], then [`Self::start`].
    ///
    /// # Errors
    /// Those of both.
    pub fn restart(&self) -> Result<(), Error> {
        self.stop()?;
        self.start()
    }

    /// Starts it; it goes to the background by itself once it is past the point where most things fail.
    pub(super) fn launch(&self, go_on: GoOn<'_>) -> Result<(), Error> {
        let conf = self.home.conf();
        let arguments = ["-c", &conf.to_string_lossy(), "-i", &self.name.id];
        match self.name.kind.program().run(&arguments, go_on) {
            Err(Error::Program { how, output, .. }) => {
                let log = if output.is_empty() { self.log_tail() } else { output };
                return Err(Error::Daemon { daemon: self.name.to_string(), how, log });
            }
            ended => ended.map(drop)?,
        }
        self.offer_to_oom_killer();
        Ok(())
    }

    /// Makes its data directory's content.
    pub(super) fn mkfs(&self, further: &[&str], go_on: GoOn<'_>) -> Result<(), Error> {
        let conf = self.home.conf();
        let arguments = ["-c", &conf.to_string_lossy(), "-i", &self.name.id, "--mkfs"];
        self.name.kind.program().run(&[&arguments, further].concat(), go_on).map(drop)
    }

    pub(super) fn process(&self) -> Option<Process> {
        let role = Role::Daemon(self.name.clone());
        process::all(&self.home.conf()).into_iter().find(|process| process.role == role)
    }

    pub(super) fn log_tail(&self) -> Tail {
        Tail::of(&fs::read_to_string(self.home.log(&self.name)).unwrap_or_default())
    }

    pub(super) fn failed(&self, how: &str) -> Error {
        Error::Daemon { daemon: self.name.to_string(), how: how.to_owned(), log: self.log_tail() }
    }

    /// Sends a signal and waits for what it brings about.
    fn signal(&self, signal: Signal, done: impl Fn(State) -> bool) -> Result<(), Error> {
        let process = self.process().ok_or_else(|| self.failed("is not running"))?;
        process.signal(signal, &self.home.conf());
        let until = Instant::now() + PATIENCE;
        while !done(self.state()) {
            if Instant::now() > until {
                return Err(self.failed(&format!("took no notice of {signal}")));
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// An OSD on memstore that fills the memory is to be the victim, and no stranger. Where the kernel does not let us,
    /// nothing is lost but that.
    fn offer_to_oom_killer(&self) {
        if let Some(process) = (self.name.kind == Kind::Osd).then(|| self.process()).flatten() {
            let _ = fs::write(format!("/proc/{}/oom_score_adj", process.pid), "900");
        }
    }
}

/// The programs that a lab needs.
pub(super) fn programs(spec: &LabSpec) -> Vec<Program> {
    let mut programs = vec![Program::Ceph, Program::Rbd, Program::Authtool, Program::Monmaptool];
    programs.extend(DaemonName::all(1, spec.mds).iter().map(|name| name.kind.program()));
    programs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in DaemonName::all(3, true) {
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        assert!("osd".parse::<DaemonName>().is_err());
        assert!("rgw.a".parse::<DaemonName>().is_err());
    }
}
