//! `cephmark report`: a saved result in the format asked for.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::console;
use crate::exit::Exit;
use crate::report::{Detail, Layout, csv, json, markdown, text};
use crate::result::{LoadError, ResultFile, file_of};

const EXAMPLES: &str = "\
Examples:
  cephmark report results/rbd-4k-20260131T120000Z
  cephmark report results/monday --trials
  cephmark report results/monday/result.json --format csv -o monday.csv";

/// Report a saved result.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ReportArgs {
    /// A result.json, or the directory it is in
    result: PathBuf,
    /// What to make of it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Where to write it, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Show every single trial, even of a run with repeats (text and markdown)
    #[arg(long)]
    trials: bool,
}

/// A format of reports.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// Tables for a terminal
    Text,
    /// One row for each trial, job and operation
    Csv,
    /// To paste into an issue or a wiki
    Markdown,
    /// The result itself
    Json,
}

/// A report that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The result can't be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The report would take the place of the result.
    #[error("{} is the result itself, which the report would overwrite; choose another file with -o", path.display())]
    Overwrites {
        /// The result, as it was named for the report.
        path: PathBuf,
    },
    /// The report can't be written.
    #[error("can't write {}: {source}; choose another file with -o", path.display())]
    Write {
        /// Where to.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl ReportError {
    /// The exit code.
    #[must_use]
    pub const fn exit(&self) -> Exit {
        Exit::Usage
    }
}

/// Writes the report.
///
/// # Errors
/// [`ReportError`] if the result can't be read or the report can't be written.
pub fn run(args: &ReportArgs) -> Result<(), ReportError> {
    let result = ResultFile::load(&args.result)?;
    if let Some(path) = args.output.as_ref().filter(|output| is_same(output, &file_of(&args.result))) {
        return Err(ReportError::Overwrites { path: path.clone() });
    }
    let detail = if args.trials { Detail::Trials } else { Detail::Unrepeated };
    let report = match (args.format, &args.output) {
        (Format::Text, None) => text(&result, Layout::of_stdout(detail)),
        (Format::Text, Some(_)) => text(&result, Layout::of_file(detail)),
        (Format::Csv, _) => csv(&result),
        (Format::Markdown, _) => markdown(&result, detail),
        (Format::Json, _) => json(&result),
    };
    let failed = |path: PathBuf| move |source| ReportError::Write { path, source };
    match &args.output {
        Some(path) => fs::write(path, report).map_err(failed(path.clone())),
        None => console::print(&report).map_err(failed("standard output".into())),
    }
}

/// Whether both are one file, by whatever links.
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::result::Timestamp;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        report: ReportArgs,
    }

    fn report(arguments: &[&str]) -> Result<(), ReportError> {
        let cli = Cli::parse_from([&["report"], arguments].concat());
        run(&cli.report)
    }

    #[test]
    fn each_format_is_written_where_asked() {
        let directory = tempfile::tempdir().expect("there is room in /tmp");
        let profile = serde_json::json!({"name": "sample"});
        ResultFile::new(profile, Timestamp::now()).save(directory.path()).expect("it is writable");
        let [result, output] = [directory.path().to_owned(), directory.path().join("report")];
        for (format, start) in
            [("text", "sample  cephmark"), ("csv", "run,"), ("markdown", "# sample"), ("json", "{")]
        {
            let paths = [result.to_str().expect("UTF-8"), "-o", output.to_str().expect("UTF-8")];
            report(&[&paths[..], &["--format", format]].concat()).expect("it can be written");
            assert!(fs::read_to_string(&output).expect("it was written").starts_with(start));
        }
    }

    #[test]
    fn the_result_is_not_overwritten_by_whatever_name() {
        let directory = tempfile::tempdir().expect("there is room in /tmp");
        let at = |name: &str| directory.path().join(name);
        ResultFile::new(serde_json::json!({"name": "sample"}), Timestamp::now())
            .save(directory.path())
            .expect("it is writable");
        std::os::unix::fs::symlink(at("result.json"), at("symbolic")).expect("it is writable");
        fs::hard_link(at("result.json"), at("hard")).expect("it is writable");
        for result in [directory.path().to_owned(), at("result.json"), at("symbolic")] {
            for output in ["result.json", "symbolic", "hard"].map(at) {
                let [result, output] = [&result, &output].map(|path| path.to_str().expect("UTF-8"));
                let error = report(&[result, "-o", output, "--format", "csv"]).expect_err("it is the input");
                assert!(error.to_string().starts_with(&format!("{output} is the result itself")), "{error}");
                assert_eq!(error.exit(), Exit::Usage);
            }
        }
        ResultFile::load(directory.path()).expect("it is as it was");
    }

    #[test]
    fn a_missing_result_is_a_usage_error_that_names_it() {
        let error = report(&["/nowhere/result.json"]).expect_err("there is no such file");
        assert_eq!(error.exit(), Exit::Usage);
        assert!(error.to_string().starts_with("can't read /nowhere/result.json: "));
    }
}
