//! Parse, run, exit code.

use std::process::ExitCode;

use cephmark::cli::lab::{self, LabArgs};
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Lab(LabArgs),
}

fn main() -> ExitCode {
    let Command::Lab(args) = Cli::parse().command;
    lab::run(args).unwrap_or_else(|error| {
        eprintln!("cephmark: {error}");
        error.exit().into()
    })
}
