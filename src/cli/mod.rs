//! The command line: one file for each subcommand.

pub mod lab;
mod signals;
//! The commands, one a file.

pub mod report;
