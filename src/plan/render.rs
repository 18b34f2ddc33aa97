//! The plan for people: what `check` and `--dry-run` print.

use crate::units::{Bytes, Time};

use super::arm::{ExistingImage, ManagedImages, Subject};
use super::{
    Access, Arm, CacheState, Distribution, Job, KernelPath, Needs, Order, Pace, PathKind, Plan, Sharing,
    WorkloadPlan,
};

/// Blocks of trials that are listed; the rest of a longer plan is counted.
const MAX_BLOCKS: usize = 20;

/// A row: what it is about, and what there is to say.
type Row = (String, String);

impl Plan {
    /// The plan as text: arms, workloads, order of trials, what it takes, warnings.
    #[must_use]
    pub fn render(&self) -> String {
        let arms = self.arms.iter().map(|arm| (arm.name.clone(), describe(arm))).collect();
        let workloads = self.workloads.iter().flat_map(workload).collect();
        let warnings = self.warnings.iter().map(|warning| ("!".to_owned(), warning.to_string())).collect();
        let sections: [(&str, Vec<Row>); 5] = [
            ("arms", arms),
            ("workloads", workloads),
            ("order", self.order()),
            ("takes", takes(&self.needs, self.at_most())),
            ("warnings", warnings),
        ];
        let width =
            sections.iter().flat_map(|(_, rows)| rows).map(|(label, _)| label.len()).max().unwrap_or(0);
        let mut text = format!("{}: {}\n", self.name, self.summary());
        for (title, rows) in sections.iter().filter(|(_, rows)| !rows.is_empty()) {
            text += &format!("\n{title}\n");
            text.extend(rows.iter().map(|(label, words)| format!("  {label:width$}  {words}\n")));
        }
        text
    }

    fn summary(&self) -> String {
        let most = self.at_most();
        format!(
            "{most}{} ({} x {} x {most}{})",
            count(self.trials.len(), "trial"),
            count(self.arms.len(), "arm"),
            count(self.workloads.len(), "workload"),
            count(self.run.repeats as usize, "repeat"),
        )
    }

    const fn at_most(&self) -> &'static str {
        if self.run.until_decided { "at most " } else { "" }
    }

    /// How the trials follow each other, block by block.
    fn order(&self) -> Vec<Row> {
        let order = match self.run.order {
            Order::Interleaved => "interleaved: blocks of all arms, in random order",
            Order::Sequential => "sequential: all trials of an arm, then the next arm",
            Order::Sliced => "sliced: all arms are open, and alternate within a trial",
        };
        let mut rows = vec![("seed".to_owned(), format!("{}; {order}", self.run.seed))];
        rows.extend(self.run.cache.map(|state| ("cache".to_owned(), cache(state).to_owned())));
        if self.arms.len() == 1 || self.run.order != Order::Interleaved {
            return rows;
        }
        let blocks = self.trials.chunks(self.arms.len());
        let left = blocks.len().saturating_sub(MAX_BLOCKS);
        for block in blocks.take(MAX_BLOCKS) {
            let arms: Vec<&str> = block.iter().map(|trial| self.arms[trial.arm].name.as_str()).collect();
            let (repeat, workload) = (block[0].repeat + 1, &self.workloads[block[0].workload].title);
            rows.push((format!("repeat {repeat}"), format!("{workload}: {}", arms.join(", "))));
        }
        if left > 0 {
            rows.push((String::new(), format!("and {}", count(left, "more block"))));
        }
        rows
    }
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn describe(arm: &Arm) -> String {
    let mut text = match &arm.subject {
        Subject::Managed(images) => format!("{}: {}", arm.rbd_client(), managed(images)),
        Subject::Existing(image) => format!("{}: {}", arm.rbd_client(), existing(image)),
        Subject::Kernel(path) => kernel(path),
        Subject::Null(size) => format!("null: I/O over {size} that completes at once"),
    };
    if let Some(mapping) = &arm.mapping {
        text.extend(mapping.options.iter().map(|option| format!("; {option}")));
    }
    text += &arm.access().map_or_else(String::new, access);
    for (key, sharing) in [("handles", arm.handles), ("connections", arm.connections)] {
        if sharing == Sharing::PerJob {
            text += &format!("; {key} per job");
        }
    }
    if !arm.options.is_empty() {
        let options: Vec<String> =
            arm.options.iter().map(|option| format!("{}={}", option.name, option.value)).collect();
        text += &format!("; {}", options.join(" "));
    }
    text
}

fn managed(images: &ManagedImages) -> String {
    let mut text = format!(
        "{} of {} in {}",
        count(images.images as usize, "new image"),
        images.size,
        place(&images.pool, &images.namespace)
    );
    if let Some(pool) = &images.data_pool {
        text += &format!(", data in {pool}");
    }
    if let Some(size) = images.object_size {
        text += &format!(", objects of {size}");
    }
    if let Some((unit, count)) = images.striping {
        text += &format!(", striped by {unit} over {count}");
    }
    if let Some(features) = &images.features {
        let names: Vec<&str> = features.iter().map(|feature| feature.name()).collect();
        text += &format!(", features {}", if names.is_empty() { "none".to_owned() } else { names.join(",") });
    }
    text + if images.prefill { ", filled" } else { ", not filled" }
}

fn existing(image: &ExistingImage) -> String {
    let snapshot = image.snapshot.as_ref().map_or_else(String::new, |name| format!("@{name}"));
    let loss = if image.destroys_data { ", its data is overwritten" } else { ", only read" };
    format!("the existing image {}/{}{snapshot}{loss}", place(&image.pool, &image.namespace), image.image)
}

fn kernel(path: &KernelPath) -> String {
    let loss = if path.destroys_data { ", its data is overwritten" } else { ", only read" };
    let name = path.path.display();
    match path.kind {
        PathKind::Device => format!("block device {name}{loss}"),
        PathKind::File => format!("the existing file {name}{loss}"),
        PathKind::NewFile { size, prefill } => {
            format!("new file of {size} beside {name}, {}", if prefill { "filled" } else { "not filled" })
        }
    }
}

fn access(access: &Access) -> String {
    let Access { engine, direct, queue } = access;
    let mut text =
        format!("; {}, {}", engine.name(), if *direct { "direct" } else { "through the page cache" });
    text.extend(queue.iter().map(|(name, value)| format!("; queue/{name}={value}")));
    text
}

fn place(pool: &str, namespace: &str) -> String {
    if namespace.is_empty() { pool.to_owned() } else { format!("{pool}/{namespace}") }
}

/// A row for each job.
fn workload(workload: &WorkloadPlan) -> Vec<Row> {
    let (ramp, measured) = (Time(workload.ramp_time), Time(workload.runtime));
    let row = |(index, plan): (usize, &super::workload::JobPlan)| {
        let name = if plan.job.name.is_empty() { String::new() } else { format!("{}: ", plan.job.name) };
        let range = plan.size.map_or_else(String::new, |size| format!(" size={size}"));
        match index {
            0 => (
                workload.title.clone(),
                format!("{name}{}{range}; {measured} after a ramp of {ramp}", job(&plan.job)),
            ),
            _ => (String::new(), format!("{name}{}{range}", job(&plan.job))),
        }
    };
    workload.jobs.iter().enumerate().map(row).collect()
}

/// What differs from the defaults, in fio's words.
fn job(job: &Job) -> String {
    let blocks = match job.blocks.as_slice() {
        [only] => format!("bs={}", only.size),
        split => format!("bssplit={}", crate::profile::BlockSplit(split.to_vec())),
    };
    let rate = match job.pace {
        Pace::Closed => String::new(),
        Pace::Linear(rate) => format!("rate_iops={rate}"),
        Pace::Poisson(rate) => format!("rate_iops={rate} (poisson)"),
    };
    let optional = [
        (job.rw.is_mixed(), format!("rwmixread={}", job.rwmixread)),
        (job.numjobs > 1, format!("numjobs={}", job.numjobs)),
        (job.offset > Bytes(0), format!("offset={}", job.offset)),
        (job.io_size.is_some(), format!("io_size={}", job.io_size.unwrap_or_default())),
        (job.number_ios.is_some(), format!("number_ios={}", job.number_ios.unwrap_or_default())),
        (!rate.is_empty(), rate),
        (job.distribution != Distribution::Uniform, format!("random_distribution={}", job.distribution)),
        (job.fsync > 0, format!("fsync={}", job.fsync)),
        (job.fdatasync > 0, format!("fdatasync={}", job.fdatasync)),
        (job.end_fsync, "end_fsync".to_owned()),
        (
            job.buffer_compress_percentage > 0,
            format!("buffer_compress_percentage={}", job.buffer_compress_percentage),
        ),
        (job.zero_buffers, "zero_buffers".to_owned()),
        (job.verify, "verify=crc32c".to_owned()),
    ];
    let words = optional.into_iter().filter(|(shown, _)| *shown).map(|(_, word)| word);
    let always = [format!("rw={}", job.rw), blocks, format!("iodepth={}", job.iodepth)];
    always.into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

const fn cache(state: CacheState) -> &'static str {
    match state {
        CacheState::Cold => "cold: invalidated before each trial",
        CacheState::Warm => "warm: a pass over all blocks of the workload before each trial",
    }
}

/// What the plan takes.
fn takes(needs: &Needs, most: &str) -> Vec<Row> {
    let writes = match (needs.written.bounded, needs.written.unbounded) {
        (Bytes(0), false) => "nothing".to_owned(),
        (bounded, false) => format!("at most {bounded}"),
        (Bytes(0), true) => "as much as the cluster takes".to_owned(),
        (bounded, true) => {
            format!("up to {bounded} at set rates and counts, beside that as much as the cluster takes")
        }
    };
    let mut rows = vec![
        (
            "time".to_owned(),
            format!(
                "{most}{} for all trials; opening, filling and retries come on top",
                hours(needs.duration)
            ),
        ),
        ("fill".to_owned(), format!("{} written once", needs.fill)),
        ("writes".to_owned(), format!("{writes} in trials")),
        ("memory".to_owned(), memory(needs)),
    ];
    rows.extend(
        needs
            .files
            .iter()
            .map(|(path, bytes)| ("space".to_owned(), format!("{bytes} beside {}", path.display()))),
    );
    rows.extend(
        needs
            .space
            .iter()
            .map(|(pool, bytes)| ("space".to_owned(), format!("{bytes} in pool {pool}, before replication"))),
    );
    rows
}

fn memory(needs: &Needs) -> String {
    let caches = match needs.caches {
        Bytes(0) => String::new(),
        caches => format!(", {caches} of clients' caches"),
    };
    format!("{} of buffers, {} to verify{caches}", needs.buffers, needs.verify)
}

/// A length of time in hours, minutes and seconds, such as `1h 5m 30s`.
fn hours(duration: std::time::Duration) -> String {
    let seconds = duration.as_secs_f64().ceil() as u64;
    let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, unit)| format!("{number}{unit}"))
        .collect();
    parts.join(" ")
}
