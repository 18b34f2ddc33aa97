//! A workload with its swept settings.

use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

use crate::profile::{Document, Fault, Loaded, Path, Profile};
use crate::units::Bytes;

use super::check::{self, Check};
use super::job::Job;
use super::sweep::{self, Variant};
use super::{fit, resolve};

/// A workload with its swept settings: what arms are compared on.
#[derive(Clone, Debug)]
pub struct WorkloadPlan {
    /// The workload's name.
    pub name: String,
    /// The name with what varies, for people: `randwrite[iodepth=32]`.
    pub title: String,
    /// What varies, by path; sizes in plain bytes.
    pub settings: Vec<(String, String)>,
    /// Length of the measured part, the same for all its jobs.
    pub runtime: Duration,
    /// Length of the part before it, the same for all its jobs.
    pub ramp_time: Duration,
    /// Its jobs, with ranges that are not yet fitted to an image.
    pub(super) jobs: Vec<JobPlan>,
    /// The profile with this workload's settings, for errors that point into it.
    pub(super) document: Document,
}

/// A job before it is known how large the images are.
#[derive(Clone, Debug)]
pub(super) struct JobPlan {
    /// Where the profile has it.
    pub(super) path: Path,
    /// Bytes to use of each image; `None` for all from the job's offset on.
    pub(super) size: Option<Bytes>,
    /// The user chose its seed, which then stays the same for every repeat.
    pub(super) seed_is_fixed: bool,
    /// The job; its `size` is fitted later.
    pub(super) job: Job,
}

impl JobPlan {
    fn seed(&self, repeat: u32) -> u64 {
        match self.seed_is_fixed {
            true => self.job.randseed,
            false => SplitMix64::seed_from_u64(self.job.randseed ^ u64::from(repeat)).next_u64(),
        }
    }
}

impl WorkloadPlan {
    /// The jobs of one repeat, their ranges fitted to images of this size: whole blocks inside of the image. Each repeat
    /// has random choices of its own, which all arms share.
    ///
    /// # Errors
    /// [`Fault`] if a block is larger than the image, or a range reaches past its end.
    pub fn jobs(&self, image_size: Bytes, repeat: u32) -> Result<Vec<Job>, Fault> {
        let fitted = |plan: &JobPlan| fit::fit(plan, image_size, &self.document);
        self.jobs.iter().map(|plan| Ok(Job { randseed: plan.seed(repeat), ..fitted(plan)? })).collect()
    }

    /// Blocks of direct I/O are whole ones of what is below.
    ///
    /// # Errors
    /// [`Fault`] at blocks or an offset that are no multiples of `unit`.
    pub fn check_alignment(&self, unit: Bytes, path: &str) -> Result<(), Fault> {
        self.jobs.iter().try_for_each(|plan| fit::aligned(plan, unit, path, &self.document))
    }

    /// Whether it changes what it runs on: writes, trims or zeroes. If not, images are opened read-only.
    #[must_use]
    pub fn changes_data(&self) -> bool {
        self.jobs.iter().any(|plan| plan.job.rw.changes_data())
    }

    /// Whether it trims or zeroes, so that managed images are to be filled again after it.
    #[must_use]
    pub fn unfills(&self) -> bool {
        self.jobs.iter().any(|plan| plan.job.rw.changes_data() && !plan.job.rw.writes())
    }

    /// Memory of the buffers of all its I/Os in flight, on so many arms at once.
    #[must_use]
    pub fn buffers(&self, arms: usize) -> Bytes {
        let bytes = |job: &Job| {
            let slots = u64::from(job.iodepth) * u64::from(job.numjobs);
            slots.saturating_mul(job.largest_block().get())
        };
        let of_an_arm = self.jobs.iter().fold(0, |sum: u64, plan| sum.saturating_add(bytes(&plan.job)));
        Bytes(of_an_arm.saturating_mul(arms as u64))
    }

    /// How many load threads it has.
    #[must_use]
    pub fn threads(&self) -> u32 {
        self.jobs.iter().map(|plan| plan.job.numjobs).fold(0, u32::saturating_add)
    }
}

/// All workloads with all their settings.
pub(super) fn workloads(
    loaded: &Loaded,
    seed: u64,
    warnings: &mut Vec<Fault>,
) -> Result<Vec<WorkloadPlan>, Fault> {
    // Each has a seed of its own: a read that followed a write of the same blocks would find them in some cache.
    let mut seeds = SplitMix64::seed_from_u64(seed);
    let mut workloads = Vec::new();
    for name in loaded.profile.workloads.keys() {
        let at = Path::root().key("workloads").key(name);
        check::name(&loaded.document, &at, name)?;
        for variant in sweep::variants(loaded, &at)? {
            workloads.push(workload(name, &at, variant, seeds.next_u64(), warnings)?);
        }
    }
    Ok(workloads)
}

fn workload(
    name: &str,
    at: &Path,
    variant: Variant,
    seed: u64,
    warnings: &mut Vec<Fault>,
) -> Result<WorkloadPlan, Fault> {
    let Variant { document, settings, label } = variant;
    let profile = Profile::from_document(&document)?;
    let mut check = Check { document: &document, swept: &settings, warnings };
    let jobs = resolve::jobs(&mut check, at, &profile.workloads[name], &profile.run, seed)?;
    let (runtime, ramp_time) = (jobs[0].job.runtime, jobs[0].job.ramp_time);
    Ok(WorkloadPlan {
        name: name.to_owned(),
        title: format!("{name}{label}"),
        settings,
        runtime,
        ramp_time,
        jobs,
        document,
    })
}
