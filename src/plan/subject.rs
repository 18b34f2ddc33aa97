//! What a target's I/O goes to: rules of its kind.

use crate::profile::{Fault, Feature, Path, Rbd, Target};
use crate::units::Bytes;

use super::KernelPath;
use super::arm::{ExistingImage, ManagedImages, Subject};
use super::check::Check;

/// The pool that Ceph's own tools take where none is named.
const DEFAULT_POOL: &str = "rbd";

/// What the I/O goes to, by the one kind that the target names.
pub(super) fn subject(
    check: &Check<'_>,
    at: &Path,
    target: &Target,
    prefill: bool,
) -> Result<Subject, Fault> {
    match target {
        Target { rbd: Some(rbd), .. } => image(check, &at.key("rbd"), rbd, target.destroys_data, prefill),
        Target { block: Some(block), .. } => {
            KernelPath::device(check, at, target, block).map(Subject::Kernel)
        }
        Target { file: Some(file), .. } => {
            KernelPath::file(check, at, target, file, prefill).map(Subject::Kernel)
        }
        Target { null: Some(null), .. } => {
            check.ensure(null.size > Bytes(0), &at.key("null").key("size"), "must be above 0")?;
            Ok(Subject::Null(null.size))
        }
        _ => Err(check.fault(at, "names nothing to test; add `rbd`, `block`, `file` or `null`")),
    }
}

/// Refuses targets that name no kind, or several.
pub(super) fn one_kind(check: &Check<'_>, at: &Path, target: &Target) -> Result<(), Fault> {
    let kinds = [
        ("rbd", target.rbd.is_some()),
        ("cephfs", target.cephfs.is_some()),
        ("rados", target.rados.is_some()),
        ("block", target.block.is_some()),
        ("file", target.file.is_some()),
        ("null", target.null.is_some()),
    ];
    let named: Vec<&str> = kinds.iter().filter(|(_, named)| *named).map(|(kind, _)| *kind).collect();
    match named.as_slice() {
        [_] => Ok(()),
        [] => {
            Err(check.fault(at, "names nothing to test; add one of rbd, cephfs, rados, block, file and null"))
        }
        [_, second, ..] => {
            Err(check
                .fault(&at.key(second), format!("a target is one thing; keep one of {}", named.join(", "))))
        }
    }
}

fn image(
    check: &Check<'_>,
    at: &Path,
    rbd: &Rbd,
    destroys_data: bool,
    prefill: bool,
) -> Result<Subject, Fault> {
    match (&rbd.image, rbd.size) {
        (Some(_), Some(_)) => Err(check.fault(
            &at.key("size"),
            "an existing image has its size; keep `image`, or `size` for new images",
        )),
        (None, None) => Err(check.fault(at, "give `size` for new images, or `image` for one that exists")),
        (Some(spec), None) => existing(check, at, rbd, spec, destroys_data).map(Subject::Existing),
        (None, Some(size)) => managed(check, at, rbd, size, prefill).map(Subject::Managed),
    }
}

fn existing(
    check: &Check<'_>,
    at: &Path,
    rbd: &Rbd,
    spec: &str,
    destroys_data: bool,
) -> Result<ExistingImage, Fault> {
    for key in ["images", "object_size", "features", "stripe_unit", "stripe_count", "data_pool"] {
        let message = "is of images that cephmark makes; an existing image has its own";
        check.ensure(!check.written(&at.key(key)), &at.key(key), message)?;
    }
    let (path, snapshot) =
        spec.split_once('@').map_or((spec, None), |(path, snapshot)| (path, Some(snapshot)));
    let parts: Vec<&str> = path.split('/').collect();
    let (pool, namespace, image) = match parts.as_slice() {
        [image] => (None, None, *image),
        [pool, image] => (Some(*pool), None, *image),
        [pool, namespace, image] => (Some(*pool), Some(*namespace), *image),
        _ => return Err(check.fault(&at.key("image"), "is not [POOL/[NAMESPACE/]]IMAGE[@SNAPSHOT]")),
    };
    if parts.contains(&"") || snapshot == Some("") || snapshot.is_some_and(|name| name.contains(['@', '/'])) {
        return Err(check
            .fault(&at.key("image"), "has an empty part; write it as [POOL/[NAMESPACE/]]IMAGE[@SNAPSHOT]"));
    }
    for (key, inside, beside) in
        [("pool", pool, &rbd.pool), ("namespace", pool.and(namespace), &rbd.namespace)]
    {
        let twice = inside.is_some() && beside.is_some();
        check.ensure(!twice, &at.key(key), format!("`image` names the {key} already"))?;
    }
    Ok(ExistingImage {
        pool: pool.or(rbd.pool.as_deref()).unwrap_or(DEFAULT_POOL).to_owned(),
        namespace: namespace.or(rbd.namespace.as_deref()).unwrap_or_default().to_owned(),
        image: image.to_owned(),
        snapshot: snapshot.map(str::to_owned),
        destroys_data,
    })
}

fn managed(
    check: &Check<'_>,
    at: &Path,
    rbd: &Rbd,
    size: Bytes,
    prefill: bool,
) -> Result<ManagedImages, Fault> {
    check.ensure(size > Bytes(0), &at.key("size"), "must be above 0")?;
    check.ensure(rbd.images > 0, &at.key("images"), "must be at least 1")?;
    if let Some(Bytes(object_size)) = rbd.object_size {
        let valid = object_size.is_power_of_two() && (4 << 10..=32 << 20).contains(&object_size);
        check.ensure(valid, &at.key("object_size"), "must be a power of two from 4KiB to 32MiB")?;
    }
    if let Some(features) = &rbd.features {
        dependencies(check, &at.key("features"), features)?;
    }
    Ok(ManagedImages {
        pool: rbd.pool.clone().unwrap_or_else(|| DEFAULT_POOL.to_owned()),
        namespace: rbd.namespace.clone().unwrap_or_default(),
        size,
        images: rbd.images,
        object_size: rbd.object_size,
        features: rbd.features.clone(),
        striping: striping(check, at, rbd)?,
        data_pool: rbd.data_pool.clone(),
        prefill,
    })
}

/// Some features need others.
fn dependencies(check: &Check<'_>, at: &Path, features: &[Feature]) -> Result<(), Fault> {
    let needs = [
        (Feature::ObjectMap, Feature::ExclusiveLock, "object-map needs exclusive-lock"),
        (Feature::FastDiff, Feature::ObjectMap, "fast-diff needs object-map"),
        (Feature::Journaling, Feature::ExclusiveLock, "journaling needs exclusive-lock"),
    ];
    needs.iter().try_for_each(|(feature, needed, message)| {
        check.ensure(!features.contains(feature) || features.contains(needed), at, *message)
    })
}

fn striping(check: &Check<'_>, at: &Path, rbd: &Rbd) -> Result<Option<(Bytes, u32)>, Fault> {
    let (unit, count) = match (rbd.stripe_unit, rbd.stripe_count) {
        (None, None) => return Ok(None),
        (Some(unit), Some(count)) => (unit, count),
        (Some(_), None) => return Err(check.fault(&at.key("stripe_unit"), "needs `stripe_count` beside it")),
        (None, Some(_)) => return Err(check.fault(&at.key("stripe_count"), "needs `stripe_unit` beside it")),
    };
    let object_size = rbd.object_size.unwrap_or(Bytes(4 << 20));
    let divides = unit > Bytes(0) && object_size.get().is_multiple_of(unit.get());
    check.ensure(divides, &at.key("stripe_unit"), format!("must divide the object size of {object_size}"))?;
    check.ensure(count > 0, &at.key("stripe_count"), "must be at least 1")?;
    Ok(Some((unit, count)))
}
