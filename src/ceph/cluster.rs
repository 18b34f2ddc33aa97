//! A connection to a cluster.
#![expect(unsafe_code, reason = "calls librados")]

use std::ffi::{c_char, c_void};
use std::path::Path;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use ceph_sys::rados::Rados;
use nix::errno::Errno;

use super::call::{Raw, c_text, check, grown, text};
use super::deadline::finish_within;
use super::socket_directory::SocketDirectory;
use super::{AdminSocket, Error, Pool};
use crate::console::say;

/// A connection to a cluster, made by [`super::Config::connect`]. Clones share it; the last one disconnects.
#[derive(Clone, Debug)]
pub struct Cluster(Arc<Open>);

#[derive(Debug)]
struct Open {
    socket: Option<AdminSocket>,
    connection: Connection,
}

/// The bare handle, connected or not.
#[derive(Debug)]
pub(super) struct Connection {
    raw: Raw,
    rados: &'static Rados,
    user: String,
    timeout: Duration,
    directory: Option<SocketDirectory>,
}

impl Cluster {
    pub(super) fn connected(connection: Connection) -> Result<Self, Error> {
        let path = connection.option("admin_socket")?;
        let socket = (!path.is_empty()).then(|| AdminSocket::new(path.into(), connection.timeout));
        Ok(Self(Arc::new(Open { socket, connection })))
    }

    /// The value of an option as the client has it, with what the monitors set. Pool and image metadata may override
    /// it still: see [`super::Image::options`].
    ///
    /// Implements: `rados_conf_get`.
    ///
    /// # Errors
    /// [`Error::UnknownOption`].
    pub fn option(&self, name: &str) -> Result<String, Error> {
        self.0.connection.option(name)
    }

    /// The user's name, such as `client.admin`.
    #[must_use]
    pub fn user(&self) -> &str {
        self.0.connection.user()
    }

    /// What this connection was given as the timeout of its operations.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.0.connection.timeout
    }

    /// This client's own admin socket, if it is a connection for load.
    #[must_use]
    pub fn admin_socket(&self) -> Option<&AdminSocket> {
        self.0.socket.as_ref()
    }

    /// The cluster's id, as 36 characters.
    ///
    /// Implements: `rados_cluster_fsid`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn fsid(&self) -> Result<String, Error> {
        let bytes = grown(|buffer| {
            // SAFETY: the handle is connected, and the buffer has that much room.
            let code = unsafe {
                self.rados().rados_cluster_fsid(self.raw(), buffer.as_mut_ptr().cast(), buffer.len())
            };
            check(code).map(|filled| usize::try_from(filled).unwrap_or(0))
        });
        let bytes = bytes.map_err(|errno| Error::failed("get the cluster's id", errno, &[]))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The client's number in the cluster: of watchers and in the cluster's log.
    ///
    /// Implements: `rados_get_instance_id`.
    #[must_use]
    pub fn instance_id(&self) -> u64 {
        // SAFETY: the handle is connected.
        unsafe { self.rados().rados_get_instance_id(self.raw()) }
    }

    /// The client's addresses, as the blocklist names them.
    ///
    /// Implements: `rados_getaddrs`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn addresses(&self) -> Result<String, Error> {
        let mut start: *mut c_char = ptr::null_mut();
        // SAFETY: the handle is connected, and `start` is a place to write to.
        let code = unsafe { self.rados().rados_getaddrs(self.raw(), &raw mut start) };
        check(code).map_err(|errno| Error::failed("get the client's addresses", errno, &[]))?;
        // SAFETY: librados allocated a string.
        let addresses = unsafe { text(start) };
        // SAFETY: it is librados' own, and freed once.
        unsafe { self.rados().rados_buffer_free(start) };
        Ok(addresses)
    }

    /// Opens a pool; see [`Pool`].
    ///
    /// Implements: `rados_ioctx_create`, `rados_ioctx_set_namespace`.
    ///
    /// # Errors
    /// [`Error::Failed`], with `ENOENT` if there is no such pool.
    pub fn pool(&self, name: &str, namespace: Option<&str>) -> Result<Pool, Error> {
        Pool::open(self, name, namespace)
    }

    /// Disconnects, unless other handles still use the connection. Dropping does the same, but can't report.
    ///
    /// Implements: `rados_shutdown`.
    ///
    /// # Errors
    /// [`Error::Stuck`] if it takes longer than the connection's timeout; the connection is left behind then.
    pub fn close(self) -> Result<(), Error> {
        Arc::into_inner(self.0).map_or(Ok(()), |mut open| open.connection.shut())
    }

    pub(super) fn rados(&self) -> &'static Rados {
        self.0.connection.rados
    }

    pub(super) fn raw(&self) -> *mut c_void {
        self.0.connection.raw()
    }
}

impl Connection {
    pub(super) fn new(user: String, timeout: Duration) -> Result<Self, Error> {
        let rados = ceph_sys::rados()?;
        let name = c_text("the user", &user)?;
        let mut raw = ptr::null_mut();
        // SAFETY: `raw` is a place to write to, and the names live for the call.
        let code = unsafe { rados.rados_create2(&raw mut raw, c"ceph".as_ptr(), name.as_ptr(), 0) };
        check(code).map_err(|errno| {
            let remedy = "a user is named like client.admin";
            Error::failed(format!("set up a client as `{user}`"), errno, &[(Errno::EINVAL, remedy)])
        })?;
        Ok(Self { raw: Raw::new(raw), rados, user, timeout, directory: None })
    }

    /// Where its admin socket goes; removed with the connection.
    pub(super) fn make_socket_directory(&mut self) -> Result<&Path, Error> {
        Ok(self.directory.insert(SocketDirectory::make()?).path())
    }

    pub(super) fn option(&self, name: &str) -> Result<String, Error> {
        let option = c_text("an option", name)?;
        let bytes = grown(|buffer| {
            // SAFETY: the handle is open, the name lives for the call, and the buffer has that much room.
            let code = unsafe {
                self.rados.rados_conf_get(
                    self.raw.get(),
                    option.as_ptr(),
                    buffer.as_mut_ptr().cast(),
                    buffer.len(),
                )
            };
            check(code).map(|_| buffer.iter().position(|byte| *byte == 0).unwrap_or(buffer.len()))
        });
        let bytes = bytes.map_err(|errno| match errno {
            Errno::ENOENT => Error::UnknownOption {
                option: name.to_owned(),
                nearest: super::nearest_option(name).map(str::to_owned),
            },
            errno => Error::failed(format!("read the option {name}"), errno, &[]),
        })?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    pub(super) fn user(&self) -> &str {
        &self.user
    }

    pub(super) const fn rados(&self) -> &'static Rados {
        self.rados
    }

    pub(super) const fn raw(&self) -> *mut c_void {
        self.raw.get()
    }

    fn shut(&mut self) -> Result<(), Error> {
        let Some(raw) = self.raw.take() else { return Ok(()) };
        let rados = self.rados;
        finish_within("disconnecting", self.timeout, move || {
            // SAFETY: nobody else has the handle: it was taken above, and pools and images hold the connection.
            unsafe { rados.rados_shutdown(raw.get()) };
            Ok(())
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Err(error) = self.shut() {
            say(error);
        }
    }
}
