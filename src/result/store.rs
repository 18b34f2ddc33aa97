//! Saving and loading, such that nothing measured is ever lost.

use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::error::Category;

use super::{FORMAT, ResultFile};

/// The name of a result file within its directory.
pub const FILE_NAME: &str = "result.json";
/// The directory of what a tuning's search gave, in that of the tuning.
pub const SEARCH_OF_TUNING: &str = "search";

/// A result that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("can't write {}: {source}; make room or choose another directory with --out", path.display())]
pub struct SaveError {
    path: PathBuf,
    source: io::Error,
}

/// A file that can't be read as a result.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It could not be opened or read.
    #[error("can't read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It is a tuning's, which has two results.
    #[error("{}: a tuning has no result of its own; name the directory in it: `confirmation` for what its best arm gave, \
        `search` for all that were tried", path.parent().unwrap_or(path).display())]
    Tuning {
        /// Where a run's result would be.
        path: PathBuf,
    },
    /// It ends in the middle.
    #[error("{}: the file ends in the middle, at line {line}; it was cut off while being copied: copy it again",
        path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Its last line.
        line: usize,
    },
    /// It is something else.
    #[error("{}: not a result of cephmark ({why}); name the {FILE_NAME} of a run, or its directory", path.display())]
    NotAResult {
        /// The file.
        path: PathBuf,
        /// How it shows.
        why: String,
    },
    /// A newer version wrote it.
    #[error("{}: written in format {format}, this version reads up to {FORMAT}; use the cephmark that wrote it, \
        or a newer one", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: u64,
    },
    /// A field does not hold what it should.
    #[error("{}: {field}: {why}; the file was changed after cephmark wrote it", path.display())]
    Field {
        /// The file.
        path: PathBuf,
        /// The path of the field, such as `trials[3].arm`.
        field: String,
        /// What is wrong with it.
        why: String,
    },
}

impl ResultFile {
    /// Writes `result.json` in `directory`. Whoever reads it, whenever this process or host dies, finds either the file
    /// as it was before or the whole new one.
    ///
    /// # Errors
    /// [`SaveError`] if the directory can't be written; the file as it was before is still there.
    pub fn save(&self, directory: &Path) -> Result<(), SaveError> {
        let path = directory.join(FILE_NAME);
        self.replace(directory, &path).map_err(|source| SaveError { path, source })
    }

    fn replace(&self, directory: &Path, path: &Path) -> io::Result<()> {
        // The umask still applies, as to any file a program creates.
        let mut new = tempfile::Builder::new()
            .prefix(".result")
            .suffix(".json")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(directory)?;
        let mut writer = BufWriter::new(new.as_file_mut());
        serde_json::to_writer_pretty(&mut writer, self)?;
        writer.write_all(b"\n")?;
        writer.flush()?;
        drop(writer);
        new.as_file().sync_all()?;
        new.persist(path)?;
        File::open(directory)?.sync_all()
    }

    /// Reads a result file, or the one in a directory.
    ///
    /// # Errors
    /// [`LoadError`], with the line or field at fault.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        let path = file_of(path);
        if !path.exists() && is_tuning(&path) {
            return Err(LoadError::Tuning { path });
        }
        let text = std::fs::read(&path).map_err(|source| LoadError::Read { path: path.clone(), source })?;
        Self::parse(&text, path)
    }

    fn parse(text: &[u8], path: PathBuf) -> Result<Self, LoadError> {
        let value: serde_json::Value = match serde_json::from_slice(text) {
            Ok(value) => value,
            Err(error) if error.classify() == Category::Eof && text.trim_ascii_start().starts_with(b"{") => {
                return Err(LoadError::Truncated { path, line: error.line() });
            }
            Err(error) => return Err(LoadError::NotAResult { path, why: format!("no JSON: {error}") }),
        };
        let Some(format) = value.get("format").and_then(serde_json::Value::as_u64) else {
            return Err(LoadError::NotAResult { path, why: "it has no `format`".to_owned() });
        };
        if format > u64::from(FORMAT) {
            return Err(LoadError::Newer { path, format });
        }
        serde_path_to_error::deserialize(value).map_err(|error| LoadError::Field {
            path,
            field: error.path().to_string(),
            why: error.into_inner().to_string(),
        })
    }
}

/// The result file that a path means: itself, or the one in that directory.
#[must_use]
pub fn file_of(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(FILE_NAME) } else { path.to_owned() }
}

/// Whether the directory of a result file is that of a tuning, which has the results of two runs in it.
fn is_tuning(result: &Path) -> bool {
    result.parent().is_some_and(|tuning| tuning.join(SEARCH_OF_TUNING).join(FILE_NAME).exists())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Timestamp;

    fn sample() -> ResultFile {
        ResultFile::new(serde_json::json!({"version": 1, "name": "sample"}), Timestamp::now())
    }

    fn error_of(text: &str) -> String {
        ResultFile::parse(text.as_bytes(), "r.json".into()).expect_err("the text is no result").to_string()
    }

    #[test]
    fn a_saved_result_loads_as_it_was_from_its_file_or_its_directory() {
        let directory = tempfile::tempdir().expect("there is room in /tmp");
        let result = sample();
        result.save(directory.path()).expect("the directory is writable");
        result.save(directory.path()).expect("a second save replaces the first");
        assert_eq!(ResultFile::load(directory.path()).expect("it was saved"), result);
        assert_eq!(ResultFile::load(&directory.path().join(FILE_NAME)).expect("it was saved"), result);
        let names: Vec<_> = directory.path().read_dir().expect("it can be listed").collect();
        assert_eq!(names.len(), 1, "no temporary file stays behind");
    }

    #[test]
    fn the_directory_of_a_tuning_is_named_with_those_in_it() {
        let directory = tempfile::tempdir().expect("there is room in /tmp");
        let search = directory.path().join("search");
        std::fs::create_dir(&search).expect("the directory is writable");
        sample().save(&search).expect("the directory is writable");
        let error = ResultFile::load(directory.path()).expect_err("it is a tuning").to_string();
        let start = format!("{}: a tuning has no result of its own; ", directory.path().display());
        assert!(error.starts_with(&start) && error.contains("`confirmation`"), "{error}");
        ResultFile::load(&search).expect("that is a run's");
    }

    #[test]
    fn a_save_that_fails_names_the_file_and_a_remedy() {
        let error = sample().save(Path::new("/proc/nowhere")).expect_err("/proc takes no files").to_string();
        assert!(error.starts_with("can't write /proc/nowhere/result.json: "), "{error}");
        assert!(error.ends_with("--out"), "{error}");
    }

    #[test]
    fn each_kind_of_damage_has_its_own_message() {
        let text = serde_json::to_string_pretty(&sample()).expect("it serialises");
        assert!(error_of(&text[..text.len() / 2]).contains("ends in the middle, at line "));
        assert!(error_of("not json").contains("not a result of cephmark (no JSON: "));
        assert!(error_of("").contains("not a result of cephmark"));
        assert!(error_of("{\"fio version\": \"fio-3.33\"}").contains("(it has no `format`)"));
        assert!(
            error_of(&text.replace("\"format\": 1", "\"format\": 2"))
                .contains("format 2, this version reads up to 1")
        );
        assert!(
            error_of(&text.replace("\"trials\": []", "\"trials\": [{}]"))
                .contains("trials[0]: missing field `arm`")
        );
    }

    #[test]
    fn a_field_that_a_later_version_added_is_no_error() {
        let text = serde_json::to_string(&sample()).expect("it serialises");
        let extended = text.replacen('{', "{\"added_later\": true,", 1);
        assert_eq!(
            ResultFile::parse(extended.as_bytes(), "r.json".into()).expect("it is a result").name(),
            "sample"
        );
    }
}
