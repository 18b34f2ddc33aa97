//! Runs a program to its end, and tells what CPU time it took with all its threads.

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cephmark::measure::{CpuTime, allocator_in};
use nix::sys::resource::{UsageWho, getrusage};

use crate::error::Error;

/// How much longer than its load a program may take to set up and clean up.
const GRACE: Duration = Duration::from_secs(120);
/// By then a program that lives has loaded what it is linked to.
const LOADED: Duration = Duration::from_millis(300);

/// What a program said and took.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) stdout: String,
    /// Of the whole process from its start to its end, which no program can tell about itself.
    pub(crate) cpu: CpuTime,
    /// Its memory allocator; empty if it ended too soon to tell.
    pub(crate) allocator: &'static str,
}

/// Runs `command`, which takes about `length`. One at a time: the CPU time is that of all children that ended.
///
/// # Errors
/// [`Error::Start`], [`Error::Failed`] unless it exits with 0, [`Error::Stuck`].
pub(crate) fn run(command: &mut Command, length: Duration) -> Result<Ended, Error> {
    let program = command.get_program().to_string_lossy().into_owned();
    // Files, as pipes would have to be emptied by threads of ours.
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let before = of_children();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(stdout.try_clone()?)
        .stderr(stderr.try_clone()?)
        .spawn()
        .map_err(|source| Error::Start { program: program.clone(), source })?;
    thread::sleep(LOADED.min(length));
    let maps = fs::read_to_string(format!("/proc/{}/maps", child.id())).unwrap_or_default();
    let limit = length + GRACE;
    let status = wait(&mut child, limit)?.ok_or_else(|| Error::Stuck { program: program.clone(), limit })?;
    let (stdout, stderr) = (text_of(&mut stdout)?, text_of(&mut stderr)?);
    if !status.success() {
        return Err(Error::Failed { program, status: status.to_string(), said: stdout + &stderr });
    }
    let allocator = if maps.is_empty() { "" } else { allocator_in(&maps) };
    Ok(Ended { stdout, cpu: of_children() - before, allocator })
}

/// Waits for a child to end; kills it after `limit`.
fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>, Error> {
    let until = Instant::now() + limit;
    while Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

fn of_children() -> CpuTime {
    // getrusage can only fail for a bad `who`.
    getrusage(UsageWho::RUSAGE_CHILDREN).map_or_else(|_| CpuTime::default(), |usage| CpuTime::from(&usage))
}

fn text_of(file: &mut File) -> Result<String, Error> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
