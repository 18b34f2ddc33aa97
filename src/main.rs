//! Parse, run, exit code.

use std::process::ExitCode;

use cephmark::ceph;
use cephmark::cli::Cli;
use cephmark::console;
use clap::Parser;

fn main() -> ExitCode {
    let code = Cli::parse().command.run().unwrap_or_else(|failure| {
        console::say(format_args!("cephmark: {failure}"));
        failure.exit as u8
    });
    // A call that hangs in Ceph's libraries must not keep the process from ending, nor crash it on its way out.
    ceph::leave_if_stuck(code);
    code.into()
}
