//! Where the keys of the families are in the table and its indexes.

use std::collections::{BTreeMap, BTreeSet};

use store::keys;
use wire::id::ProjectId;

use crate::partitions::{Place, Point, Term};
use crate::population::{self, hash, hash_text};
use crate::profile::{Family, Owner, Profiles, Units};

/// The number of slots that the keys of all users are divided into by their hash.
const SLOTS: u64 = 1024;
/// The number of parts that a partition key splits into if its items are not written in a
/// particular order.
const PARTS: u64 = 16;

/// How long an instance of a function caches a project and its key, in seconds; 0 means one read
/// per request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cache(f64);

/// The number of idle instances per busy instance.
const IDLE: f64 = 1.0;

impl Cache {
    pub(crate) const OFF: Self = Self(0.0);
    pub(crate) const ON: Self = Self(2.0);

    /// The share of the reads of project and key that remains for a kind of request. Each instance,
    /// whether busy or idle, reads once in the lifetime of its copy.
    fn factor(self, milliseconds: f64) -> f64 {
        if self.0 > 0.0 { (milliseconds / 1000.0 * (1.0 + IDLE) / self.0).min(1.0) } else { 1.0 }
    }
}

/// Whether a family is the item of a project or the project's API keys, which authentication reads.
pub(crate) fn is_cached(family: &Family) -> bool {
    let id = ProjectId::internal();
    let project = keys::project_key(&id);
    let key = keys::api_key_key(&id, &String::new().into());
    let kind = |sk: &str| sk.split('#').next().unwrap_or_default().to_owned();
    family.pk == project.pk.replace(id.as_str(), "…")
        && family.sk.as_ref().is_some_and(|sk| [&project.sk, &key.sk].into_iter().any(|cached| kind(cached) == kind(sk)))
}

/// The units that a kind of request takes under the keys of a family, with a cache.
pub(crate) fn with_cache(cache: Cache, kind: usize, family: &Family, units: Units) -> Units {
    let milliseconds = population::VISIT[kind].2;
    if is_cached(family) { Units { read: units.read * cache.factor(milliseconds), ..units } } else { units }
}

/// The number of the stream that counts the requests of this kind in this project. The streams for
/// the sums over all projects come last.
pub(crate) fn stream(project: usize, kind: usize) -> usize {
    project * population::VISIT.len() + kind
}

/// The units that each kind of [`population::VISIT`] takes, by family, with the position of the
/// kind in `VISIT`.
pub(crate) fn numbered(profiles: &Profiles) -> Vec<(usize, &Family, Units)> {
    let mut all = Vec::new();
    for (number, (kind, ..)) in population::VISIT.iter().enumerate() {
        let profile = profiles.kinds.iter().find(|profile| profile.kind == *kind);
        let profile = profile.unwrap_or_else(|| panic!("{kind} was not recorded"));
        all.extend(profile.units.iter().map(|(family, units)| (number, family, *units)));
    }
    assert_eq!(profiles.kinds.len(), population::VISIT.len(), "every recorded kind has a rate");
    all
}

/// The table and its indexes, for this many projects, with this many partitions each.
pub(crate) fn places(profiles: &Profiles, projects: usize, cache: Cache, partitions: usize) -> [Place; 3] {
    let mut slots: BTreeMap<(usize, u64), BTreeMap<usize, Units>> = BTreeMap::new();
    let mut shared: BTreeMap<(usize, usize, &Family), Vec<Term>> = BTreeMap::new();
    for (kind, family, units) in numbered(profiles) {
        let units = with_cache(cache, kind, family, units);
        match family.owner {
            Owner::User => {
                for (slot, weight) in (0..).zip(&profiles.spreads[&family.pk]) {
                    let sum = slots.entry((family.place, slot)).or_default().entry(stream(projects, kind)).or_default();
                    *sum = plus(*sum, times(units, *weight));
                }
            }
            Owner::Project => {
                for project in 0..projects {
                    shared.entry((family.place, project, family)).or_default().push(Term { stream: stream(project, kind), units });
                }
            }
            Owner::Deployment => {
                shared.entry((family.place, 0, family)).or_default().push(Term { stream: stream(projects, kind), units });
            }
        }
    }
    let mut points: [Vec<Point>; 3] = Default::default();
    for ((place, slot), terms) in slots {
        let terms = terms.into_iter().map(|(stream, units)| Term { stream, units }).collect();
        points[place].push(Point { at: (slot * (u64::MAX / SLOTS), 0), name: "keys of users".to_owned(), terms });
    }
    for ((place, project, family), terms) in shared {
        points[place].extend(points_of(profiles, project, family, &terms));
    }
    points.map(|points| Place::new(points, partitions))
}

/// The points that a shared family has in a project.
fn points_of(profiles: &Profiles, project: usize, family: &Family, terms: &[Term]) -> Vec<Point> {
    let layout = profiles.layouts[family];
    let parts = if family.sk.is_some() || layout.ascends { 1 } else { PARTS };
    let share = 1.0 / f64::from(layout.shards) / parts as f64;
    let mut points = Vec::new();
    for shard in 0..u64::from(layout.shards) {
        let of_key = hash(hash_text(&family.pk) ^ hash(((project as u64) << 8) | shard));
        for part in 0..parts {
            let order = family.sk.as_deref().map_or(part, hash_text);
            let terms = terms.iter().map(|term| Term { units: times(term.units, share), ..*term }).collect();
            points.push(Point { at: (of_key, order), name: name(family), terms });
        }
    }
    points
}

/// The name of a family, made of its keys.
pub(crate) fn name(family: &Family) -> String {
    let index = ["", "gsi1: ", "gsi2: "][family.place];
    let sk = family.sk.as_ref().map_or_else(String::new, |sk| format!(" / {sk}"));
    format!("`{index}{}{sk}`", family.pk)
}

/// For each kind of user key, the share of all users' requests that falls on each slot.
pub(crate) fn spreads<'a>(families: impl Iterator<Item = &'a Family>) -> BTreeMap<String, Vec<f64>> {
    let users = population::users();
    let keys: BTreeSet<&String> = families.filter(|family| family.owner == Owner::User).map(|family| &family.pk).collect();
    keys.into_iter().map(|pk| (pk.clone(), spread(pk, &users))).collect()
}

fn spread(pk: &str, users: &[f64]) -> Vec<f64> {
    let mut slots = vec![0.0; SLOTS as usize];
    let seed = hash_text(pk);
    for (number, weight) in (0..).zip(users) {
        slots[(hash(seed ^ number) % SLOTS) as usize] += weight;
    }
    slots
}

fn times(units: Units, factor: f64) -> Units {
    Units { read: units.read * factor, write: units.write * factor, calls: units.calls * factor }
}

fn plus(one: Units, other: Units) -> Units {
    Units { read: one.read + other.read, write: one.write + other.write, calls: one.calls + other.calls }
}
