//! Standard output and standard error, which may be closed or full: the only place that writes to either.

use std::fmt::Display;
use std::io::{self, Write};

/// Prints to standard output. Whoever closes the pipe early, as `head` does, has seen enough.
///
/// # Errors
/// Whatever else is wrong with standard output, such as a full disk.
pub fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Says a line on standard error. Where that can't be written to, there is nowhere to say so.
pub fn say(line: impl Display) {
    let _ = io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}
