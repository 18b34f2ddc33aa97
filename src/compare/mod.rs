//! What results prove about their arms. Reads saved results alone; the arithmetic is in `stats`.

mod figure;
mod pairs;

pub use pairs::within_run;
