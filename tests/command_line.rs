//! The command line as scripts see it: exit codes, one line for an error, examples for people.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn cephmark(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cephmark")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn config(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("configs").join(name)
}

#[test]
fn check_prints_the_plan() {
    let output = cephmark(&[
        "check",
        config("quickstart.yaml").to_str().unwrap(),
        "--offline",
        "--set",
        "run.repeats=2",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).starts_with("quickstart: 8 trials (2 arms x 2 workloads x 2 repeats)\n"));
}

#[test]
fn a_wrong_profile_gives_one_line_and_exit_code_2() {
    for set in
        ["workloads.randread-4k.iodepth=0", "targets.uncached.rbd.size=0", "workloads.randread-4k.bs=1GiB"]
    {
        let output =
            cephmark(&["check", config("quickstart.yaml").to_str().unwrap(), "--offline", "--set", set]);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!((text(&output.stderr).lines().count(), text(&output.stdout)), (1, String::new()));
        assert!(
            text(&output.stderr).starts_with(&format!("cephmark: --set {set}: ")),
            "{}",
            text(&output.stderr)
        );
    }
}

#[test]
fn wrong_usage_is_exit_code_2_too() {
    for arguments in
        [&["chekc"][..], &["check"], &["schema", "nothing"], &["run", "a.yaml", "--no-such-flag"]]
    {
        assert_eq!(cephmark(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn the_schema_is_json() {
    let output = cephmark(&["schema", "profile"]);
    assert_eq!(output.status.code(), Some(0));
    let schema: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(schema["properties"]["run"]["$ref"], "#/$defs/Run");
}

#[test]
fn every_subcommand_has_examples() {
    for command in ["", "run", "check", "report", "clean", "schema"] {
        let arguments: Vec<&str> = [command, "--help"].into_iter().filter(|word| !word.is_empty()).collect();
        let help = text(&cephmark(&arguments).stdout);
        assert!(help.contains("Examples:\n  cephmark "), "{command}: {help}");
    }
}

#[test]
fn a_reader_that_stops_early_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cephmark"))
        .args(["schema", "profile"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

/// What a command ends with whose output, or whose complaints, go nowhere.
fn with_streams(arguments: &[&str], stdout: Stdio, stderr: Stdio) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cephmark"));
    command.args(arguments).stdout(stdout).stderr(stderr);
    command.spawn().unwrap().wait_with_output().unwrap()
}

fn full() -> Stdio {
    std::fs::File::create("/dev/full").unwrap().into()
}

/// A pipe that nobody reads.
fn closed() -> Stdio {
    std::io::pipe().unwrap().1.into()
}

#[test]
fn a_standard_error_that_is_closed_or_full_changes_no_exit_code() {
    for stderr in [full(), closed()] {
        let output = with_streams(&["check", "/nowhere/bad.yaml"], Stdio::piped(), stderr);
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn a_full_standard_output_is_an_error_and_a_closed_one_is_none() {
    let full = with_streams(&["schema", "profile"], full(), Stdio::piped());
    assert_eq!(full.status.code(), Some(2));
    assert!(text(&full.stderr).starts_with("cephmark: standard output can't be written: "));
    let closed = with_streams(&["schema", "profile"], closed(), Stdio::piped());
    assert_eq!((closed.status.code(), text(&closed.stderr)), (Some(0), String::new()));
}

#[test]
fn nothing_prints_in_a_way_that_panics() {
    let mut directories = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(directory) = directories.pop() {
        for path in directory.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap_or_default();
            let found = ["println!(", "print!(", "eprint!("].into_iter().find(|print| source.contains(print));
            assert_eq!(found, None, "{}: `console` writes instead", path.display());
        }
    }
}

#[test]
fn a_trial_without_any_io_is_invalid_and_has_no_share_of_the_processors() {
    let directory = tempfile::tempdir().unwrap();
    let (profile, out) = (directory.path().join("p.yaml"), directory.path().join("out"));
    let text_of_profile = "version: 1\nname: none\nrun: {runtime: 1ns, ramp_time: 0s, retries: 0}\n\
        targets: {t: {null: {size: 1MiB}}}\nworkloads: {w: {rw: randread}}\n";
    std::fs::write(&profile, text_of_profile).unwrap();
    let output = cephmark(&["run", profile.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(4), "{stdout}{stderr}");
    assert!(stdout.contains("no I/O completed within the measured time; raise runtime"), "{stdout}");
    assert!(!stdout.contains("usr="), "{stdout}");
}

#[test]
fn results_that_prove_nothing_are_told_why_and_others_which_is_which() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let text_of_profile = "version: 1\nname: none\nrun: {runtime: 100ms, ramp_time: 0s}\n\
        targets: {t: {null: {size: 1MiB}}}\nworkloads: {w: {rw: randread}}\n";
    std::fs::write(at("p.yaml"), text_of_profile).unwrap();
    let run = |out: &str, repeats: u8| {
        let repeats = format!("run.repeats={repeats}");
        let output = cephmark(&["run", &at("p.yaml"), "--out", &at(out), "--set", &repeats]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    };
    for (out, repeats) in [("one", 1), ("two", 1), ("three", 2), ("four", 2)] {
        run(out, repeats);
    }
    let short = cephmark(&["compare", &at("one"), &at("two")]);
    assert_eq!(short.status.code(), Some(2));
    assert!(text(&short.stderr).contains("two arms ran workload w, but a single trial"), "{short:?}");
    let twice = cephmark(&["compare", &at("three"), &at("three/result.json")]);
    assert_eq!(twice.status.code(), Some(2));
    assert!(text(&twice.stderr).contains("is given twice"), "{twice:?}");
    let compared = cephmark(&["compare", &at("three"), &at("four")]);
    assert_eq!(compared.status.code(), Some(0), "{compared:?}");
    let words: String = text(&compared.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!("#1 is {}, #2 is {}", at("three"), at("four"))), "{words}");
}
