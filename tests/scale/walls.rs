//! The loads of a single project that make shared keys reach the limit of a partition.

use std::collections::BTreeMap;

use crate::layout::{Cache, is_cached, name, numbered, places, stream, with_cache};
use crate::partitions::{NEW_TABLE, Outcome, Place, READS, WRITES};
use crate::population::VISIT;
use crate::profile::{Family, Owner, Profiles, Units};

/// How long a load is simulated, in seconds. In the last [`LAST`] seconds, when partitions have
/// been split and bursts are used up, no request may be throttled.
const WHOLE: u32 = 2 * 3600;
const LAST: u32 = 600;
const STEP: u32 = 60;

/// The number of times that each kind of [`VISIT`] occurs per request of a load, in the order of
/// `VISIT`.
pub(crate) type Mix = Vec<f64>;

/// Everything that users do.
pub(crate) fn everything() -> Mix {
    let all: f64 = VISIT.iter().map(|(_, each, _)| each).sum();
    VISIT.iter().map(|(_, each, _)| each / all).collect()
}

/// A load with only one kind of request, each of which leaves this many trail entries.
pub(crate) fn only(kind: &str, entries: f64) -> Mix {
    let is_of_trail = |other: &str| other.ends_with(" the trail");
    let share = |other: &str| f64::from(u8::from(other == kind)) + if is_of_trail(other) { entries } else { 0.0 };
    VISIT.iter().map(|(other, ..)| share(other)).collect()
}

/// A family of keys that several users share, and the loads that make these keys reach a limit.
#[derive(Debug)]
pub(crate) struct Wall {
    pub(crate) name: String,
    /// Whether this is the item of the project itself or that of its API key.
    pub(crate) is_own: bool,
    /// How many requests a minute make a shard's keys reach a partition's limit while they are in
    /// the same partition.
    pub(crate) together: f64,
    /// How many requests a minute reach the limit once each item is in a separate partition; `None`
    /// for many items without a particular order, which can be split again and again.
    pub(crate) alone: Option<f64>,
}

/// The requests a minute that reach a limit if each request takes these units.
fn limit(units: Units) -> f64 {
    (READS / units.read).min(WRITES / units.write) * 60.0
}

/// The walls of a mix of requests, lowest first.
pub(crate) fn walls(profiles: &Profiles, mix: &Mix, cache: Cache) -> Vec<Wall> {
    let mut families: BTreeMap<&Family, Units> = BTreeMap::new();
    let mut keys: BTreeMap<(usize, &str), Units> = BTreeMap::new();
    for (kind, family, units) in numbered(profiles).into_iter().filter(|(_, family, _)| family.owner != Owner::User) {
        let share = mix[kind] / f64::from(profiles.layouts[family].shards);
        let units = with_cache(cache, kind, family, units);
        for sum in [families.entry(family).or_default(), keys.entry((family.place, &family.pk)).or_default()] {
            sum.read += units.read * share;
            sum.write += units.write * share;
        }
    }
    let wall = |(family, units): (&&Family, &Units)| Wall {
        name: name(family),
        is_own: is_cached(family),
        together: limit(keys[&(family.place, &*family.pk)]),
        alone: (family.sk.is_some() || profiles.layouts[*family].ascends).then(|| limit(*units)),
    };
    let mut walls: Vec<Wall> = families.iter().map(wall).filter(|wall| wall.together.is_finite()).collect();
    walls.sort_by(|one, other| one.together.total_cmp(&other.together).then_with(|| one.name.cmp(&other.name)));
    walls
}

/// Whether there is capacity for a steady load of a single project; if not, the error is the name
/// of the hottest point.
fn holds(mut places: [Place; 3], mix: &Mix, per_minute: f64) -> Result<(), String> {
    let mut counts = vec![0.0; stream(2, 0)];
    for (kind, share) in mix.iter().enumerate() {
        let count = per_minute / 60.0 * f64::from(STEP) * share;
        (counts[stream(0, kind)], counts[stream(1, kind)]) = (count, count);
    }
    let (mut early, mut last): ([Outcome; 3], [Outcome; 3]) = Default::default();
    for second in (0..WHOLE).step_by(STEP as usize) {
        let outcomes = if second < WHOLE - LAST { &mut early } else { &mut last };
        for (place, outcome) in places.iter_mut().zip(outcomes) {
            place.step(&counts, f64::from(STEP), outcome);
        }
    }
    let throttled = last.iter().filter(|outcome| !outcome.throttled.is_empty());
    throttled.max_by(|one, other| one.hottest.0.total_cmp(&other.hottest.0)).map_or(Ok(()), |outcome| Err(outcome.hottest.1.clone()))
}

/// The highest load that the simulation sustains, in requests a minute, within two percent. Also
/// returns the hottest point at a load just above it.
pub(crate) fn simulated(profiles: &Profiles, mix: &Mix, cache: Cache) -> (f64, String) {
    let places = places(profiles, 1, cache, NEW_TABLE);
    let (mut below, mut above, mut found) = (1e4_f64, 1e8_f64, String::new());
    while above / below > 1.02 {
        let middle = (below * above).sqrt();
        match holds(places.clone(), mix, middle) {
            Ok(()) => below = middle,
            Err(name) => (above, found) = (middle, name),
        }
    }
    (below, found)
}
