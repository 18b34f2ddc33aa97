//! The head of a report: what ran where, and how far it got.

use std::collections::BTreeMap;
use std::time::Duration;

use super::document::Block;
use super::human::{self, Kind, plural};
use crate::result::{Cluster, Host, Order, ResultFile, Status};

/// The tool that measured.
pub(super) fn tool(result: &ResultFile) -> String {
    match result.tool.commit.as_str() {
        "" | "unknown" => format!("cephmark {}", result.tool.version),
        commit => format!("cephmark {} ({commit})", result.tool.version),
    }
}

/// Where and when it ran, and how many trials count.
pub(super) fn facts(result: &ResultFile) -> Block {
    let mut facts = vec![("run", run(result)), ("host", host(&result.host))];
    if let Some(cluster) = &result.cluster {
        facts.push(("cluster", self::cluster(cluster)));
        for (name, pool) in &cluster.pools {
            let kind = format!("{} {} (min {}), {} PGs", pool.kind, pool.size, pool.min_size, pool.pg_num);
            facts.push(("pool", format!("{name}: {kind}")));
        }
    }
    if !result.labels.is_empty() {
        let labels: Vec<_> = result.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        facts.push(("labels", labels.join(", ")));
    }
    facts.push(("trials", trials(result)));
    facts.extend(result.most_repeats.map(|most| ("repeats", repeats(result, most))));
    Block::Facts(facts)
}

fn run(result: &ResultFile) -> String {
    let started = result.started;
    match result.finished {
        Some(finished) => format!("{started}, {}", human::clock(finished.since(started))),
        None => format!("{started}, not finished"),
    }
}

fn host(host: &Host) -> String {
    let memory = Kind::Bytes.one(host.memory_bytes as f64);
    let governor = host.governor.as_deref().unwrap_or("none");
    format!(
        "{}: {} of {}, {memory}, Linux {}, governor {governor}, allocator {}",
        host.name,
        plural(host.cpus as usize, "CPU"),
        host.cpu_model,
        host.kernel,
        host.allocator,
    )
}

fn cluster(cluster: &Cluster) -> String {
    format!(
        "{}, Ceph {} (client {}), {}, {}",
        cluster.fsid,
        cluster.release,
        cluster.client_release,
        plural(cluster.osds as usize, "OSD"),
        cluster.health,
    )
}

/// How often the workloads of a run that repeats until it has decided were repeated.
fn repeats(result: &ResultFile, most: u32) -> String {
    let mut by_workload = BTreeMap::new();
    for trial in &result.trials {
        let repeats = by_workload.entry((&trial.workload, trial.settings_of_workload())).or_insert(0);
        *repeats = (trial.repeat + 1).max(*repeats);
    }
    let (fewest, last) = (by_workload.values().min().unwrap_or(&0), by_workload.values().max().unwrap_or(&0));
    let range = if fewest == last { last.to_string() } else { format!("{fewest} to {last}") };
    format!("auto: {range} of {most} at the most")
}

fn trials(result: &ResultFile) -> String {
    let count = |status: Status| result.trials.iter().filter(|trial| trial.status == status).count();
    let valid = count(Status::Valid);
    let planned = (result.planned_trials as usize).max(valid);
    let mut text = format!("{valid} of {} valid", plural(planned, "trial"));
    for (status, word) in [(Status::Invalid, "invalid"), (Status::Failed, "failed")] {
        if count(status) > 0 {
            text += &format!(", {} {word}", plural(count(status), "attempt"));
        }
    }
    let order = match result.order {
        Order::Interleaved => "interleaved",
        Order::Sliced => "sliced",
        Order::Sequential => "sequential",
    };
    let measured: f64 = result.trials.iter().map(|trial| trial.measured_s.max(0.0)).sum();
    let measured = human::clock(Duration::try_from_secs_f64(measured).unwrap_or_default());
    format!("{text}; {order}, seed {}, {measured} measured", result.seed)
}
