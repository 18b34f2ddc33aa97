//! fio's side.

use std::process::Command;
use std::time::Duration;

use serde::Deserialize;

use crate::error::Error;
use crate::load::{Load, Target};
use crate::program;
use crate::sample::Sample;
use crate::scene::Scene;

/// What fio tells of a run.
#[derive(Debug, Deserialize)]
struct Output {
    jobs: Vec<Job>,
}

#[derive(Debug, Deserialize)]
struct Job {
    error: i64,
    read: Figures,
    write: Figures,
}

#[derive(Debug, Deserialize)]
struct Figures {
    total_ios: u64,
    iops: f64,
}

/// fio's version, such as `fio-3.33`.
///
/// # Errors
/// [`Error::Start`] if it is not installed.
pub(crate) fn version() -> Result<String, Error> {
    let ended = program::run(Command::new("fio").arg("--version"), Duration::ZERO)?;
    Ok(ended.stdout.trim().to_owned())
}

/// Runs a load with further arguments.
///
/// # Errors
/// [`Error`] if it does not run, or an I/O failed.
pub(crate) fn run(load: &Load, arguments: &[&str], scene: &Scene) -> Result<Sample, Error> {
    let wrong = |why: String| Error::Figures { program: "fio".to_owned(), why };
    let mut command = Command::new("fio");
    command
        .args(["--name=peers", "--bs=4k", "--output-format=json"])
        .arg(format!("--rw={}", load.rw))
        .arg(format!("--iodepth={}", load.iodepth))
        .args(length(load))
        .args(target(load.target, scene))
        .args(arguments);
    let ended = program::run(scene.lead(&mut command), load.runtime.0)?;
    // Warnings go to standard output as well, before and after.
    let json = ended
        .stdout
        .find('{')
        .and_then(|start| ended.stdout.rfind('}').and_then(|end| ended.stdout.get(start..=end)));
    let output: Output = serde_json::from_str(json.unwrap_or_default())
        .map_err(|error| wrong(format!("{error}: {}", ended.stdout)))?;
    let [job] = output.jobs.as_slice() else { return Err(wrong(format!("{} jobs", output.jobs.len()))) };
    if job.error != 0 {
        return Err(wrong(format!("error {}", job.error)));
    }
    let (read, write) = (&job.read, &job.write);
    Sample::new("fio", &ended, read.total_ios + write.total_ios, read.iops + write.iops)
}

/// Fills the full image or the device, so that every block of it is there.
///
/// # Errors
/// [`Error`] if that does not work.
pub(crate) fn fill(what: Target, scene: &Scene) -> Result<(), Error> {
    let mut command = Command::new("fio");
    command
        .args(["--name=fill", "--rw=write", "--bs=4m", "--iodepth=4", "--output-format=json"])
        .args(target(what, scene));
    program::run(scene.lead(&mut command), Duration::from_secs(60)).map(drop)
}

fn length(load: &Load) -> Vec<String> {
    if load.single {
        vec!["--number_ios=1".to_owned()]
    } else {
        vec!["--time_based".to_owned(), format!("--runtime={}ms", load.runtime.0.as_millis())]
    }
}

fn target(target: Target, scene: &Scene) -> Vec<String> {
    let image = match target {
        Target::Null => return vec!["--ioengine=null".to_owned(), format!("--size={}", Scene::EMPTY_SIZE)],
        Target::Loop => {
            let device = format!("--filename={}", scene.device().display());
            return vec!["--ioengine=io_uring".to_owned(), "--direct=1".to_owned(), device];
        }
        Target::Empty => Scene::EMPTY,
        Target::Full => Scene::FULL,
    };
    ["--ioengine=rbd", "--clientname=admin", "--direct=1", "--invalidate=0"]
        .map(str::to_owned)
        .into_iter()
        .chain([format!("--pool={}", scene.pool()), format!("--rbdname={image}")])
        .collect()
}
