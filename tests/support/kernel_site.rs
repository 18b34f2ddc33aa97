//! cephmark as a user runs it on files and devices, without any cluster.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use cephmark::result::ResultFile;

use super::cephmark;
use super::site::{End, Running};

/// Where cephmark is run: a directory on a file system that takes direct I/O.
pub(crate) struct KernelSite(tempfile::TempDir);

impl KernelSite {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary directory"))
    }

    /// A path within the site's directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// What is in the directory beside the profile and the results.
    pub(crate) fn files(&self) -> Vec<String> {
        let names =
            fs::read_dir(self.0.path()).expect("it is there").flatten().map(|entry| entry.file_name());
        let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.retain(|name| name != "profile.yaml" && name != "out");
        names.sort();
        names
    }

    /// A command of cephmark on a profile with this target and these workloads; each trial runs for a second.
    pub(crate) fn command(&self, verb: &str, target: &str, workloads: &str, arguments: &[&str]) -> Command {
        let profile = format!(
            "version: 1\nname: test\ntargets: {{t: {target}}}\nworkloads: {workloads}\n\
             run: {{ramp_time: 0s, runtime: 1s, repeats: 1, seed: 1}}\n"
        );
        fs::write(self.path("profile.yaml"), profile).expect("a profile");
        // Of the run before.
        let _ = fs::remove_dir_all(self.path("out"));
        let out = if verb == "run" { vec!["--out", "out"] } else { Vec::new() };
        self.cephmark(&[&[verb, "profile.yaml"], &out[..], arguments].concat())
    }

    fn cephmark(&self, arguments: &[&str]) -> Command {
        let mut command = cephmark(arguments);
        command.current_dir(self.0.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// `cephmark run`, started.
    #[track_caller]
    pub(crate) fn start(&self, target: &str, workloads: &str, arguments: &[&str]) -> Running {
        Running::start(self.command("run", target, workloads, arguments))
    }

    /// `cephmark run`, to its end.
    #[track_caller]
    pub(crate) fn run(&self, target: &str, workloads: &str, arguments: &[&str]) -> End {
        self.start(target, workloads, arguments).end()
    }

    /// `cephmark run` of a shipped profile with these settings, to its end.
    #[track_caller]
    pub(crate) fn run_config(&self, name: &str, sets: &[String]) -> End {
        let profile = format!("{}/configs/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        let arguments = ["run", &profile, "--out", "out"].into_iter().chain(sets);
        self.run_command(&arguments.collect::<Vec<_>>())
    }

    /// Any other command, to its end.
    #[track_caller]
    pub(crate) fn run_command(&self, arguments: &[&str]) -> End {
        Running::start(self.cephmark(arguments)).end()
    }

    /// The result of the last run.
    #[track_caller]
    pub(crate) fn result(&self) -> ResultFile {
        ResultFile::load(&self.path("out")).unwrap_or_else(|error| panic!("{error}"))
    }
}
