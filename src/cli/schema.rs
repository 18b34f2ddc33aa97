//! `cephmark schema`: the formats of cephmark's files as JSON Schema, for editors and for programs.

use clap::{Args, ValueEnum};
use schemars::schema_for;

use super::{Failure, print};
use crate::profile::Profile;
use crate::result::ResultFile;

const EXAMPLES: &str = "\
Examples:
  cephmark schema profile > profile.schema.json
  With `# yaml-language-server: $schema=profile.schema.json` on top of a profile, editors complete its keys.";

/// Print the JSON Schema of a file format.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct SchemaArgs {
    /// Which format.
    #[arg(value_enum)]
    pub format: Format,
}

/// A file format of cephmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// What a run is told to do.
    Profile,
    /// What a run found.
    Result,
}

/// Prints the schema.
///
/// # Errors
/// [`Failure`] if it can't be written.
pub fn run(args: &SchemaArgs) -> Result<(), Failure> {
    let schema = match args.format {
        Format::Profile => schema_for!(Profile),
        Format::Result => schema_for!(ResultFile),
    };
    print(&format!("{:#}\n", schema.as_value()))
}
