//! A client's own admin socket: its performance counters, its options with their sources, its operations in flight.
//!
//! Ceph has no C function for any of these. The protocol: a JSON command and a NUL; the reply is its length, four
//! bytes with the highest first, and that many bytes.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Error;

/// The longest reply read, in bytes: a bound against nonsense, far above any real one.
const LONGEST: u32 = 1 << 28;

/// The admin socket of a connection for load. Every command is a conversation of its own, so that a stuck one blocks
/// no other.
#[derive(Clone, Debug)]
pub struct AdminSocket {
    path: PathBuf,
    limit: Duration,
}

impl AdminSocket {
    pub(super) const fn new(path: PathBuf, limit: Duration) -> Self {
        Self { path, limit }
    }

    /// Every performance counter, by logger; those of an image (`librbd-…`) are gone once it is closed.
    ///
    /// # Errors
    /// As [`AdminSocket::command`].
    pub fn perf_dump(&self) -> Result<Value, Error> {
        self.command(&json!({"prefix": "perf dump"}))
    }

    /// Every option of the client with its value.
    ///
    /// # Errors
    /// As [`AdminSocket::command`].
    pub fn config_show(&self) -> Result<Value, Error> {
        self.command(&json!({"prefix": "config show"}))
    }

    /// The options that differ from their defaults, each with the values of all levels (`file`, `mon`, `override`, …).
    ///
    /// # Errors
    /// As [`AdminSocket::command`].
    pub fn config_diff(&self) -> Result<Value, Error> {
        self.command(&json!({"prefix": "config diff"}))
    }

    /// The operations that wait for an OSD, with the OSD and their age: for the report of a hang.
    ///
    /// # Errors
    /// As [`AdminSocket::command`].
    pub fn requests_in_flight(&self) -> Result<Value, Error> {
        self.command(&json!({"prefix": "objecter_requests"}))
    }

    /// Sends a command, an object with at least a `prefix`, and returns the reply.
    ///
    /// # Errors
    /// [`Error::AdminSocket`] if there is none within the connection's timeout; [`Error::Reply`] if it is no JSON,
    /// which is how the client says that it does not know the command.
    pub fn command(&self, command: &Value) -> Result<Value, Error> {
        let prefix = command["prefix"].as_str().unwrap_or_default().to_owned();
        let reply = self.converse(&command.to_string()).map_err(|source| Error::AdminSocket {
            path: self.path.clone(),
            command: prefix.clone(),
            source,
        })?;
        serde_json::from_slice(&reply).map_err(|error| {
            let said = String::from_utf8_lossy(&reply[..reply.len().min(200)]).trim().to_owned();
            Error::Reply { command: prefix, reason: format!("{error}: `{said}`") }
        })
    }

    fn converse(&self, command: &str) -> io::Result<Vec<u8>> {
        let deadline = Instant::now() + self.limit;
        let mut stream = UnixStream::connect(&self.path)?;
        stream.set_write_timeout(Some(self.limit))?;
        stream.write_all(command.as_bytes())?;
        stream.write_all(&[0])?;
        let mut len = [0; 4];
        read_until(&mut stream, &mut len, deadline)?;
        let len = u32::from_be_bytes(len);
        if len > LONGEST {
            return Err(io::Error::other(format!("a reply of {len} bytes can't be one")));
        }
        let mut reply = vec![0; len as usize];
        read_until(&mut stream, &mut reply, deadline)?;
        Ok(reply)
    }
}

/// Fills the buffer; the deadline is for all of it, however slowly it comes.
fn read_until(stream: &mut UnixStream, buffer: &mut [u8], deadline: Instant) -> io::Result<()> {
    let mut filled = 0;
    while filled < buffer.len() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut buffer[filled..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(io::ErrorKind::TimedOut.into());
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::thread;

    use super::*;

    /// A client that answers one command with these bytes, and keeps the conversation open.
    fn socket_that_says(
        reply: Vec<u8>,
        limit: Duration,
    ) -> (tempfile::TempDir, AdminSocket, thread::JoinHandle<UnixStream>) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("asok");
        let listener = UnixListener::bind(&path).expect("a socket");
        let client = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a conversation");
            let mut byte = [1];
            while byte != [0] {
                stream.read_exact(&mut byte).expect("a command that ends with a NUL");
            }
            stream.write_all(&reply).expect("someone reads");
            stream
        });
        (directory, AdminSocket::new(path, limit), client)
    }

    #[test]
    fn a_reply_is_read_by_its_length() {
        let (_directory, socket, _client) =
            socket_that_says(b"\0\0\0\x0a{\"a\": [1]}tail".to_vec(), Duration::from_secs(60));
        assert_eq!(socket.perf_dump().expect("a reply"), json!({"a": [1]}));
    }

    #[test]
    fn a_reply_that_is_no_json_is_quoted() {
        let (_directory, socket, _client) =
            socket_that_says(b"\0\0\0\x04nope".to_vec(), Duration::from_secs(60));
        let error = socket.perf_dump().expect_err("no JSON").to_string();
        assert!(
            error.starts_with("can't read the reply to `perf dump`:") && error.ends_with("`nope`"),
            "{error}"
        );
    }

    #[test]
    fn a_client_that_stops_in_the_middle_of_a_reply_is_given_up() {
        let (_directory, socket, _client) =
            socket_that_says(b"\0\0\0\x0a{\"a\"".to_vec(), Duration::from_millis(50));
        let error = socket.perf_dump().expect_err("half a reply");
        assert!(
            matches!(&error, Error::AdminSocket { source, .. } if source.kind() == io::ErrorKind::TimedOut),
            "{error}"
        );
    }
}
