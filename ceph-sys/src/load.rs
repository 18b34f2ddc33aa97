//! Finds the shared libraries, and says what to install where there are none.

use std::env;
use std::error::Error;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::OnceLock;

use crate::cephfs::Cephfs;
use crate::rados::Rados;
use crate::rbd::Rbd;

/// The environment variable that names a directory to load the libraries from, instead of the system's own; what
/// they depend on is still looked up in the usual way (`LD_LIBRARY_PATH`).
pub const LIBRARY_DIR: &str = "CEPH_LIBRARY_DIR";

/// One of Ceph's client libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// librados: the cluster itself, pools and objects.
    Rados,
    /// librbd: block devices.
    Rbd,
    /// libcephfs: the file system.
    Cephfs,
}

/// Why a library, or a function in it, can't be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The library, or one that it depends on, is not there.
    #[error(
        "can't load {library} ({reason}); install the package {package}, or set {LIBRARY_DIR} to where it is"
    )]
    NotInstalled {
        /// Its file name.
        library: &'static str,
        /// Its package, of the same name in Debian's and in RPM's repositories.
        package: &'static str,
        /// What the loader says.
        reason: String,
    },
    /// The library lacks a function that every release from Ceph 16 on has.
    #[error("{library} is too old ({reason}); install {package} of Ceph 16 or newer")]
    TooOld {
        /// Its file name.
        library: &'static str,
        /// Its package.
        package: &'static str,
        /// What the loader says; it names the function.
        reason: String,
    },
    /// The library lacks a function that not every supported release has.
    #[error("{library} has no {symbol}{}", since.map(|release| format!(", which came with Ceph {release}")).unwrap_or_default())]
    Lacks {
        /// The library's file name.
        library: &'static str,
        /// The function.
        symbol: String,
        /// The release that brought it, if known.
        since: Option<u32>,
    },
}

/// Functions that came after Ceph 16, with the release known to have them.
const NEWER: [(&str, u32); 7] = [
    ("rbd_aio_compare_and_writev", 18),
    ("rbd_diff_iterate3", 18),
    ("rbd_encryption_load2", 18),
    ("rbd_aio_write_with_crc32c", 20),
    ("rbd_clone4", 20),
    ("ceph_get_perf_counters", 20),
    ("ceph_ll_nonblocking_readv_writev", 20),
];

impl Library {
    /// Looks a function up that is newer than the oldest release supported, or than the headers of the build.
    ///
    /// # Errors
    /// [`LoadError`] if the library is not there or lacks the function.
    ///
    /// # Safety
    /// `F` must be the function's own pointer type.
    pub unsafe fn newer<F: Copy>(self, symbol: &str) -> Result<F, LoadError> {
        let library = self.open(env::var_os(LIBRARY_DIR).as_deref())?;
        // SAFETY: the caller vouches for the type.
        let found = unsafe { library.get::<F>(symbol) }.map(|function| *function);
        std::mem::forget(library);
        found.map_err(|_| LoadError::Lacks {
            library: self.file(),
            symbol: symbol.to_owned(),
            since: NEWER.iter().find(|(name, _)| *name == symbol).map(|(_, release)| *release),
        })
    }

    const fn file(self) -> &'static str {
        match self {
            Self::Rados => "librados.so.2",
            Self::Rbd => "librbd.so.1",
            Self::Cephfs => "libcephfs.so.2",
        }
    }

    const fn package(self) -> &'static str {
        match self {
            Self::Rados => "librados2",
            Self::Rbd => "librbd1",
            Self::Cephfs => "libcephfs2",
        }
    }

    fn open(self, directory: Option<&OsStr>) -> Result<libloading::Library, LoadError> {
        let path =
            directory.map_or_else(|| self.file().into(), |directory| Path::new(directory).join(self.file()));
        // SAFETY: the initialisers of Ceph's libraries have no precondition; they only set up their own globals.
        unsafe { libloading::Library::new(path) }.map_err(|error| LoadError::NotInstalled {
            library: self.file(),
            package: self.package(),
            reason: reason(&error),
        })
    }

    fn load<T>(
        self,
        bind: impl FnOnce(libloading::Library) -> Result<T, libloading::Error>,
    ) -> Result<&'static T, LoadError> {
        let library = self.open(env::var_os(LIBRARY_DIR).as_deref())?;
        let functions = bind(library).map_err(|error| LoadError::TooOld {
            library: self.file(),
            package: self.package(),
            reason: reason(&error),
        })?;
        Ok(Box::leak(Box::new(functions)))
    }
}

/// The loader's own words, which libloading keeps as the source of its error.
fn reason(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// The functions of librados.
///
/// # Errors
/// [`LoadError`] if the library is not there or too old; the same on every further call.
pub fn rados() -> Result<&'static Rados, &'static LoadError> {
    static RADOS: OnceLock<Result<&'static Rados, LoadError>> = OnceLock::new();
    // SAFETY: the library is librados, whose headers the bindings were generated from, so the signatures are its own.
    RADOS
        .get_or_init(|| Library::Rados.load(|library| unsafe { Rados::from_library(library) }))
        .as_ref()
        .copied()
}

/// The functions of librbd; loads librados first, so that both come from the same place.
///
/// # Errors
/// [`LoadError`] if either library is not there or too old; the same on every further call.
pub fn rbd() -> Result<&'static Rbd, &'static LoadError> {
    static RBD: OnceLock<Result<&'static Rbd, LoadError>> = OnceLock::new();
    rados()?;
    // SAFETY: as in `rados`, with librbd.
    RBD.get_or_init(|| Library::Rbd.load(|library| unsafe { Rbd::from_library(library) })).as_ref().copied()
}

/// The functions of libcephfs; loads librados first, so that both come from the same place.
///
/// # Errors
/// [`LoadError`] if either library is not there or too old; the same on every further call.
pub fn cephfs() -> Result<&'static Cephfs, &'static LoadError> {
    static CEPHFS: OnceLock<Result<&'static Cephfs, LoadError>> = OnceLock::new();
    rados()?;
    // SAFETY: as in `rados`, with libcephfs.
    CEPHFS
        .get_or_init(|| Library::Cephfs.load(|library| unsafe { Cephfs::from_library(library) }))
        .as_ref()
        .copied()
}

#[cfg(test)]
mod tests {
    use std::ffi::{CStr, c_char, c_int};

    use super::*;

    #[test]
    fn librados_loads_and_tells_its_version() {
        let (mut major, mut minor, mut extra) = (0, 0, 0);
        let rados = rados().expect("librados2 is installed");
        // SAFETY: three places to write to.
        unsafe { rados.rados_version(&raw mut major, &raw mut minor, &raw mut extra) };
        assert!(major >= 3, "librados {major}.{minor}.{extra}");
    }

    #[test]
    fn librbd_loads_and_tells_its_version() {
        let (mut major, mut minor, mut extra) = (0, 0, 0);
        let rbd = rbd().expect("librbd1 is installed");
        // SAFETY: three places to write to.
        unsafe { rbd.rbd_version(&raw mut major, &raw mut minor, &raw mut extra) };
        assert!((major, minor) >= (1, 16), "librbd {major}.{minor}.{extra}");
    }

    #[test]
    fn libcephfs_loads_and_tells_its_version() {
        let (mut major, mut minor, mut patch) = (0, 0, 0);
        let cephfs = cephfs().expect("libcephfs2 is installed");
        // SAFETY: three places to write to.
        let text = unsafe { cephfs.ceph_version(&raw mut major, &raw mut minor, &raw mut patch) };
        // SAFETY: a static string.
        let text = unsafe { CStr::from_ptr(text) };
        assert!(major >= 16, "libcephfs of Ceph {text:?}");
        assert!(text.to_string_lossy().starts_with(&format!("{major}.{minor}.{patch}")), "{text:?}");
    }

    #[test]
    fn a_missing_library_names_the_package_to_install() {
        let error = Library::Rbd.open(Some(OsStr::new("/nowhere"))).expect_err("there is no such directory");
        let text = error.to_string();
        assert!(text.contains("/nowhere/librbd.so.1"), "{text}");
        assert!(text.contains("install the package librbd1"), "{text}");
    }

    #[test]
    fn a_library_without_the_functions_is_called_too_old() {
        // SAFETY: as in `rbd`; librados has none of librbd's functions, so nothing is ever called.
        let result = Library::Rados.load(|library| unsafe { Rbd::from_library(library) });
        let text = result.expect_err("librados is not librbd").to_string();
        assert!(text.contains("undefined symbol: rbd_"), "{text}");
        assert!(text.contains("of Ceph 16 or newer"), "{text}");
    }

    #[test]
    fn a_newer_function_is_found_or_its_release_is_told() {
        type Version = unsafe extern "C" fn(*mut c_int, *mut c_int, *mut c_int) -> *const c_char;
        // SAFETY: the type is that of `ceph_version`.
        unsafe { Library::Cephfs.newer::<Version>("ceph_version") }.expect("every release has it");
        // SAFETY: the function is never called.
        if let Err(error) = unsafe { Library::Rbd.newer::<*const ()>("rbd_clone4") } {
            assert_eq!(error.to_string(), "librbd.so.1 has no rbd_clone4, which came with Ceph 20");
        }
    }
}
