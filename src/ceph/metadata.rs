//! Metadata of an image: pairs of texts, among them the options of this image (`conf_…`).
#![expect(unsafe_code, reason = "calls librbd")]

use nix::errno::Errno;

use super::call::{c_text, check, split_nul};
use super::{Error, Image};

impl Image {
    /// The value of a key, if there is one.
    ///
    /// Implements: `rbd_metadata_get`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn metadata(&self, key: &str) -> Result<Option<String>, Error> {
        let name = c_text("a metadata key", key)?;
        let bytes = super::call::grown(|buffer| {
            let mut len = buffer.len();
            // SAFETY: the image is open, the key lives for the call, and the buffer has `len` bytes.
            let code = unsafe {
                self.rbd().rbd_metadata_get(
                    self.raw(),
                    name.as_ptr(),
                    buffer.as_mut_ptr().cast(),
                    &raw mut len,
                )
            };
            check(code).map(|_| len)
        });
        match bytes {
            Ok(bytes) => Ok(split_nul(&bytes).into_iter().next().or_else(|| Some(String::new()))),
            Err(Errno::ENOENT) => Ok(None),
            Err(errno) => Err(self.failed(&format!("get the metadata {key} of"), errno)),
        }
    }

    /// Sets the value of a key.
    ///
    /// Implements: `rbd_metadata_set`.
    ///
    /// # Errors
    /// [`Error::Failed`], with `EINVAL` for a key `conf_…` that is no option of images, or a value that it can't take.
    pub fn set_metadata(&self, key: &str, value: &str) -> Result<(), Error> {
        let (name, text) = (c_text("a metadata key", key)?, c_text("a metadata value", value)?);
        // SAFETY: the image is open, and both texts live for the call.
        let code = unsafe { self.rbd().rbd_metadata_set(self.raw(), name.as_ptr(), text.as_ptr()) };
        check(code)
            .map(drop)
            .map_err(|errno| self.failed(&format!("set the metadata {key} to `{value}` on"), errno))
    }

    /// Removes a key; one that is not there is no error.
    ///
    /// Implements: `rbd_metadata_remove`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn remove_metadata(&self, key: &str) -> Result<(), Error> {
        let name = c_text("a metadata key", key)?;
        // SAFETY: the image is open, and the key lives for the call.
        let code = unsafe { self.rbd().rbd_metadata_remove(self.raw(), name.as_ptr()) };
        match check(code) {
            Ok(_) | Err(Errno::ENOENT) => Ok(()),
            Err(errno) => Err(self.failed(&format!("remove the metadata {key} of"), errno)),
        }
    }

    /// Every key with its value.
    ///
    /// Implements: `rbd_metadata_list`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn all_metadata(&self) -> Result<Vec<(String, String)>, Error> {
        let (mut keys, mut values) = (vec![0_u8; 4096], vec![0_u8; 4096]);
        loop {
            let (mut keys_len, mut values_len) = (keys.len(), values.len());
            // SAFETY: the image is open, the start is a literal, and both buffers have the lengths that are told.
            let code = unsafe {
                self.rbd().rbd_metadata_list(
                    self.raw(),
                    c"".as_ptr(),
                    0,
                    keys.as_mut_ptr().cast(),
                    &raw mut keys_len,
                    values.as_mut_ptr().cast(),
                    &raw mut values_len,
                )
            };
            match check(code) {
                // librbd tells the lengths that it needs.
                Err(Errno::ERANGE) if keys_len > keys.len() || values_len > values.len() => {
                    keys.resize(keys_len.max(keys.len()), 0);
                    values.resize(values_len.max(values.len()), 0);
                }
                Err(errno) => return Err(self.failed("list the metadata of", errno)),
                Ok(_) => return Ok(pairs(&keys[..keys_len], &values[..values_len])),
            }
        }
    }
}

/// Keys and values in the same order, each ended by a NUL; a value may be empty.
fn pairs(keys: &[u8], values: &[u8]) -> Vec<(String, String)> {
    let texts = |buffer: &[u8]| -> Vec<String> {
        let ended = buffer.strip_suffix(&[0]).map(|rest| rest.split(|byte| *byte == 0));
        ended
            .map(|texts| texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect())
            .unwrap_or_default()
    };
    texts(keys).into_iter().zip(texts(values)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_value_keeps_its_key() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(pairs(b"a\0b\0", b"\0x\0"), [pair("a", ""), pair("b", "x")]);
        assert_eq!(pairs(b"", b""), []);
    }
}
