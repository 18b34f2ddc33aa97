//! A target with its swept settings.

use crate::profile::{Document, Fault, Feature, Loaded, Path, Profile, RbdClient, Sharing, Target};
use crate::units::Bytes;

use super::check::{self, Check};
use super::mapping::{self, Mapping};
use super::sweep::{self, Variant};
use super::{Access, KernelPath, options, scope, subject};

/// A target with its swept settings: what the figures of a result belong to.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The target's name, with what varies: `librbd[rbd_cache_policy=writeback]`.
    pub name: String,
    /// The target's name.
    pub target: String,
    /// What varies, by path; sizes in plain bytes.
    pub settings: Vec<(String, String)>,
    /// What the I/O goes to.
    pub subject: Subject,
    /// How RBD images become block devices of this host; `None` where librbd does their I/O.
    pub mapping: Option<Mapping>,
    /// Ceph client options, set before the connection is made.
    pub options: Vec<ClientOption>,
    /// Whether load threads share a handle of each image.
    pub handles: Sharing,
    /// Whether load threads share a connection; [`Sharing::PerJob`] only with handles per job.
    pub connections: Sharing,
    /// The profile with this arm's settings, for errors that point into it.
    pub(super) document: Document,
}

/// What the I/O of an arm goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// RBD images that cephmark makes, fills and removes.
    Managed(ManagedImages),
    /// An RBD image or snapshot that exists.
    Existing(ExistingImage),
    /// A file or block device, through the kernel.
    Kernel(KernelPath),
    /// Nothing: I/O that completes at once, over a range of this size.
    Null(Bytes),
}

impl Subject {
    /// Whether cephmark makes it, and removes it at the end.
    #[must_use]
    pub const fn is_made(&self) -> bool {
        match self {
            Self::Managed(_) => true,
            Self::Kernel(path) => path.is_new(),
            Self::Existing(_) | Self::Null(_) => false,
        }
    }

    /// Whether it is to be filled before it is measured.
    #[must_use]
    pub const fn prefill(&self) -> bool {
        match self {
            Self::Managed(managed) => managed.prefill,
            Self::Kernel(path) => path.prefill(),
            Self::Existing(_) | Self::Null(_) => false,
        }
    }
}

/// RBD images that cephmark makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedImages {
    /// Pool of the images.
    pub pool: String,
    /// Namespace within the pool; empty for the default one.
    pub namespace: String,
    /// Size of each image.
    pub size: Bytes,
    /// How many images; at least 1.
    pub images: u32,
    /// Size of RADOS objects; without it the cluster's default.
    pub object_size: Option<Bytes>,
    /// Image features; without it the cluster's default.
    pub features: Option<Vec<Feature>>,
    /// Stripe unit and stripe count.
    pub striping: Option<(Bytes, u32)>,
    /// Pool of the data, where it is another one.
    pub data_pool: Option<String>,
    /// Fill the images before the first trial, and again after trials that trim or zero.
    pub prefill: bool,
}

/// An RBD image or snapshot that exists: never created, resized or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExistingImage {
    /// Pool of the image.
    pub pool: String,
    /// Namespace within the pool; empty for the default one.
    pub namespace: String,
    /// Name of the image.
    pub image: String,
    /// Name of the snapshot.
    pub snapshot: Option<String>,
    /// It may be overwritten. Without it every workload of the plan only reads.
    pub destroys_data: bool,
}

/// A Ceph client option of an arm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientOption {
    /// Ceph's name, with underscores.
    pub name: String,
    /// The value as Ceph takes it: sizes in plain bytes, percentages resolved.
    pub value: String,
    /// The name as the profile writes it.
    pub(super) key: String,
}

impl Arm {
    /// A fault at one of its options.
    #[must_use]
    pub fn option_fault(&self, option: &ClientOption, message: impl Into<String>) -> Fault {
        self.document.fault(&self.option_path(option), message)
    }

    /// One of its options, by its name with underscores.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&ClientOption> {
        self.options.iter().find(|option| option.name == name)
    }

    /// Whether one of its options varies.
    #[must_use]
    pub fn sweeps(&self, option: &ClientOption) -> bool {
        let path = self.option_path(option).to_string();
        self.settings.iter().any(|(swept, _)| *swept == path)
    }

    /// Where the profile has one of its options.
    pub(super) fn option_path(&self, option: &ClientOption) -> Path {
        Path::root().key("targets").key(&self.target).key("options").key(&option.key)
    }

    /// Whether its I/O goes through librbd in this process.
    #[must_use]
    pub const fn is_librbd(&self) -> bool {
        matches!(self.subject, Subject::Managed(_) | Subject::Existing(_)) && self.mapping.is_none()
    }

    /// How the kernel does its I/O; `None` where a library does, or nobody.
    #[must_use]
    pub const fn access(&self) -> Option<&Access> {
        match (&self.subject, &self.mapping) {
            (Subject::Kernel(path), _) => Some(&path.access),
            (_, Some(mapping)) => Some(&mapping.access),
            _ => None,
        }
    }

    /// The client that does the I/O of its RBD images.
    #[must_use]
    pub const fn rbd_client(&self) -> &'static str {
        match &self.mapping {
            Some(mapping) => mapping.client.name(),
            None => "librbd",
        }
    }

    /// How many images the load is spread over.
    #[must_use]
    pub fn images(&self) -> u32 {
        match &self.subject {
            Subject::Managed(managed) => managed.images,
            Subject::Existing(_) | Subject::Kernel(_) | Subject::Null(_) => 1,
        }
    }

    /// Size of each image; `None` if only opening it tells.
    #[must_use]
    pub fn image_size(&self) -> Option<Bytes> {
        match &self.subject {
            Subject::Managed(managed) => Some(managed.size),
            Subject::Existing(_) => None,
            Subject::Kernel(path) => path.size(),
            Subject::Null(size) => Some(*size),
        }
    }
}

/// The arms of all targets.
pub(super) fn arms(loaded: &Loaded, warnings: &mut Vec<Fault>) -> Result<Vec<Arm>, Fault> {
    let mut arms = Vec::new();
    for name in loaded.profile.targets.keys() {
        let at = Path::root().key("targets").key(name);
        check::name(&loaded.document, &at, name)?;
        for variant in sweep::variants(loaded, &at)? {
            arms.push(arm(name, &at, variant, warnings)?);
        }
    }
    Ok(arms)
}

/// The arm of a target with one combination of its settings.
pub(super) fn arm(name: &str, at: &Path, variant: Variant, warnings: &mut Vec<Fault>) -> Result<Arm, Fault> {
    let Variant { document, settings, label } = variant;
    let profile = Profile::from_document(&document)?;
    let target = &profile.targets[name];
    let mut check = Check { document: &document, swept: &settings, warnings };
    subject::one_kind(&check, at, target)?;
    scope::target(&check, at, target)?;
    keys_of_other_kinds(&check, at, target)?;
    let subject = subject::subject(&check, at, target, profile.run.prefill)?;
    if subject.is_made() || matches!(subject, Subject::Null(_)) {
        check.no_effect(&at.key("destroys_data"), "on what cephmark makes itself")?;
    }
    Ok(Arm {
        name: format!("{name}{label}"),
        target: name.to_owned(),
        subject,
        mapping: mapping::mapping(&check, at, target)?,
        options: options::options(&check, &at.key("options"), &target.options)?,
        handles: target.handles,
        connections: target.connections,
        settings,
        document,
    })
}

/// Refuses keys that belong to another kind of target.
fn keys_of_other_kinds(check: &Check<'_>, at: &Path, target: &Target) -> Result<(), Fault> {
    let own_handles = target.connections == Sharing::Shared || target.handles == Sharing::PerJob;
    let message = "needs `handles: per_job` too, since a handle is of one connection";
    check.ensure(own_handles, &at.key("connections"), message)?;
    let refuse = |key: &str, message: &str| check.ensure(!check.written(&at.key(key)), &at.key(key), message);
    let client = target.rbd.as_ref().map(|rbd| rbd.client).unwrap_or_default();
    if client == RbdClient::Krbd {
        refuse("options", "is of Ceph's libraries; the kernel's client has `map_options` instead")?;
    }
    if client != RbdClient::Librbd {
        return refuse("connections", "is of librbd; each mapping has a connection of its own");
    }
    refuse("map_options", "is of images with `client: krbd` or `client: nbd`")?;
    if target.block.is_some() || target.file.is_some() {
        refuse("options", "is of Ceph's clients, of which cephmark uses none here")?;
        return refuse("connections", "is of Ceph's clients, of which cephmark uses none here");
    }
    let kernel = "is of kernel paths, files and block devices";
    refuse("queue", kernel)?;
    refuse("engine", kernel)?;
    refuse("direct", &format!("{kernel}; librbd's cache is `options: {{rbd_cache: false}}`"))?;
    if target.null.is_some() {
        refuse("options", "is of Ceph's clients; the null target uses none")?;
    }
    Ok(())
}
