//! The range of a job on an image: whole blocks, all of them inside.

use crate::profile::{Document, Fault};
use crate::units::Bytes;

use super::job::Job;
use super::workload::JobPlan;

/// The job with its range fitted to images of this size.
pub(super) fn fit(plan: &JobPlan, image_size: Bytes, document: &Document) -> Result<Job, Fault> {
    let (offset, image) = (plan.job.offset.get(), image_size.get());
    let fault = |key: &str, message: String| document.fault(&plan.path.key(key), message);
    let block_key = block_key(plan, document);
    let largest = plan.job.largest_block();
    if largest > image_size {
        let message = format!("a block of {largest} is larger than the image of {image_size}");
        return Err(fault(block_key, message));
    }
    let past = || fault("offset", format!("lies past the end of the image of {image_size}"));
    let room = image.checked_sub(offset).filter(|room| *room > 0).ok_or_else(past)?;
    let wanted = plan.size.map_or(room, Bytes::get);
    if wanted > room {
        let message = format!(
            "{} from offset {} on reach past the end of the image of {image_size}",
            Bytes(wanted),
            plan.job.offset
        );
        return Err(fault("size", message));
    }
    let usable = wanted - wanted % plan.job.block_unit().get();
    if usable < largest.get() {
        let message = format!("a block of {largest} is larger than the range of {}", Bytes(wanted));
        return Err(fault(block_key, message));
    }
    Ok(Job { size: Bytes(usable), ..plan.job.clone() })
}

/// Refuses blocks and offsets that direct I/O on `path` can't have: some file systems would do them through the page
/// cache instead.
pub(super) fn aligned(plan: &JobPlan, unit: Bytes, path: &str, document: &Document) -> Result<(), Fault> {
    let (blocks, offset) = (plan.job.block_unit(), plan.job.offset);
    for (key, bytes) in [(block_key(plan, document), blocks), ("offset", offset)] {
        if !bytes.get().is_multiple_of(unit.get()) {
            let message =
                format!("direct I/O on {path} needs multiples of {unit}; or set `direct: false` there");
            return Err(document.fault(&plan.path.key(key), message));
        }
    }
    Ok(())
}

fn block_key(plan: &JobPlan, document: &Document) -> &'static str {
    if document.get(&plan.path.key("bssplit")).is_some() { "bssplit" } else { "bs" }
}
