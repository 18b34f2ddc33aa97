//! A comparison whose interval waits for the number of all of them.

use super::workloads::Workload;
use crate::profile::Compare;
use crate::result::{Comparison, Metric};
use crate::stats::{Family, Looks, Mean, Ratio};

/// One arm against the baseline by one figure, before the family of all claims is known.
#[derive(Debug)]
pub(super) struct Claim<'a> {
    pub(super) workload: Workload<'a>,
    pub(super) job: &'a str,
    pub(super) op: &'a str,
    pub(super) metric: Metric,
    pub(super) baseline: String,
    pub(super) candidate: String,
    /// Mean of the logarithm of candidate over baseline.
    pub(super) mean: Mean,
}

/// All claims, each with an interval that holds for all of them together.
/// So do they at each of the `looks` at which a run may stop.
pub(super) fn judged(claims: Vec<Claim<'_>>, terms: &Compare, looks: Option<&Looks>) -> Vec<Comparison> {
    let family = looks.map_or_else(|| Family::of(claims.len()), |looks| Family::watched(claims.len(), looks));
    claims.into_iter().map(|claim| claim.judged(terms, &family)).collect()
}

impl Claim<'_> {
    fn judged(self, terms: &Compare, family: &Family) -> Comparison {
        let ratio = Ratio::of(&self.mean, family);
        let (workload, settings) = self.workload;
        let owned = |(path, value): (&str, &str)| (path.to_owned(), value.to_owned());
        Comparison {
            workload: workload.to_owned(),
            settings: settings.into_iter().map(owned).collect(),
            job: self.job.to_owned(),
            op: self.op.to_owned(),
            metric: self.metric,
            baseline: self.baseline,
            candidate: self.candidate,
            ratio: ratio.value,
            ci: [ratio.low, ratio.high],
            level: Ratio::LEVEL,
            p_value: ratio.p_value,
            verdict: ratio.verdict(terms.min_effect.fraction(), self.metric.higher_is_better()),
        }
    }
}
