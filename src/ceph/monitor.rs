//! What the monitors tell: any command of theirs, and the few facts every result carries.
#![expect(unsafe_code, reason = "calls librados")]

use std::ffi::c_char;
use std::ptr;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::call::{c_text, check};
use super::{Cluster, Error};

/// The release that the monitors run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Its number, such as `16.2.15`.
    pub number: String,
    /// Its name, such as `pacific`.
    pub name: String,
}

/// How many OSDs there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Osds {
    /// All that the cluster knows.
    #[serde(rename = "num_osds")]
    pub total: u32,
    /// Those that run.
    #[serde(rename = "num_up_osds")]
    pub up: u32,
    /// Those that hold data.
    #[serde(rename = "num_in_osds")]
    pub taking_data: u32,
}

impl Cluster {
    /// Sends a command, an object with at least a `prefix`, and returns the reply; null if there is none.
    ///
    /// Implements: `rados_mon_command`.
    ///
    /// # Errors
    /// [`Error::Command`] with the monitor's reason; [`Error::Reply`] if the reply is no JSON.
    pub fn mon_command(&self, command: &Value) -> Result<Value, Error> {
        let mut command = command.clone();
        command["format"] = json!("json");
        let prefix = command["prefix"].as_str().unwrap_or_default().to_owned();
        let (reply, _) = self.send(&prefix, &command.to_string())?;
        if reply.iter().all(u8::is_ascii_whitespace) {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&reply)
            .map_err(|error| Error::Reply { command: prefix, reason: error.to_string() })
    }

    /// As [`Cluster::mon_command`] without arguments, into a type.
    pub(super) fn ask<T: DeserializeOwned>(&self, command: &Value) -> Result<T, Error> {
        let reply = self.mon_command(command)?;
        let prefix = command["prefix"].as_str().unwrap_or_default();
        T::deserialize(reply)
            .map_err(|error| Error::Reply { command: prefix.to_owned(), reason: error.to_string() })
    }

    /// The addresses at which the monitors speak that version of the protocol, `v1` or `v2`, as `ADDRESS:PORT`.
    ///
    /// # Errors
    /// As [`Cluster::mon_command`].
    pub fn monitor_addresses(&self, version: &str) -> Result<Vec<String>, Error> {
        let map = self.mon_command(&json!({"prefix": "mon dump"}))?;
        let monitors = map["mons"].as_array().into_iter().flatten();
        let addresses =
            monitors.flat_map(|monitor| monitor["public_addrs"]["addrvec"].as_array().into_iter().flatten());
        let spoken = addresses.filter(|address| address["type"] == version);
        Ok(spoken.filter_map(|address| address["addr"].as_str().map(str::to_owned)).collect())
    }

    /// The release of the monitors.
    ///
    /// # Errors
    /// As [`Cluster::mon_command`].
    pub fn version(&self) -> Result<Version, Error> {
        #[derive(Deserialize)]
        struct Reply {
            version: String,
        }
        let Reply { version } = self.ask(&json!({"prefix": "version"}))?;
        Version::parse(&version).ok_or(Error::Reply { command: "version".to_owned(), reason: version })
    }

    /// How many OSDs there are.
    ///
    /// # Errors
    /// As [`Cluster::mon_command`].
    pub fn osds(&self) -> Result<Osds, Error> {
        self.ask(&json!({"prefix": "osd stat"}))
    }

    fn send(&self, prefix: &str, command: &str) -> Result<(Vec<u8>, String), Error> {
        let command = c_text("a monitor command", command)?;
        let mut commands = [command.as_ptr()];
        let (mut output, mut output_len): (*mut c_char, usize) = (ptr::null_mut(), 0);
        let (mut status, mut status_len): (*mut c_char, usize) = (ptr::null_mut(), 0);
        // SAFETY: the handle is connected, one command lives for the call, there is no input, and the outputs are
        // places to write to.
        let code = unsafe {
            self.rados().rados_mon_command(
                self.raw(),
                commands.as_mut_ptr(),
                1,
                ptr::null(),
                0,
                &raw mut output,
                &raw mut output_len,
                &raw mut status,
                &raw mut status_len,
            )
        };
        let (output, status) = (self.taken(output, output_len), self.taken(status, status_len));
        let status = String::from_utf8_lossy(&status).into_owned();
        check(code).map_err(|errno| Error::command(prefix, errno, status.clone()))?;
        Ok((output, status))
    }

    /// Copies a buffer that librados allocated, and frees it.
    fn taken(&self, start: *mut c_char, len: usize) -> Vec<u8> {
        if start.is_null() {
            return Vec::new();
        }
        // SAFETY: librados gave `len` bytes from `start` on, which is not null.
        let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), len) }.to_vec();
        // SAFETY: the buffer is librados' own, and freed once.
        unsafe { self.rados().rados_buffer_free(start) };
        bytes
    }
}

impl Version {
    /// From "ceph version 16.2.15 (618f440892…) pacific (stable)".
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.strip_prefix("ceph version ")?.split_whitespace();
        let number = words.next()?.to_owned();
        let name = words.find(|word| !word.starts_with('('))?.to_owned();
        Some(Self { number, name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_has_a_number_and_a_name() {
        let text = "ceph version 16.2.15 (618f440892089921c3e944a991122ddc44e60516) pacific (stable)";
        let version = Version { number: "16.2.15".to_owned(), name: "pacific".to_owned() };
        assert_eq!(Version::parse(text), Some(version));
        assert_eq!(Version::parse("something else"), None);
    }
}
