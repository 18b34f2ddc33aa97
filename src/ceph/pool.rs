//! A pool, and within it a namespace: where images and objects are.
#![expect(unsafe_code, reason = "calls librados and librbd")]

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use ceph_sys::rbd::rbd_image_spec_t;
use nix::errno::Errno;

use super::call::{Raw, c_text, check, grown, listed, split_nul, text};
use super::{Cluster, Error, Image, Layout, View};

/// A pool with a namespace, opened by [`Cluster::pool`]. Clones share it.
#[derive(Clone, Debug)]
pub struct Pool(Arc<IoCtx>);

#[derive(Debug)]
struct IoCtx {
    raw: Raw,
    cluster: Cluster,
    name: String,
    namespace: Option<String>,
}

impl Pool {
    pub(super) fn open(cluster: &Cluster, name: &str, namespace: Option<&str>) -> Result<Self, Error> {
        let (pool, space) =
            (c_text("a pool's name", name)?, c_text("a namespace", namespace.unwrap_or_default())?);
        let mut raw = ptr::null_mut();
        // SAFETY: the cluster is connected, the name lives for the call, and `raw` is a place to write to.
        let code = unsafe { cluster.rados().rados_ioctx_create(cluster.raw(), pool.as_ptr(), &raw mut raw) };
        check(code).map_err(|errno| {
            let remedy = "there is no such pool; see `ceph osd pool ls`";
            Error::failed(format!("open the pool {name}"), errno, &[(Errno::ENOENT, remedy)])
        })?;
        // SAFETY: the I/O context was just created, and nobody else has it yet.
        unsafe { cluster.rados().rados_ioctx_set_namespace(raw, space.as_ptr()) };
        let namespace = namespace.filter(|namespace| !namespace.is_empty()).map(str::to_owned);
        Ok(Self(Arc::new(IoCtx {
            raw: Raw::new(raw),
            cluster: cluster.clone(),
            name: name.to_owned(),
            namespace,
        })))
    }

    /// The pool's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The namespace; none is the pool's own.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.0.namespace.as_deref()
    }

    /// The connection.
    #[must_use]
    pub fn cluster(&self) -> &Cluster {
        &self.0.cluster
    }

    /// The pool's number.
    ///
    /// Implements: `rados_ioctx_get_id`.
    #[must_use]
    pub fn id(&self) -> i64 {
        // SAFETY: the I/O context is open.
        unsafe { self.cluster().rados().rados_ioctx_get_id(self.raw()) }
    }

    /// The names of the images.
    ///
    /// Implements: `rbd_list2`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn images(&self) -> Result<Vec<String>, Error> {
        let rbd = ceph_sys::rbd()?;
        let mut entries = listed::<rbd_image_spec_t>(|first, filled| {
            // SAFETY: the I/O context is open, and there is room for `filled` entries.
            check(unsafe { rbd.rbd_list2(self.raw(), first, filled) }).map(drop)
        })
        .map_err(|errno| Error::failed(format!("list the images of {self}"), errno, &[]))?;
        // SAFETY: librbd filled the entries with strings of its own.
        let names = entries.iter().map(|entry| unsafe { text(entry.name) }).collect();
        // SAFETY: these are the entries that librbd filled; their strings are freed once, here.
        unsafe { rbd.rbd_image_spec_list_cleanup(entries.as_mut_ptr(), entries.len()) };
        Ok(names)
    }

    /// The namespaces that RBD knows in the pool, beside the pool's own.
    ///
    /// Implements: `rbd_namespace_list`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn namespaces(&self) -> Result<Vec<String>, Error> {
        let rbd = ceph_sys::rbd()?;
        let names = grown(|buffer| {
            let mut size = buffer.len();
            // SAFETY: the I/O context is open, and the buffer has that much room.
            let code =
                unsafe { rbd.rbd_namespace_list(self.raw(), buffer.as_mut_ptr().cast(), &raw mut size) };
            check(code).map(|_| size)
        });
        let names =
            names.map_err(|errno| Error::failed(format!("list the namespaces of {self}"), errno, &[]))?;
        Ok(split_nul(&names).into_iter().filter(|name| !name.is_empty()).collect())
    }

    /// Opens an image.
    ///
    /// Implements: `rbd_open`, `rbd_open_read_only`.
    ///
    /// # Errors
    /// [`Error::Failed`], with `ENOENT` if the image, its namespace or the snapshot is missing.
    pub fn image(&self, name: &str, view: View<'_>) -> Result<Image, Error> {
        Image::open(self, name, view)
    }

    /// Creates an image.
    ///
    /// Implements: `rbd_create4`.
    ///
    /// # Errors
    /// [`Error::Failed`]: `EEXIST` if there is one of that name, `EINVAL` if the layout makes no sense, `ENOENT` if the
    /// namespace or the data pool is missing.
    pub fn create_image(&self, name: &str, layout: &Layout) -> Result<(), Error> {
        layout.create(self, name)
    }

    /// Removes an image with all its data. Blocks for as long as that takes.
    ///
    /// Implements: `rbd_remove`.
    ///
    /// # Errors
    /// [`Error::Failed`]: `ENOENT` if there is none, `EBUSY` if somebody has it open, `ENOTEMPTY` if it has snapshots.
    pub fn remove_image(&self, name: &str) -> Result<(), Error> {
        let image = c_text("an image's name", name)?;
        // SAFETY: the I/O context is open, and the name lives for the call.
        let code = unsafe { ceph_sys::rbd()?.rbd_remove(self.raw(), image.as_ptr()) };
        let remedies = [
            (
                Errno::EBUSY,
                "a client has it open, or one that crashed had within the last 30 s; see `rbd status`",
            ),
            (Errno::ENOTEMPTY, "it has snapshots; see `rbd snap ls`"),
            (Errno::ENOENT, "there is no such image; see `rbd ls`"),
        ];
        check(code)
            .map(drop)
            .map_err(|errno| Error::failed(format!("remove the image {self}/{name}"), errno, &remedies))
    }

    /// Whether RBD knows the pool's namespace; the pool's own always exists.
    ///
    /// Implements: `rbd_namespace_exists`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn has_namespace(&self) -> Result<bool, Error> {
        let Some(namespace) = self.namespace() else { return Ok(true) };
        let space = c_text("a namespace", namespace)?;
        let mut exists = false;
        // SAFETY: the I/O context is open, the name lives for the call, and `exists` is a place to write to.
        let code =
            unsafe { ceph_sys::rbd()?.rbd_namespace_exists(self.raw(), space.as_ptr(), &raw mut exists) };
        check(code).map_err(|errno| Error::failed(format!("look for the namespace {self}"), errno, &[]))?;
        Ok(exists)
    }

    pub(super) fn raw(&self) -> *mut c_void {
        self.0.raw.get()
    }
}

/// `pool` or `pool/namespace`.
impl std::fmt::Display for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())?;
        self.namespace().map_or(Ok(()), |namespace| write!(f, "/{namespace}"))
    }
}

impl Drop for IoCtx {
    fn drop(&mut self) {
        // SAFETY: the I/O context is open and this is its last holder: images hold the pool for as long as they are.
        unsafe { self.cluster.rados().rados_ioctx_destroy(self.raw.get()) };
    }
}
