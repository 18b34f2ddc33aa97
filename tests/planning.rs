//! Plans a profile that a test writes, so that tests read like what a user types and gets back.

use cephmark::plan::Plan;
use cephmark::profile::Profile;

/// A small profile that is right: tests change a part of it.
pub(crate) const PROFILE: &str = "\
version: 1
name: test
targets:
  t: {rbd: {size: 1GiB}}
workloads:
  w: {rw: randwrite}
run: {seed: 1, repeats: 1}
";

/// The plan of a profile in the file `p.yaml`, or the line that the user gets instead.
pub(crate) fn plan(yaml: &str) -> Result<Plan, String> {
    plan_with(yaml, &[])
}

/// The same with arguments of `--set`.
pub(crate) fn plan_with(yaml: &str, sets: &[&str]) -> Result<Plan, String> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let loaded = Profile::parse("p.yaml", yaml, &sets).map_err(|fault| fault.to_string())?;
    Plan::new(&loaded).map_err(|fault| fault.to_string())
}

/// [`PROFILE`] with this target instead.
pub(crate) fn with_target(target: &str) -> String {
    PROFILE.replace("{rbd: {size: 1GiB}}", target)
}

/// [`PROFILE`] with this workload instead.
pub(crate) fn with_workload(workload: &str) -> String {
    PROFILE.replace("{rw: randwrite}", workload)
}

/// [`PROFILE`] with this `run` instead.
pub(crate) fn with_run(run: &str) -> String {
    PROFILE.replace("{seed: 1, repeats: 1}", run)
}

/// Takes the carets out of a profile, and says which positions they stand before, as errors do.
fn marked(yaml: &str) -> (String, Vec<String>) {
    let before: Vec<&str> = yaml.split('^').collect();
    let position = |carets: usize| {
        let text = before[..carets].concat();
        let line = text.split('\n').next_back().unwrap();
        format!("p.yaml:{}:{}", text.split('\n').count(), line.chars().count() + 1)
    };
    (before.concat(), (1..before.len()).map(position).collect())
}

/// Asserts that a profile is refused with this message, at the position before which it has a caret.
#[track_caller]
pub(crate) fn refused(yaml: &str, message: &str) {
    let (yaml, positions) = marked(yaml);
    let [position] = positions.as_slice() else { panic!("one caret:\n{yaml}") };
    match plan(&yaml) {
        Ok(_) => panic!("planned:\n{yaml}"),
        Err(line) => assert_eq!(line, format!("{position}: {message}"), "of:\n{yaml}"),
    }
}

/// Asserts that a profile is planned with these warnings, at the positions before which it has carets.
#[track_caller]
pub(crate) fn warned(yaml: &str, messages: &[&str]) {
    let (yaml, positions) = marked(yaml);
    let warnings: Vec<String> = plan(&yaml).unwrap().warnings.iter().map(ToString::to_string).collect();
    assert_eq!(positions.len(), messages.len(), "a caret for each warning");
    let expected: Vec<String> =
        positions.iter().zip(messages).map(|(at, message)| format!("{at}: {message}")).collect();
    assert_eq!(warnings, expected, "of:\n{yaml}");
}
