//! A connection before it is made: every option is set here, for Ceph sizes its threads and caches as it connects.
#![expect(unsafe_code, reason = "calls librados")]

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::time::Duration;

use nix::errno::Errno;

use super::call::{c_text, check};
use super::cluster::{Cluster, Connection};
use super::{Error, options};

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Set-up, checks and clean-up: every operation ends within the timeout.
    Admin,
    /// The load under test, as a real client has it: an I/O to a stopped OSD waits for ever. It has an admin socket.
    Load,
}

/// A connection that is not made yet.
#[derive(Debug)]
pub struct Config {
    connection: Connection,
    conf: Option<PathBuf>,
}

impl Config {
    /// A connection as `user` (`client.admin`, or `admin` for short) with the options of the file `conf`; with `None`
    /// of the file that `CEPH_CONF` names, or else of Ceph's default places. `CEPH_ARGS` is honoured too.
    ///
    /// Implements: `rados_create2`, `rados_conf_read_file`, `rados_conf_parse_env`.
    ///
    /// # Errors
    /// [`Error::Library`] without librados; [`Error::Failed`] if the file is missing or can't be parsed.
    pub fn new(conf: Option<&Path>, user: &str, timeout: Duration, role: Role) -> Result<Self, Error> {
        let mut config = Self::bare(user, timeout)?;
        config.conf = conf.map(Path::to_owned);
        config.read_file()?;
        let seconds = timeout.as_secs().max(1).to_string();
        config.set("client_mount_timeout", &seconds)?;
        config.set("rados_mon_op_timeout", &seconds)?;
        match role {
            Role::Admin => {
                config.set("rados_osd_op_timeout", &seconds)?;
                config.set("admin_socket", "")?;
            }
            Role::Load => {
                let template = config.connection.make_socket_directory()?.join("$pid.$cctid");
                config.set("admin_socket", &template.to_string_lossy())?;
            }
        }
        Ok(config)
    }

    /// A connection that is never made, without a file: to try out options on.
    ///
    /// Implements: `rados_create2`.
    ///
    /// # Errors
    /// [`Error::Library`] without librados.
    pub fn bare(user: &str, timeout: Duration) -> Result<Self, Error> {
        let user = if user.contains('.') { user.to_owned() } else { format!("client.{user}") };
        let mut config = Self { connection: Connection::new(user, timeout)?, conf: None };
        // Complaints come to us as errors, and not to the terminal.
        for (option, value) in [("err_to_stderr", "false"), ("log_to_stderr", "false"), ("log_file", "")] {
            config.set(option, value)?;
        }
        Ok(config)
    }

    /// Sets an option; it beats the file and the monitors, but not the metadata of a pool or an image.
    ///
    /// Implements: `rados_conf_set`.
    ///
    /// # Errors
    /// [`Error::UnknownOption`], [`Error::BadValue`].
    pub fn set(&mut self, option: &str, value: &str) -> Result<(), Error> {
        let (name, text) = (c_text("an option", option)?, c_text("an option's value", value)?);
        let rados = self.connection.rados();
        // SAFETY: the handle is open, and both texts live for the call.
        let code = unsafe { rados.rados_conf_set(self.connection.raw(), name.as_ptr(), text.as_ptr()) };
        check(code).map(drop).map_err(|errno| match errno {
            Errno::ENOENT => Error::UnknownOption {
                option: option.to_owned(),
                nearest: options::nearest_option(option).map(str::to_owned),
            },
            Errno::EINVAL => Error::BadValue { option: option.to_owned(), value: value.to_owned() },
            errno => Error::failed(format!("set {option} to `{value}`"), errno, &[]),
        })
    }

    /// The value of an option as far as it is known before connecting: without what the monitors would set.
    ///
    /// Implements: `rados_conf_get`.
    ///
    /// # Errors
    /// [`Error::UnknownOption`].
    pub fn get(&self, option: &str) -> Result<String, Error> {
        self.connection.option(option)
    }

    /// Connects; blocks for at most the timeout, plus what a name service takes.
    ///
    /// Implements: `rados_connect`.
    ///
    /// # Errors
    /// [`Error::Failed`], which tells a missing keyring from an unknown user and from monitors out of reach.
    pub fn connect(self) -> Result<Cluster, Error> {
        // SAFETY: the handle was created and is not connected yet.
        let code = unsafe { self.connection.rados().rados_connect(self.connection.raw()) };
        if let Err(errno) = check(code) {
            let what = format!("connect to the cluster as {}", self.connection.user());
            let own = self.connect_remedy(errno).map(|remedy| (errno, remedy));
            let own = own.as_ref().map(|(errno, remedy)| (*errno, remedy.as_str()));
            return Err(Error::failed(what, errno, own.as_slice()));
        }
        Cluster::connected(self.connection)
    }

    fn connect_remedy(&self, errno: Errno) -> Option<String> {
        let (monitors, keyrings) = (self.get("mon_host").ok()?, self.get("keyring").ok()?);
        let user = self.connection.user();
        Some(match errno {
            Errno::ENOENT if monitors.is_empty() => format!("{} names no mon_host", self.conf_name()),
            // Without a key some releases try without authentication, and are denied for that.
            Errno::ENOENT | Errno::EACCES if !self.has_key(&keyrings) => {
                format!("no key of {user} found; it is looked for in {keyrings}")
            }
            Errno::EACCES => format!("the cluster has no {user} with this key; see `ceph auth get {user}`"),
            Errno::ETIMEDOUT => {
                format!("no answer from the monitors {monitors}; check that they run and can be reached")
            }
            _ => return None,
        })
    }

    /// Whether the user's key is in one of the keyrings, or given by an option.
    fn has_key(&self, keyrings: &str) -> bool {
        let header = format!("[{}]", self.connection.user());
        let given = |option| self.get(option).is_ok_and(|value| !value.is_empty());
        let holds =
            |path| fs::read_to_string(path).is_ok_and(|text| text.lines().any(|line| line.trim() == header));
        given("key") || given("keyfile") || keyrings.split([',', ';', ' ']).any(holds)
    }

    fn read_file(&self) -> Result<(), Error> {
        let path = self.conf.as_deref().map(|path| CString::new(path.as_os_str().as_bytes()));
        let path = path.transpose().map_err(|_| Error::Nul { what: "the path of ceph.conf" })?;
        let rados = self.connection.rados();
        let start = path.as_ref().map_or(ptr::null(), |path| path.as_ptr());
        // SAFETY: the handle is open; the path is null (the default places) or lives for the call.
        let code = unsafe { rados.rados_conf_read_file(self.connection.raw(), start) };
        check(code).map_err(|errno| {
            let remedy = "set `cluster.conf` in the profile, or CEPH_CONF, to the cluster's ceph.conf";
            Error::failed(format!("read {}", self.conf_name()), errno, &[(Errno::ENOENT, remedy)])
        })?;
        // SAFETY: the handle is open, and null stands for CEPH_ARGS.
        let code = unsafe { rados.rados_conf_parse_env(self.connection.raw(), ptr::null()) };
        check(code).map(drop).map_err(|errno| Error::failed("parse CEPH_ARGS", errno, &[]))
    }

    fn conf_name(&self) -> String {
        let named = self.conf.clone().or_else(|| std::env::var_os("CEPH_CONF").map(PathBuf::from));
        named.map_or_else(|| "ceph.conf in its default places".to_owned(), |path| path.display().to_string())
    }
}
