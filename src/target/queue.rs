//! Attributes of a block device's queue: read for the result, set for a trial, and given back after it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::Error;
use super::sysfs::attribute;
use crate::console::say;

/// What a fair comparison wants to know of a queue.
const RECORDED: [&str; 6] =
    ["nr_requests", "scheduler", "read_ahead_kb", "max_sectors_kb", "rotational", "write_cache"];

/// Every attribute that is set right now, with what it was before, the latest last.
static SET: Mutex<Vec<(PathBuf, String)>> = Mutex::new(Vec::new());

/// Attributes that are set for as long as this is held.
#[derive(Debug, Default)]
pub(super) struct QueueSettings(Vec<PathBuf>);

impl QueueSettings {
    /// Sets attributes of the queue in this directory of sysfs.
    ///
    /// # Errors
    /// [`Error::Queue`] if one does not exist, or does not take the value; then none stays set.
    pub(super) fn set(queue: &Path, wanted: &[(String, String)]) -> Result<Self, Error> {
        let mut settings = Self(Vec::new());
        for (name, value) in wanted {
            let file = queue.join(name);
            let error = |reason: String| Error::Queue { file: file.clone(), value: value.clone(), reason };
            let before = read(&file).ok_or_else(|| error("there is no such attribute".to_owned()))?;
            settings.0.push(file.clone());
            set().push((file.clone(), before));
            fs::write(&file, value)
                .map_err(|source| error(format!("the kernel does not take it: {source}")))?;
            match read(&file) {
                Some(after) if after == *value => {}
                after => return Err(error(format!("it became {}", after.unwrap_or_default()))),
            }
        }
        Ok(settings)
    }
}

impl Drop for QueueSettings {
    fn drop(&mut self) {
        for file in self.0.drain(..).rev() {
            let mut set = set();
            if let Some(index) = set.iter().rposition(|(other, _)| *other == file) {
                let (file, before) = set.remove(index);
                restore(&file, &before);
            }
        }
    }
}

/// Gives back every attribute that is set: for a process that ends without dropping what it holds.
pub fn restore_queues() {
    for (file, before) in set().drain(..).rev() {
        restore(&file, &before);
    }
}

fn set() -> std::sync::MutexGuard<'static, Vec<(PathBuf, String)>> {
    SET.lock().unwrap_or_else(PoisonError::into_inner)
}

fn restore(file: &Path, before: &str) {
    if let Err(error) = fs::write(file, before) {
        say(format_args!("can't set {} back to {before}: {error}", file.display()));
    }
}

/// The recorded attributes of the queue in this directory, those that it has, and of how many such queues the device
/// consists.
pub(super) fn recorded(queue: &Path) -> BTreeMap<String, String> {
    let mut found: BTreeMap<_, _> =
        RECORDED.into_iter().filter_map(|name| Some((name.to_owned(), read(&queue.join(name))?))).collect();
    if let Ok(queues) = fs::read_dir(queue.with_file_name("mq")) {
        found.insert("hardware_queues".to_owned(), queues.count().to_string());
    }
    found
}

/// The value of an attribute; of one that lists its choices, the chosen one.
fn read(file: &Path) -> Option<String> {
    let text = attribute(file)?;
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(chosen, _)| chosen);
    Some(chosen.map_or_else(|| text.clone(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plain files stand for attributes: they take what is written, and keep it.
    fn queue() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("nr_requests"), "128\n").unwrap();
        fs::write(directory.path().join("scheduler"), "mq-deadline [none] bfq\n").unwrap();
        directory
    }

    fn setting(name: &str, value: &str) -> Vec<(String, String)> {
        vec![(name.to_owned(), value.to_owned())]
    }

    #[test]
    fn of_choices_the_chosen_one_is_read() {
        let expected = [("nr_requests", "128"), ("scheduler", "none")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(recorded(queue().path()), expected.into());
    }

    #[test]
    fn what_is_set_is_given_back() {
        let queue = queue();
        let settings = QueueSettings::set(queue.path(), &setting("nr_requests", "32")).unwrap();
        assert_eq!(recorded(queue.path())["nr_requests"], "32");
        drop(settings);
        assert_eq!(recorded(queue.path())["nr_requests"], "128");
    }

    #[test]
    fn one_that_does_not_exist_leaves_none_set() {
        let queue = queue();
        let wanted = [setting("nr_requests", "32"), setting("nr_reqests", "32")].concat();
        let error = QueueSettings::set(queue.path(), &wanted).unwrap_err().to_string();
        assert!(error.contains("nr_reqests") && error.contains("no such attribute"), "{error}");
        assert_eq!(recorded(queue.path())["nr_requests"], "128");
    }
}
