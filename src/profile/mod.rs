//! What the user wrote: types that mirror the YAML of a profile one to one, and errors that point into it.
//!
//! The first stop of the flow. A [`Document`] is the text as a tree with positions; a [`Profile`] is the same with
//! types. Rules across keys are the plan's.

mod block_split;
mod cluster;
mod compare;
mod constraint;
mod cpu_list;
mod distribution;
mod document;
mod error;
mod explain;
mod fio_words;
mod job;
mod options;
mod path;
mod rbd;
mod run;
mod sweep;
mod target;
mod tune;
mod yaml;

use std::path::Path as FilePath;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

pub use block_split::{BlockShare, BlockSplit};
pub use cluster::Cluster;
pub use compare::{Compare, Metric};
pub use constraint::Constraint;
pub use cpu_list::CpuList;
pub use distribution::Distribution;
pub use document::Document;
pub use error::{Error, Fault, Place};
pub use job::{Job, RateProcess, Rw, Verify};
pub use options::{OptionValue, Options};
pub use path::{Path, Segment};
pub use rbd::{Feature, Rbd, RbdClient};
pub use run::{CacheState, OnError, Order, Repeats, Run};
pub use sweep::Sweep;
pub use target::{Block, Cephfs, CephfsClient, Engine, File, Null, Rados, Sharing, Target};
pub use tune::{Objective, Tune};

/// A profile: what to test, with which load, how often.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Version of this format; 1.
    pub version: u32,
    /// Name of the profile.
    pub name: String,
    /// Words that tell results of different places apart, such as `place: host`.
    #[serde(default)]
    pub labels: IndexMap<String, String>,
    /// Which cluster to use, and as whom.
    #[serde(default)]
    pub cluster: Cluster,
    /// The things under test by name.
    pub targets: IndexMap<String, Target>,
    /// The loads by name; each target gets each of them.
    pub workloads: IndexMap<String, Job>,
    /// What varies.
    #[serde(default)]
    pub sweep: Sweep,
    /// How trials are run.
    #[serde(default)]
    pub run: Run,
    /// How arms are compared.
    pub compare: Option<Compare>,
    /// What `cephmark tune` searches; a run takes no notice of it.
    pub tune: Option<Tune>,
}

/// A profile with the document it was read from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The tree with positions.
    pub document: Document,
    /// The same with types.
    pub profile: Profile,
}

impl Profile {
    /// Reads a file and applies the arguments of `--set` to it.
    ///
    /// # Errors
    /// [`Error`] if the file can't be read, or what it holds is no profile.
    pub fn load(path: &FilePath, sets: &[String]) -> Result<Loaded, Error> {
        let file = path.display().to_string();
        let text =
            std::fs::read_to_string(path).map_err(|source| Error::Read { file: file.clone(), source })?;
        Ok(Self::parse(&file, &text, sets)?)
    }

    /// Reads the text of the file named `file` and applies the arguments of `--set` to it.
    ///
    /// # Errors
    /// [`Fault`] if the text is no profile.
    pub fn parse(file: &str, text: &str, sets: &[String]) -> Result<Loaded, Fault> {
        let mut document = Document::parse(file, text)?;
        sets.iter().try_for_each(|set| document.set_argument(set))?;
        let profile = Self::from_document(&document)?;
        Ok(Loaded { document, profile })
    }

    /// Gives a document its types.
    ///
    /// # Errors
    /// [`Fault`] at the first key that is unknown, missing or of another kind.
    pub fn from_document(document: &Document) -> Result<Self, Fault> {
        serde_path_to_error::deserialize(document.value()).map_err(|error| {
            document.fault(&Path::from(error.path()), explain::explain(&error.inner().to_string()))
        })
    }
}
