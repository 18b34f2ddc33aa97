//! The range of a job on an image: whole blocks, all of them inside.

use crate::profile::{Document, Fault};
use crate::units::Bytes;

use super::job::Job;
use super::workload::JobPlan;

/// The job with its range fitted to images of this size.
pub(super) fn fit(plan: &JobPlan, image_size: Bytes, document: &Document) -> Result<Job, Fault> {
    let (offset, image) = (plan.job.offset.get(), image_size.get());
    let fault = |key: &str, message: String| document.fault(&plan.path.key(key), message);
    let block_key = if document.get(&plan.path.key("bssplit")).is_some() { "bssplit" } else { "bs" };
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
