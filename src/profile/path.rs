//! The way to a key of a profile, such as `workloads.oltp.jobs.redo.bs`.

use std::fmt;

/// The way from the top of a profile to one of its keys or list items.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path(Vec<Segment>);

/// One step of a [`Path`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// To the value of a key of a map.
    Key(String),
    /// To an item of a list, counted from 0.
    Index(usize),
}

impl Path {
    /// The top of the profile.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// Reads a path as `--set` and `sweep` write it: keys joined by dots. The keys of `sweep` have dots themselves.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text.strip_prefix("sweep.") {
            Some(axis) => Self::root().key("sweep").key(axis),
            None => text.split('.').fold(Self::root(), |path, key| path.key(key)),
        }
    }

    /// The path of a key below this one.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.then(Segment::Key(key.to_owned()))
    }

    /// The path of a list item below this one.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.then(Segment::Index(index))
    }

    fn then(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
    }

    /// The path one step up; `None` at the top.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.0.split_last().map(|(_, rest)| Self(rest.to_vec()))
    }

    /// Whether this path is `other` or leads to it.
    #[must_use]
    pub fn leads_to(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    /// The steps from the top.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// The keys from the top, without list items.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|segment| match segment {
            Segment::Key(key) => Some(key.as_str()),
            Segment::Index(_) => None,
        })
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(key) if position == 0 => f.write_str(key)?,
                Segment::Key(key) => write!(f, ".{key}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

impl From<&serde_path_to_error::Path> for Path {
    fn from(path: &serde_path_to_error::Path) -> Self {
        use serde_path_to_error::Segment as Tracked;
        path.iter().fold(Self::root(), |path, segment| match segment {
            Tracked::Seq { index } => path.index(*index),
            Tracked::Map { key } | Tracked::Enum { variant: key } => path.key(key),
            Tracked::Unknown => path,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_printed_as_it_is_read() {
        for text in ["run.runtime", "targets.librbd.options.rbd_cache", "sweep.targets.librbd.rbd.size"] {
            assert_eq!(Path::parse(text).to_string(), text);
        }
        assert_eq!(Path::parse("targets.t.rbd.features").index(2).to_string(), "targets.t.rbd.features[2]");
    }

    #[test]
    fn an_axis_is_one_key_of_sweep() {
        assert_eq!(
            Path::parse("sweep.workloads.w.bs").keys().collect::<Vec<_>>(),
            ["sweep", "workloads.w.bs"]
        );
    }
}
