//! The installed programs that a lab is made of, and how one is run to its end.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use super::Error;
use super::error::Tail;

/// Asked every few milliseconds by what takes long; an error ends it.
pub(super) type GoOn<'a> = &'a (dyn Fn() -> Result<(), Error> + Sync);

/// A program of Ceph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    Ceph,
    Rbd,
    Authtool,
    Monmaptool,
    Mon,
    Mgr,
    Osd,
    Mds,
}

impl Program {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Ceph => "ceph",
            Self::Rbd => "rbd",
            Self::Authtool => "ceph-authtool",
            Self::Monmaptool => "monmaptool",
            Self::Mon => "ceph-mon",
            Self::Mgr => "ceph-mgr",
            Self::Osd => "ceph-osd",
            Self::Mds => "ceph-mds",
        }
    }

    /// The package that holds it, in Debian and in the RPM distributions.
    const fn package(self) -> &'static str {
        match self {
            Self::Ceph | Self::Rbd | Self::Authtool => "ceph-common",
            Self::Monmaptool => "ceph-base",
            daemon => daemon.name(),
        }
    }

    /// Refuses to go on without a program of the list; names all that are missing at once.
    pub(super) fn check_installed(wanted: &[Self]) -> Result<(), Error> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there =
            |program: &Self| std::env::split_paths(&path).any(|dir| is_program(&dir.join(program.name())));
        let missing: Vec<Self> = wanted.iter().copied().filter(|program| !is_there(program)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let mut packages: Vec<&str> = missing.iter().map(|program| program.package()).collect();
        packages.sort_unstable();
        packages.dedup();
        let programs = missing.iter().map(|program| program.name()).collect();
        Err(Error::Missing { programs, packages: packages.join(" ") })
    }

    /// Runs it to its end and answers what it printed. Once `go_on` fails it is killed.
    ///
    /// Runs in a process group of its own, so that Ctrl-C reaches this process alone, which then ends it in order.
    pub(super) fn run(self, arguments: &[&str], go_on: GoOn<'_>) -> Result<String, Error> {
        let mut command = Command::new(self.name());
        command.args(arguments).stdin(Stdio::null()).process_group(0);
        for variable in ["CEPH_CONF", "CEPH_ARGS", "CEPH_KEYRING"] {
            command.env_remove(variable);
        }
        let failed = |how: String, output: &str| {
            let command = [&[self.name()], arguments].concat().join(" ");
            Error::Program { command, how, output: Tail::of(output) }
        };
        // Files and not pipes: a daemon that goes to the background may hold on to its output.
        let unusable = |error| failed(format!("cannot be run: {error}"), "");
        let (mut stdout, mut stderr) =
            (tempfile::tempfile().map_err(unusable)?, tempfile::tempfile().map_err(unusable)?);
        command.stdout(stdout.try_clone().map_err(unusable)?).stderr(stderr.try_clone().map_err(unusable)?);
        let status = finish(command, go_on, unusable)?;
        let output = text_of(&mut stdout).map_err(unusable)?;
        if status.success() {
            return Ok(output);
        }
        let errors = text_of(&mut stderr).map_err(unusable)?;
        Err(failed(format!("failed ({status}):"), &(output + &errors)))
    }
}

fn finish(
    mut command: Command,
    go_on: GoOn<'_>,
    unusable: impl Fn(std::io::Error) -> Error,
) -> Result<ExitStatus, Error> {
    let mut child = command.spawn().map_err(&unusable)?;
    loop {
        if let Some(status) = child.try_wait().map_err(&unusable)? {
            return Ok(status);
        }
        if let Err(error) = go_on() {
            // It may have ended just now; then there is nothing left to kill.
            let _ = child.kill();
            let _ = child.wait();
            return Err(error);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn text_of(file: &mut File) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
