//! The effect of an average request of each kind on the table: under keys of its user, and under
//! keys that all users of a project or of the deployment share.

use std::collections::{BTreeMap, BTreeSet};

use crate::layout::spreads;
use crate::recorded::{Access, Request};

/// The users who use the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    /// A single user, session, address or code.
    User,
    /// All users of a single project.
    Project,
    /// All projects.
    Deployment,
}

/// Keys that are used in the same way: the keys of all shards of a list, or the keys of all users.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Family {
    pub(crate) place: usize,
    pub(crate) owner: Owner,
    /// The partition key, with `…` in place of ids and of shard numbers.
    pub(crate) pk: String,
    /// The kind of the sort key if several users use the same item; `None` for keys of a user, and
    /// for items that users do not share.
    pub(crate) sk: Option<String>,
}

/// The layout of a family in its place.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Layout {
    /// The number of partition keys that a project (or the deployment) has in a shared family.
    pub(crate) shards: u32,
    /// Whether new items of a partition key come after all earlier items, so that a split does not
    /// divide the writes.
    pub(crate) ascends: bool,
}

/// The units that a request takes on average.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Units {
    pub(crate) read: f64,
    pub(crate) write: f64,
    pub(crate) calls: f64,
}

/// The bytes that a request adds to the table, which comes first, and to its indexes.
pub(crate) type Bytes = [f64; 3];

/// Requests of one kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct Profile {
    pub(crate) kind: &'static str,
    pub(crate) units: BTreeMap<Family, Units>,
    /// Bytes that never expire.
    pub(crate) lasting: Bytes,
    /// The bytes that a request at the start of a day leaves at the end of the day.
    pub(crate) day: Bytes,
    /// The bytes after a year with one such request a day.
    pub(crate) year: Bytes,
}

/// The profiles of all kinds of requests, and the layout of their keys in every simulation.
pub(crate) struct Profiles {
    pub(crate) kinds: Vec<Profile>,
    /// The layouts of shared families.
    pub(crate) layouts: BTreeMap<Family, Layout>,
    /// The spread of users' keys, by partition key; see [`spreads`].
    pub(crate) spreads: BTreeMap<String, Vec<f64>>,
}

const DAY: f64 = 86_400.0;

/// A partition key with `…` in place of the day, month or shard number at its end, or of a day or
/// month with a shard number. For a key with a shard number, also returns the name of the shard on
/// any day.
fn unsharded(pk: &str) -> (String, Option<String>) {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_period = |text: &str| is_number(&text.replace('-', "")) && text.len() >= "yyyymm".len();
    match pk.rsplit_once('#') {
        Some((rest, period)) if is_period(period) => (format!("{rest}#…"), None),
        Some((rest, shard)) if is_number(shard) => match rest.rsplit_once('#').filter(|(_, period)| is_period(period)) {
            Some((list, _)) => (format!("{list}#…"), Some(format!("{list}#…#{shard}"))),
            None => (format!("{rest}#…"), Some(pk.to_owned())),
        },
        _ => (pk.to_owned(), None),
    }
}

/// The kind of an item, taken from its sort key: the part before the first `#`, which precedes
/// digests, dates and ids; without `#`, the whole key.
fn kind_of_item(sk: &str) -> String {
    sk.split_once('#').map_or_else(|| sk.to_owned(), |(kind, _)| format!("{kind}#…"))
}

/// A partition key with `…` in place of everything except the names of kinds.
fn without_ids(pk: &str) -> String {
    let is_kind = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_uppercase());
    pk.split('#').map(|part| if is_kind(&part) { part } else { "…" }).collect::<Vec<_>>().join("#").replace("#…#…", "#…")
}

/// Who uses each partition key, and which items many users share.
struct KeyUsers<'a> {
    projects: BTreeSet<&'a str>,
    users: BTreeMap<(usize, String), BTreeSet<u32>>,
    /// The kinds with an item that several users' requests use or, if only a worker uses it,
    /// several runs.
    items: BTreeSet<(usize, String, String)>,
}

impl<'a> KeyUsers<'a> {
    fn new(requests: &'a [Request]) -> Self {
        let projects = requests.iter().map(|request| &*request.project).collect();
        let mut seen = Self { projects, users: BTreeMap::new(), items: BTreeSet::new() };
        // The users and runs of each item, by place and key.
        let mut items: BTreeMap<_, (BTreeSet<u32>, BTreeSet<usize>)> = BTreeMap::new();
        for (number, request) in requests.iter().enumerate() {
            for access in &request.accesses {
                seen.users.entry((access.place, unsharded(&access.pk).0)).or_default().extend(request.user);
                if let Some(sk) = &access.sk {
                    let (users, runs) = items.entry((access.place, &*access.pk, &**sk)).or_default();
                    users.extend(request.user);
                    runs.insert(number);
                }
            }
        }
        for ((place, pk, sk), (users, runs)) in items {
            if users.len() > 1 || (users.is_empty() && runs.len() > 1) {
                let item = (place, seen.without_project(&unsharded(pk).0), kind_of_item(sk));
                seen.items.insert(item);
            }
        }
        seen
    }

    /// The project whose id a partition key contains.
    fn project(&self, pk: &str) -> Option<&'a str> {
        self.projects.iter().find(|project| pk.contains(**project)).copied()
    }

    fn without_project(&self, pk: &str) -> String {
        self.project(pk).map_or_else(|| pk.to_owned(), |project| pk.replace(project, "…"))
    }

    fn family(&self, access: &Access) -> Family {
        let (key, _) = unsharded(&access.pk);
        let users = self.users[&(access.place, key.clone())].len();
        let owner = match (users, self.project(&key)) {
            (1, _) => Owner::User,
            // Some keys are used only by a worker.
            (_, Some(_)) => Owner::Project,
            (_, None) => Owner::Deployment,
        };
        let pk = if owner == Owner::User { without_ids(&key) } else { self.without_project(&key) };
        let is_shared = |sk: &String| owner != Owner::User && self.items.contains(&(access.place, pk.clone(), sk.clone()));
        let sk = access.sk.as_deref().map(kind_of_item).filter(is_shared);
        Family { place: access.place, owner, pk, sk }
    }
}

/// Whether the sort keys under a partition key came in ascending order, with at most one exception
/// in ten; `false` for fewer than four keys, because so few do not prove anything.
fn ascends(sort_keys: &[&str]) -> bool {
    let mut sort_keys = sort_keys.to_vec();
    sort_keys.dedup();
    let pairs = sort_keys.len().saturating_sub(1);
    let ordered = sort_keys.windows(2).filter(|pair| pair[0] <= pair[1]).count();
    pairs > 2 && ordered * 10 >= pairs * 9
}

fn layouts(requests: &[Request], seen: &KeyUsers<'_>) -> BTreeMap<Family, Layout> {
    let mut written: BTreeMap<(Family, &str, String), Vec<&str>> = BTreeMap::new();
    for request in requests {
        for access in &request.accesses {
            let family = seen.family(access);
            let project = seen.project(&access.pk).unwrap_or_default();
            // All days count as one key, because only one day's key is used at a time.
            let (pk, shard) = unsharded(&access.pk);
            let keys = written.entry((family, project, shard.unwrap_or(pk))).or_default();
            keys.extend(access.sk.as_deref().filter(|_| access.write > 0.0));
        }
    }
    let mut shards: BTreeMap<(&Family, &str), u32> = BTreeMap::new();
    let mut layouts: BTreeMap<Family, Layout> = BTreeMap::new();
    for ((family, project, _), sort_keys) in &written {
        *shards.entry((family, project)).or_default() += 1;
        layouts.entry(family.clone()).or_default().ascends |= ascends(sort_keys);
    }
    for ((family, _), count) in shards {
        let layout = layouts.entry(family.clone()).or_default();
        layout.shards = layout.shards.max(count);
    }
    layouts
}

/// The profiles of the requests that were recorded.
pub(crate) fn profiles(requests: &[Request]) -> Profiles {
    let seen = KeyUsers::new(requests);
    let mut kinds: Vec<Profile> = Vec::new();
    for request in requests {
        if kinds.iter().all(|profile| profile.kind != request.kind) {
            let all = requests.iter().filter(|other| other.kind == request.kind);
            kinds.push(profile(request.kind, all, &seen));
        }
    }
    let spreads = spreads(kinds.iter().flat_map(|profile| profile.units.keys()));
    Profiles { layouts: layouts(requests, &seen), kinds, spreads }
}

fn profile<'a>(kind: &'static str, requests: impl Iterator<Item = &'a Request>, seen: &KeyUsers<'_>) -> Profile {
    let (mut profile, mut count) = (Profile { kind, ..Profile::default() }, 0.0);
    for request in requests {
        count += f64::from(request.count);
        for access in &request.accesses {
            let units = profile.units.entry(seen.family(access)).or_default();
            units.read += access.read;
            units.write += access.write;
            units.calls += 1.0;
        }
        for stored in &request.stored {
            let life = stored.life.unwrap_or(f64::MAX);
            profile.year[stored.place] += stored.bytes * (life / DAY).min(365.0);
            profile.day[stored.place] += if life >= DAY { stored.bytes } else { 0.0 };
            profile.lasting[stored.place] += if stored.life.is_none() { stored.bytes } else { 0.0 };
        }
    }
    for units in profile.units.values_mut() {
        *units = Units { read: units.read / count, write: units.write / count, calls: units.calls / count };
    }
    for bytes in profile.lasting.iter_mut().chain(&mut profile.day).chain(&mut profile.year) {
        *bytes /= count;
    }
    profile
}
