//! Tables by axis: what each value of an axis gives, over all values of the others.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::document::Block;
use super::human::{Kind, MIB, plural};
use super::spread::Spread;
use super::summary::{Group, last, place};
use super::table::{Cell, Table};
use crate::profile::OptionValue;
use crate::result::{Figures, ResultFile, Trial};

/// One axis, or several that move together.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Axis<'a> {
    paths: Vec<&'a str>,
    /// Its values in the order of the profile, as results hold them, and as the profile writes them.
    values: Vec<(Vec<String>, String)>,
}

/// What else varies: the target, and the other settings.
type Combination<'a> = (&'a str, Vec<(&'a str, &'a str)>);

/// A table for each axis of each workload. One axis alone, of a target, has its table already: that of the arms.
pub(super) fn blocks(result: &ResultFile, groups: &[Group]) -> Vec<Block> {
    let axes = axes(&result.profile);
    let mut blocks = Vec::new();
    for groups in groups.chunk_by(|a, b| a.workload == b.workload) {
        let trials: Vec<&Trial> =
            groups.iter().flat_map(|group| &group.arms).flat_map(|arm| arm.valid()).collect();
        let varies = |axis: &&Axis| axis.values.iter().filter(|value| has(&trials, axis, value)).count() > 1;
        let varying: Vec<&Axis> = axes.iter().filter(varies).collect();
        if let [axis] = varying[..]
            && axis.paths[0].starts_with("targets.")
        {
            continue;
        }
        blocks.extend(varying.into_iter().flat_map(|axis| table(groups[0].workload, axis, &trials)));
    }
    blocks
}

fn has(trials: &[&Trial], axis: &Axis, (value, _): &(Vec<String>, String)) -> bool {
    trials.iter().any(|trial| axis.value(trial) == Some(value.iter().map(String::as_str).collect()))
}

impl Axis<'_> {
    fn value<'t>(&self, trial: &'t Trial) -> Option<Vec<&'t str>> {
        self.paths.iter().map(|path| trial.settings.get(*path).map(String::as_str)).collect()
    }

    fn name(&self) -> String {
        self.paths.iter().map(|path| last(path)).collect::<Vec<_>>().join(", ")
    }
}

/// The axes of a profile's sweep, those that are zipped as one.
fn axes(profile: &Value) -> Vec<Axis<'_>> {
    let Some(sweep) = profile.get("sweep").and_then(Value::as_object) else { return Vec::new() };
    let zipped = sweep.get("zip").and_then(Value::as_array).into_iter().flatten();
    let zipped: Vec<&str> = zipped.filter_map(Value::as_str).collect();
    let mut axes = Vec::new();
    for (path, values) in sweep.iter().filter(|(path, _)| *path != "zip") {
        let paths = match zipped.iter().position(|member| member == path) {
            None => vec![path.as_str()],
            Some(0) => zipped.clone(),
            Some(_) => continue,
        };
        let count = values.as_array().map_or(0, Vec::len);
        let of_step = |step: usize| {
            let texts: Vec<String> = paths.iter().map(|path| written(&sweep[*path][step])).collect();
            let values = texts.iter().map(|text| OptionValue(text.clone()).canonical()).collect();
            (values, texts.join(", "))
        };
        let values = (0..count).map(of_step).collect();
        axes.push(Axis { paths, values });
    }
    axes
}

/// A value as the profile writes it.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(written).collect::<Vec<_>>().join("+"),
        other => other.to_string(),
    }
}

/// A row for each value, job and operation. Every row is over the same combinations of what else varies.
fn table(workload: &str, axis: &Axis, trials: &[&Trial]) -> Vec<Block> {
    let mut cells: BTreeMap<Combination, BTreeMap<Vec<&str>, Vec<&Trial>>> = BTreeMap::new();
    for trial in trials {
        let Some(value) = axis.value(trial) else { continue };
        let others = trial.settings.iter().filter(|(path, _)| !axis.paths.contains(&path.as_str()));
        let others = others.map(|(path, value)| (path.as_str(), value.as_str())).collect();
        cells.entry((&trial.target, others)).or_default().entry(value).or_default().push(trial);
    }
    let values: BTreeSet<Vec<&str>> = cells.values().flat_map(|by_value| by_value.keys().cloned()).collect();
    cells.retain(|_, by_value| by_value.len() == values.len());
    let mut rows = Vec::new();
    for (value, text) in &axis.values {
        let value: Vec<&str> = value.iter().map(String::as_str).collect();
        let of_value: Vec<&Vec<&Trial>> =
            cells.values().filter_map(|by_value| by_value.get(&value)).collect();
        rows.extend(figures(text, &of_value));
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let header =
        [axis.name().as_str(), "job", "op", "IOPS", "MiB/s", "durable MiB/s", "hit %", "mean", "p99"]
            .map(str::to_owned);
    let mut table = Table { header: header.into(), keys: 3, rows };
    table.drop_empty_columns();
    let remark = match cells.len() {
        1 => "medians".to_owned(),
        count => format!("geometric means of the medians of {}", plural(count, "combination")),
    };
    vec![Block::Heading(format!("{workload} by {}", axis.name()), remark), Block::Table(table)]
}

fn figures(value: &str, cells: &[&Vec<&Trial>]) -> Vec<Vec<Cell>> {
    let all = cells.iter().flat_map(|trials| trials.iter());
    let jobs = all.flat_map(|trial| {
        trial
            .jobs
            .iter()
            .flat_map(|(job, ops)| ops.keys().map(move |op| (job.as_str(), place(op), op.as_str())))
    });
    let jobs: BTreeSet<_> = jobs.collect();
    let row = |(index, (job, _, op)): (usize, (&str, usize, &str))| {
        let of_op = |figure: fn(&Figures) -> Option<f64>| {
            typical(cells, |trial| trial.jobs.get(job)?.get(op).and_then(figure))
        };
        let whole = |figure: fn(&Trial) -> Option<f64>| typical(cells, figure).filter(|_| index == 0);
        let cell = |figure: Option<f64>, kind: Kind| {
            Cell::plain(figure.map_or_else(String::new, |figure| kind.one(figure)))
        };
        vec![
            Cell::plain(value),
            Cell::plain(job),
            Cell::plain(op),
            cell(of_op(|figures| Some(figures.iops)), Kind::Count),
            cell(of_op(|figures| Some(figures.bytes_per_s / MIB)), Kind::Plain),
            cell(whole(|trial| trial.effective_bytes_per_s.map(|rate| rate / MIB)), Kind::Plain),
            cell(whole(|trial| trial.cache?.hit_ratio.map(|ratio| ratio * 100.0)), Kind::Plain),
            cell(of_op(|figures| figures.latency_ns.mean), Kind::Nanoseconds),
            cell(of_op(|figures| figures.latency_ns.p99.map(|time| time as f64)), Kind::Nanoseconds),
        ]
    };
    jobs.into_iter().enumerate().map(row).collect()
}

/// The geometric mean over combinations of the median over repeats; none unless every combination has the figure.
fn typical(cells: &[&Vec<&Trial>], figure: impl Fn(&Trial) -> Option<f64>) -> Option<f64> {
    let median = |trials: &&Vec<&Trial>| Some(Spread::of(trials.iter().map(|trial| figure(trial)))?.median);
    let medians: Vec<f64> = cells.iter().map(median).collect::<Option<_>>()?;
    let logs: f64 = medians.iter().map(|median| median.ln()).sum();
    (!medians.is_empty()).then(|| (logs / medians.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::palette::Palette;
    use super::super::summary;
    use super::*;
    use crate::result::{Ops, Status, Timestamp};

    fn trial(size: &str, depth: &str, repeat: u32, iops: f64) -> Trial {
        let ops = Ops::from([("read".to_owned(), Figures { ios: 1, iops, ..Figures::default() })]);
        let settings = [("targets.t.options.rbd_cache_size", size), ("workloads.w.iodepth", depth)];
        Trial {
            arm: format!("t[rbd_cache_size={size}]"),
            target: "t".to_owned(),
            workload: "w".to_owned(),
            settings: settings.map(|(path, value)| (path.to_owned(), value.to_owned())).into(),
            repeat,
            status: Status::Valid,
            jobs: [(String::new(), ops)].into(),
            ..Trial::failed()
        }
    }

    fn text(result: &ResultFile) -> String {
        let blocks = blocks(result, &summary::groups(result)).into_iter().map(|block| match block {
            Block::Heading(title, remark) => format!("{title}: {remark}\n"),
            Block::Table(table) => table.text(100, Palette::off()),
            other => panic!("{other:?}"),
        });
        blocks.collect()
    }

    #[test]
    fn each_axis_has_a_table_over_all_values_of_the_other() {
        let sweep = json!({
            "targets.t.options.rbd_cache_size": ["8MiB", "64MiB"], "workloads.w.iodepth": [1, 32],
        });
        let mut result = ResultFile::new(json!({"sweep": sweep}), Timestamp::now());
        let rates = [
            ("8388608", "1", 100.0),
            ("8388608", "32", 400.0),
            ("67108864", "1", 200.0),
            ("67108864", "32", 800.0),
        ];
        for (size, depth, iops) in rates {
            result.trials.extend(
                [0.9, 1.0, 1.1].iter().zip(0..).map(|(by, repeat)| trial(size, depth, repeat, iops * by)),
            );
        }
        assert_eq!(
            text(&result),
            "w by rbd_cache_size: geometric means of the medians of 2 combinations\n\
             rbd_cache_size  op    IOPS  MiB/s\n\
             8MiB            read   200      0\n\
             64MiB           read   400      0\n\
             w by iodepth: geometric means of the medians of 2 combinations\n\
             iodepth  op    IOPS  MiB/s\n\
             1        read   141      0\n\
             32       read   566      0\n"
        );
    }

    #[test]
    fn axes_that_move_together_are_one_and_stand_in_the_table_of_the_arms() {
        let sweep = json!({
            "targets.t.options.rbd_cache_size": ["8MiB", "64MiB"], "targets.t.rbd.images": [1, 2],
            "zip": ["targets.t.options.rbd_cache_size", "targets.t.rbd.images"],
        });
        let profile = json!({"sweep": sweep});
        let [axis] = &axes(&profile)[..] else { panic!("one axis") };
        assert_eq!((axis.name().as_str(), axis.values[1].1.as_str()), ("rbd_cache_size, images", "64MiB, 2"));
        let mut result = ResultFile::new(profile, Timestamp::now());
        result.trials = vec![trial("8388608", "1", 0, 1.0), trial("67108864", "1", 0, 2.0)];
        assert_eq!(text(&result), "");
    }
}
