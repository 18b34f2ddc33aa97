//! Sweeps expanded: each target and workload with every combination of what varies in it.

use serde_json::Value;

use crate::profile::{Document, Fault, Loaded, OptionValue, Path, Sweep};

/// A target or workload with one combination of its swept settings.
pub(super) struct Variant {
    /// The profile with these settings in place.
    pub(super) document: Document,
    /// What varies, by path.
    pub(super) settings: Vec<(String, String)>,
    /// The same for people, `rbd_cache_policy=writeback` in brackets; empty if nothing varies.
    pub(super) label: String,
}

/// More combinations of one target or workload than anybody has the time for.
const MAX_VARIANTS: usize = 1000;

/// All combinations for the target or workload at `noun`: the last axis changes fastest.
pub(super) fn variants(loaded: &Loaded, noun: &Path) -> Result<Vec<Variant>, Fault> {
    let sweep = &loaded.profile.sweep;
    let groups = groups(sweep, noun);
    let steps = |group: &[&str]| sweep.axes[group[0]].len();
    let count = groups.iter().fold(1, |count: usize, group| count.saturating_mul(steps(group)));
    if count > MAX_VARIANTS {
        let message = format!("makes {count} combinations for {noun}, more than {MAX_VARIANTS}");
        return Err(loaded.document.fault(&Path::parse("sweep"), message));
    }
    let axes: Vec<Path> = groups.iter().flatten().map(|axis| Path::parse(axis)).collect();
    let mut combinations: Vec<Vec<(&str, usize)>> = vec![Vec::new()];
    for group in &groups {
        let longer = |head: &[(_, _)], step| {
            head.iter().copied().chain(group.iter().map(|axis| (*axis, step))).collect()
        };
        combinations = combinations
            .iter()
            .flat_map(|head| (0..steps(group)).map(move |step| longer(head, step)))
            .collect();
    }
    combinations.iter().map(|combination| variant(loaded, noun, &axes, combination)).collect()
}

/// The axes of a noun in groups that move together, in the order in which they were written.
fn groups<'a>(sweep: &'a Sweep, noun: &Path) -> Vec<Vec<&'a str>> {
    let axes = sweep.axes.keys().map(String::as_str).filter(|axis| noun.leads_to(&Path::parse(axis)));
    let zipped: Vec<&str> =
        axes.clone().filter(|axis| sweep.zip.iter().any(|member| member == axis)).collect();
    let leads = axes.filter(|axis| zipped.first() == Some(axis) || !zipped.contains(axis));
    leads.map(|axis| if zipped.contains(&axis) { zipped.clone() } else { vec![axis] }).collect()
}

fn variant(
    loaded: &Loaded,
    noun: &Path,
    axes: &[Path],
    combination: &[(&str, usize)],
) -> Result<Variant, Fault> {
    let mut document = loaded.document.clone();
    let (mut settings, mut labels) = (Vec::new(), Vec::new());
    for (axis, step) in combination {
        let path = Path::parse(axis);
        let value = &loaded.profile.sweep.axes[*axis][*step];
        let place = document.place(&Path::root().key("sweep").key(axis).index(*step));
        document.set(&path, value.clone(), place)?;
        settings.push(((*axis).to_owned(), OptionValue(text(value)).canonical()));
        labels.push(format!("{}={}", short(&path, noun, axes), text(value)));
    }
    let label = if labels.is_empty() { String::new() } else { format!("[{}]", labels.join(",")) };
    Ok(Variant { document, settings, label })
}

/// The end of an axis' path that tells it from the other axes of its noun.
fn short(axis: &Path, noun: &Path, axes: &[Path]) -> String {
    let keys = |path: &Path| path.keys().skip(noun.keys().count()).map(str::to_owned).collect::<Vec<_>>();
    let mine = keys(axis);
    let ends_alike = |end: &[String]| axes.iter().filter(|other| keys(other).ends_with(end)).count() > 1;
    let ends = (0..mine.len()).rev().map(|start| &mine[start..]);
    ends.clone().find(|end| !ends_alike(end)).unwrap_or(&mine).join(".")
}

/// A value as people write it.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join("+"),
        other => other.to_string(),
    }
}

/// Refuses axes that are no axes: each varies one key of one target or workload that exists.
pub(super) fn check(loaded: &Loaded) -> Result<(), Fault> {
    let sweep = &loaded.profile.sweep;
    for (axis, values) in &sweep.axes {
        check_axis(&loaded.document, axis, values)?;
        if !sweep.zip.contains(axis) {
            check_twice(&loaded.document, &[axis], &[values])?;
        }
    }
    check_zip(&loaded.document, sweep)
}

fn check_axis(document: &Document, axis: &str, values: &[Value]) -> Result<(), Fault> {
    let at = Path::root().key("sweep").key(axis);
    let path = Path::parse(axis);
    if !matches!(path.keys().collect::<Vec<_>>().as_slice(), ["targets" | "workloads", _, _, ..]) {
        let message =
            "an axis varies a key of a target or workload; name it as targets.NAME.KEY or workloads.NAME.KEY";
        return Err(document.fault(&at, message));
    }
    if values.is_empty() {
        return Err(document.fault(&at, "has no values"));
    }
    document.check_owner(&path).map_err(|message| document.fault(&at, message))
}

/// Refuses steps of axes that move together, or of one, that are the same: their arms would be too.
fn check_twice(document: &Document, axes: &[&String], values: &[&Vec<Value>]) -> Result<(), Fault> {
    let step = |step: usize| -> Vec<String> {
        values.iter().map(|values| OptionValue(text(&values[step])).canonical()).collect()
    };
    let count = values.first().map_or(0, |values| values.len());
    let Some(twice) = (1..count).find(|index| (0..*index).any(|earlier| step(earlier) == step(*index)))
    else {
        return Ok(());
    };
    let said: Vec<String> = values.iter().map(|values| text(&values[twice])).collect();
    let at = Path::root().key("sweep").key(axes[0]).index(twice);
    Err(document.fault(&at, format!("has the value {} twice", said.join(", "))))
}

fn check_zip(document: &Document, sweep: &Sweep) -> Result<(), Fault> {
    let at = Path::root().key("sweep").key("zip");
    let noun = |axis: &str| Path::parse(axis).keys().take(2).map(str::to_owned).collect::<Vec<_>>();
    for (index, axis) in sweep.zip.iter().enumerate() {
        let fault = |message: String| Err(document.fault(&at.index(index), message));
        let first = &sweep.zip[0];
        match (sweep.axes.get(axis), sweep.axes.get(first)) {
            (None, _) => return fault(format!("`{axis}` is no axis of this sweep")),
            (Some(values), Some(others)) if values.len() != others.len() => {
                return fault(format!(
                    "`{axis}` has {} values but `{first}` has {}",
                    values.len(),
                    others.len()
                ));
            }
            _ if noun(axis) != noun(first) => {
                return fault("axes that move together belong to one target or workload".to_owned());
            }
            _ if sweep.zip[..index].contains(axis) => return fault(format!("names `{axis}` twice")),
            _ => {}
        }
    }
    if sweep.zip.len() == 1 {
        return Err(document.fault(&at, "one axis has nothing to move together with"));
    }
    let values: Vec<&Vec<Value>> = sweep.zip.iter().map(|axis| &sweep.axes[axis]).collect();
    check_twice(document, &sweep.zip.iter().collect::<Vec<_>>(), &values)
}
