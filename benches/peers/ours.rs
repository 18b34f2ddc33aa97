//! cephmark's side: the program as a user runs it, on a profile.

use std::fs;
use std::process::Command;

use cephmark::result::{ResultFile, Status};

use crate::error::Error;
use crate::load::{Load, Rw, Target};
use crate::program;
use crate::sample::Sample;
use crate::scene::Scene;

/// The program that cargo built with this harness.
const CEPHMARK: &str = env!("CARGO_BIN_EXE_cephmark");

/// Runs a load.
///
/// # Errors
/// [`Error`] if it does not run, or its only trial is not valid.
pub(crate) fn run(load: &Load, scene: &Scene) -> Result<Sample, Error> {
    let (profile, out) = (scene.path("profile.yaml"), scene.path("result"));
    fs::write(&profile, text(load, scene))?;
    let mut command = Command::new(CEPHMARK);
    command.arg("run").arg(&profile).arg("--out").arg(&out);
    let ended = program::run(scene.lead(&mut command), load.runtime.0)?;
    let wrong = |why: String| Error::Figures { program: "cephmark".to_owned(), why };
    let result = ResultFile::load(&out).map_err(|error| wrong(error.to_string()))?;
    fs::remove_dir_all(&out)?;
    let [trial] = result.trials.as_slice() else {
        return Err(wrong(format!("{} trials", result.trials.len())));
    };
    if trial.status != Status::Valid {
        return Err(wrong(format!("{:?}", trial.problems)));
    }
    let figures = trial.jobs.values().flat_map(|ops| ops.values());
    let (ios, iops) = figures.fold((0, 0.0), |(ios, iops), op| (ios + op.ios, iops + op.iops));
    let unfinished: u64 = trial.checks.values().map(|checks| checks.unfinished).sum();
    Sample::new("cephmark", &ended, ios + unfinished, iops)
}

fn text(load: &Load, scene: &Scene) -> String {
    let Load { target, rw, iodepth, runtime, single } = load;
    let limit = if *single { ", number_ios: 1" } else { "" };
    let pool = scene.pool();
    let target = match target {
        Target::Null => format!("null: {{size: {}}}", Scene::EMPTY_SIZE),
        Target::Loop => {
            format!("block: {{path: {}}}, destroys_data: {}", scene.device().display(), *rw == Rw::RandWrite)
        }
        // One of its own, made for this run: only that is opened to be written, which the object map is used for.
        Target::Empty => format!("rbd: {{pool: {pool}, size: {}}}", Scene::EMPTY_SIZE),
        Target::Full => {
            format!("rbd: {{image: {pool}/{}}}, destroys_data: {}", Scene::FULL, *rw == Rw::RandWrite)
        }
    };
    format!(
        "version: 1\n\
         name: peers\n\
         targets: {{target: {{{target}}}}}\n\
         workloads: {{load: {{rw: {rw}, bs: 4k, iodepth: {iodepth}{limit}}}}}\n\
         run: {{ramp_time: 0s, runtime: {runtime}, repeats: 1, prefill: false}}\n"
    )
}
