//! The plan of a tuning: one target with each setting of its space, all on the same images in turn.

use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;
use serde_json::{Value, json};

use crate::nearest::nearest;
use crate::profile::{
    Constraint, Document, Fault, Loaded, Objective, OptionValue, Order, Path, Profile, Repeats, Tune,
};
use crate::stats::{FIRST_LOOK, MAX_BLOCKS};
use crate::units::{Bytes, Time};

use super::arm::{self, Arm};
use super::options::normal;
use super::sweep::Variant;
use super::{Plan, RunSpec, TrialPlan, build, cache, order};

/// More settings than anybody has the time for.
const MAX_SETTINGS: usize = 1000;

/// Blocks in which all settings run.
pub const FIRST_BLOCKS: u32 = 2;

/// Blocks of the confirmation for which there must be time.
pub const CONFIRMATION_BLOCKS: u32 = 5;

/// One part in so many of the budget is for the confirmation.
pub const CONFIRMATION_SHARE: u32 = 3;

/// What the settings that the cluster has now are called.
const CURRENT: &str = "current";

/// A tuning: what is tried, and what for.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// The plan with every setting as an arm, of which the first is what the cluster has now. It has no trials: which
    /// settings are tried, and how often, is not known before.
    pub plan: Plan,
    /// By arm, its options of the space in the order of the space; the first arm has none.
    pub settings: Vec<Setting>,
    /// Every setting of the space, with the arm that it is.
    pub grid: Vec<(Setting, usize)>,
    /// Settings that can't be, by name, and why.
    pub left_out: Vec<(String, String)>,
    /// What is to get better.
    pub objective: Objective,
    /// What a setting must keep to be advised.
    pub constraints: Vec<Constraint>,
    /// The smallest difference that matters, as a fraction.
    pub min_effect: f64,
    /// How long all of it may take.
    pub budget: Duration,
}

/// Options of the space by name, each with its value as the profile writes it.
pub type Setting = Vec<(String, String)>;

impl Tuning {
    /// Plans what the `tune` block of a profile asks for.
    ///
    /// # Errors
    /// [`Fault`] at the first rule that the profile breaks.
    pub fn new(loaded: &Loaded) -> Result<Self, Fault> {
        let Some(tune) = &loaded.profile.tune else {
            let message = "there is no `tune`; add what to search, such as `tune: {space: {rbd_cache_size: [32MiB, 64MiB]}, \
                           budget: 30m}`";
            return Err(loaded.document.fault(&Path::root(), message));
        };
        let target = target(loaded, tune)?;
        rules(loaded, tune, target)?;
        let judged = judged(loaded, tune, target)?;
        let Settings { arms, settings, grid, left_out } = settings(&judged, tune, target)?;
        let mut plan = build::with_arms(&judged, true, |_| Ok(arms))?;
        plan.trials.clear();
        enough_time(&judged, tune, &plan)?;
        let min_effect = judged.profile.compare.as_ref().map_or(0.0, |terms| terms.min_effect.fraction());
        let Tune { objective, constraints, budget, .. } = tune.clone();
        Ok(Self { plan, settings, grid, left_out, objective, constraints, min_effect, budget: budget.0 })
    }
}

impl Plan {
    /// The same plan with so many blocks of these arms, counted from `first`; no block is begun that would end after
    /// `budget`.
    #[must_use]
    pub fn blocks(&self, arms: &[usize], blocks: u32, first: u32, budget: Duration) -> Self {
        let seed = self.run.seed.wrapping_add(u64::from(first));
        let run = RunSpec { repeats: blocks, seed, budget: Some(budget), ..self.run };
        let trials = order::trials(&run, arms.len(), self.workloads.len())
            .into_iter()
            .map(|trial| TrialPlan { arm: arms[trial.arm], repeat: first + trial.repeat, ..trial });
        let mut plan = Self { trials: trials.collect(), ..self.clone() };
        plan.run = RunSpec { seed: self.run.seed, ..run };
        plan.needs.duration = self.once() * (arms.len() as u32 * blocks);
        plan
    }

    /// The same plan with blocks of these arms until every comparison is decided, with random choices of their own; as
    /// many as the budget has room for if one takes `each`. None if these are too few to decide anything.
    #[must_use]
    pub fn until_decided(&self, arms: &[usize], each: Duration, budget: Duration) -> Option<Self> {
        let room = (budget.as_secs_f64() / each.as_secs_f64().max(1e-3)) as u32;
        if room < FIRST_LOOK {
            return None;
        }
        let mut fresh = self.clone();
        let mut random = SplitMix64::seed_from_u64(!self.run.seed);
        for plan in fresh.workloads.iter_mut().flat_map(|workload| &mut workload.jobs) {
            if !plan.seed_is_fixed {
                plan.job.randseed = random.next_u64();
            }
        }
        // Nor the order of the trials may be that of the search.
        fresh.run.seed = random.next_u64();
        let mut plan = fresh.blocks(arms, room.min(MAX_BLOCKS), 0, budget);
        plan.run.seed = self.run.seed;
        plan.run.until_decided = true;
        Some(plan)
    }

    /// Ramp and measured part of all workloads, once.
    #[must_use]
    pub fn once(&self) -> Duration {
        self.workloads.iter().map(|workload| workload.ramp_time + workload.runtime).sum()
    }
}

/// The target that is tuned.
fn target<'a>(loaded: &'a Loaded, tune: &'a Tune) -> Result<&'a str, Fault> {
    let names = || loaded.profile.targets.keys().map(String::as_str);
    let at = Path::parse("tune.target");
    match &tune.target {
        Some(name) if names().any(|known| known == name) => Ok(name),
        Some(name) => {
            let meant = nearest(name, names()).map(|near| format!("; did you mean `{near}`?"));
            let message = format!("there is no `{name}` in targets{}", meant.unwrap_or_default());
            Err(loaded.document.fault(&at, message))
        }
        None => match names().collect::<Vec<_>>()[..] {
            [only] => Ok(only),
            _ => {
                let message = format!("name one of {}", names().collect::<Vec<_>>().join(", "));
                Err(loaded.document.fault(&at, message))
            }
        },
    }
}

/// What a tuning decides by itself, and what its space must be.
fn rules(loaded: &Loaded, tune: &Tune, target: &str) -> Result<(), Fault> {
    let (document, at) = (&loaded.document, Path::parse);
    let ensure = |holds: bool, path: Path, message: &str| {
        if holds { Ok(()) } else { Err(document.fault(&path, message)) }
    };
    let run = &loaded.profile.run;
    let own = "a tuning decides this by itself; leave it out";
    ensure(loaded.profile.sweep.axes.is_empty(), at("sweep"), "`tune.space` is what varies; leave it out")?;
    ensure(run.repeats != Repeats::Auto, at("run.repeats"), own)?;
    ensure(run.order == Order::Interleaved, at("run.order"), own)?;
    ensure(run.budget.is_none(), at("run.budget"), "the budget of a tuning is `tune.budget`")?;
    ensure(tune.budget > Time::default(), at("tune.budget"), "must be above 0")?;
    ensure(!tune.space.is_empty(), at("tune.space"), "names no option to tune")?;
    let fixed = &loaded.profile.targets[target].options;
    let mut seen: Vec<String> = Vec::new();
    for (key, values) in &tune.space {
        let path = at("tune.space").key(key);
        let name = normal(key);
        let last = key.rsplit('.').next().unwrap_or(key);
        let alone = format!("is the path of a key; name the option alone: `{last}`");
        ensure(last == key, path.clone(), &alone)?;
        ensure(!values.is_empty(), path.clone(), "has no values")?;
        ensure(!seen.contains(&name), path.clone(), "is named twice")?;
        let free = fixed.keys().all(|other| normal(other) != name);
        let message = "is among the target's options too, which would stand for what the cluster has now; keep it in \
                       `tune.space` alone";
        ensure(free, path.clone(), message)?;
        seen.push(name);
        for (index, value) in values.iter().enumerate() {
            let twice = values[..index].iter().any(|earlier| earlier.canonical() == value.canonical());
            ensure(!twice, path.index(index), "is there twice")?;
        }
    }
    Ok(())
}

/// The profile with what the settings are judged by: their objective, against what the cluster has now.
fn judged(loaded: &Loaded, tune: &Tune, target: &str) -> Result<Loaded, Fault> {
    let mut document = loaded.document.clone();
    let place = document.place(&Path::parse("tune"));
    let mut set = |path: &str, value: Value| document.set(&Path::parse(path), value, place.clone());
    set("compare.baseline", json!(format!("{target}[{CURRENT}]")))?;
    set("compare.metrics", json!([tune.objective.metric().name()]))?;
    Ok(Loaded { profile: Profile::from_document(&document)?, document })
}

/// The arms, what each sets, and what can't be.
struct Settings {
    arms: Vec<Arm>,
    settings: Vec<Setting>,
    grid: Vec<(Setting, usize)>,
    left_out: Vec<(String, String)>,
}

fn settings(loaded: &Loaded, tune: &Tune, target: &str) -> Result<Settings, Fault> {
    let count = tune.space.values().fold(1, |count: usize, values| count.saturating_mul(values.len()));
    if count > MAX_SETTINGS {
        let message = format!("makes {count} settings, more than {MAX_SETTINGS}");
        return Err(loaded.document.fault(&Path::parse("tune.space"), message));
    }
    let current =
        Variant { document: loaded.document.clone(), settings: Vec::new(), label: format!("[{CURRENT}]") };
    let mut found = Settings {
        arms: vec![build_arm(current, target)?],
        settings: vec![Vec::new()],
        grid: Vec::new(),
        left_out: Vec::new(),
    };
    let mut first_fault = None;
    for choice in choices(tune) {
        let setting: Setting =
            choice.iter().map(|(key, index)| (normal(key), tune.space[*key][*index].0.clone())).collect();
        let arm =
            variant(&loaded.document, target, &choice, tune).and_then(|variant| build_arm(variant, target));
        if let Err(fault) = arm.and_then(|arm| found.add(arm, &setting)) {
            found.left_out.push((name(&setting), fault.message.clone()));
            first_fault.get_or_insert(fault);
        }
    }
    match first_fault {
        Some(fault) if found.arms.len() == 1 => Err(fault),
        _ => Ok(found),
    }
}

impl Settings {
    /// Adds the arm of a setting, unless one is there that differs in nothing that acts.
    fn add(&mut self, mut arm: Arm, setting: &Setting) -> Result<(), Fault> {
        cache::limits(&arm, &|_| None)?;
        let idle = cache::take_out_idle(&mut arm);
        if let (true, Some(fault)) = (arm.options == self.arms[0].options, idle) {
            return Err(fault);
        }
        let same = self.arms.iter().position(|other| other.options == arm.options);
        self.grid.push((setting.clone(), same.unwrap_or(self.arms.len())));
        if same.is_none() {
            let acting = acting(&arm, setting);
            arm.name = format!("{}[{}]", arm.target, name(&acting));
            self.arms.push(arm);
            self.settings.push(acting);
        }
        Ok(())
    }
}

/// What of a setting acts, percentages as what they come to.
fn acting(arm: &Arm, setting: &Setting) -> Setting {
    let shown = |(name, written): &(String, String)| {
        let option = arm.option(name)?;
        let size = option.value.parse().ok().filter(|_| written.trim_end().ends_with('%'));
        Some((name.clone(), size.map_or_else(|| written.clone(), |size: Bytes| size.to_string())))
    };
    setting.iter().filter_map(shown).collect()
}

/// Refuses a budget that leaves no time for the first blocks and a confirmation.
fn enough_time(loaded: &Loaded, tune: &Tune, plan: &Plan) -> Result<(), Fault> {
    let search = plan.once() * (plan.arms.len() as u32 * FIRST_BLOCKS);
    let confirmation = (plan.once() * (2 * CONFIRMATION_BLOCKS)).max(search / (CONFIRMATION_SHARE - 1));
    if search + confirmation <= tune.budget.0 {
        return Ok(());
    }
    let message = format!(
        "must be at least {}, for {} settings {FIRST_BLOCKS} times each and a confirmation; try fewer values, or shorten \
         runtime",
        Time(search + confirmation),
        plan.arms.len()
    );
    Err(loaded.document.fault(&Path::parse("tune.budget"), message))
}

/// Every value of each option with every value of the others, as indices; the last option changes fastest.
fn choices(tune: &Tune) -> Vec<Vec<(&str, usize)>> {
    tune.space.iter().fold(vec![Vec::new()], |heads, (key, values)| {
        let longer =
            |head: &Vec<(_, _)>, index| head.iter().copied().chain([(key.as_str(), index)]).collect();
        heads.iter().flat_map(|head| (0..values.len()).map(move |index| longer(head, index))).collect()
    })
}

/// `rbd_cache_policy=writeback,rbd_cache_size=64MiB`
fn name(setting: &Setting) -> String {
    setting.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
}

fn variant(
    document: &Document,
    target: &str,
    choice: &[(&str, usize)],
    tune: &Tune,
) -> Result<Variant, Fault> {
    let mut document = document.clone();
    let (mut settings, mut setting) = (Vec::new(), Vec::new());
    for (key, index) in choice {
        let OptionValue(value) = &tune.space[*key][*index];
        let path = Path::root().key("targets").key(target).key("options").key(key);
        let place = document.place(&Path::parse("tune.space").key(key).index(*index));
        document.set(&path, json!(value), place)?;
        settings.push((path.to_string(), tune.space[*key][*index].canonical()));
        setting.push((normal(key), value.clone()));
    }
    Ok(Variant { document, settings, label: format!("[{}]", name(&setting)) })
}

fn build_arm(variant: Variant, target: &str) -> Result<Arm, Fault> {
    // What there is to warn of shows when the plan is put together.
    let at = Path::root().key("targets").key(target);
    arm::arm(target, &at, variant, &mut Vec::new())
}
