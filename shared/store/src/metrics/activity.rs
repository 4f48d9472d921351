//! The days (UTC) on which users and teams were active.
//!
//! | item | pk | sk | attributes |
//! |---|---|---|---|
//! | last day of a user | `U#<P>#<user>` | `ACTIVE` | `day`, counted from the Unix epoch; `anonymous`: whether the user was anonymous |
//! | last day of a team | `T#<P>#<team>` | `ACTIVE` | `day` |
//! | activities of a day | `F#<P>#<shard>` | `DAY#<day>` | how many were active, by kind and gap: `un` new users, `u1` users also active the day before, `a7` anonymous users last active seven days before, `t30` teams last active thirty or more days before, or on an unknown day |
//!
//! On the first activity of a day, a transaction advances the last days and increments the counters
//! of the day. Each user and team is therefore counted once a day, even if many requests arrive at
//! the same time. Only an anonymous user who signs up is counted a second time, as a user. The
//! transaction costs two units for the user, two for the counter, and two for the user's selected
//! team. To detect the first activity of a day, every session refresh reads the user's last day
//! (one unit) along with its other items. Users who appear in trail entries are also counted, when
//! these entries are linked. The counters of a day are spread over [`SHARDS`] items. The item of a
//! last day expires [`WINDOW`] + 2 days later.

use std::collections::{BTreeMap, HashSet};

use futures_util::future::try_join_all;
use jiff::Timestamp;
use model::metrics::activity::{Counts, Day, Gap, Kind, WINDOW, day, midnight};
use model::team::Team;
use model::user::User;
use wire::id::{ProjectId, TeamId, UserId};

use crate::keys::team_key as item_of_team;
use crate::metrics::{KEPT_DAYS, day_position, later};
use crate::table::sharded::shard_of;
use crate::table::{BATCH, Error, Item, Key, Store, Write, integer, number, string};
use crate::{keys, optimistic, table};

/// The number of items over which the counters of a day are spread.
pub const SHARDS: u8 = 8;
/// The maximum number of users counted in one transaction; up to three items are read for each.
const AT_ONCE: usize = BATCH / 3;

/// The last day on which a user or team was counted.
#[derive(Debug, Clone, Copy)]
pub struct LastDay {
    day: Day,
    was_anonymous: bool,
}

impl LastDay {
    fn of(item: &Item) -> Option<Self> {
        Some(Self { day: number(item, "day")?, was_anonymous: item.contains_key("anonymous") })
    }

    /// Whether this user or team has been fully counted for the day. An anonymous user who signs up
    /// is counted again, as a user.
    pub fn covers(self, today: Day, is_anonymous: bool) -> bool {
        self.day >= today && (!self.was_anonymous || is_anonymous)
    }
}

pub(crate) fn partition(project: &ProjectId, shard: u8) -> String {
    format!("F#{project}#{shard}")
}

pub(crate) fn user_key(project: &ProjectId, user: UserId) -> Key {
    Key::new(keys::user_key(project, user).pk, "ACTIVE")
}

pub(crate) fn team_key(project: &ProjectId, team: TeamId) -> Key {
    Key::new(item_of_team(project, team).pk, "ACTIVE")
}

/// A user or team to count.
struct ActivitySubject {
    key: Key,
    kind: Kind,
    gap: Gap,
}

impl ActivitySubject {
    fn new(key: Key, kind: Kind, since: Timestamp, today: Day, last: Option<LastDay>) -> Option<Self> {
        let is_anonymous = kind == Kind::Anonymous;
        if last.is_some_and(|last| last.covers(today, is_anonymous)) {
            return None;
        }
        let last = last.filter(|last| is_anonymous || !last.was_anonymous).map(|last| last.day);
        Some(Self { key, kind, gap: Gap::of(today, day(since), last) })
    }

    /// Advances the last day; the condition fails if another request has already done so.
    fn advance(&self, today: Day) -> Write {
        let is_anonymous = self.kind == Kind::Anonymous;
        let (set, is_due) = if is_anonymous {
            ("SET #day = :day, #ttl = :ttl, anonymous = :yes", "attribute_not_exists(pk) OR #day < :day")
        } else {
            ("SET #day = :day, #ttl = :ttl REMOVE anonymous", "attribute_not_exists(pk) OR #day < :day OR attribute_exists(anonymous)")
        };
        let write = Write::update(self.key.clone(), set).on(is_due).name("#day", "day").name("#ttl", table::TTL);
        let write = write.value(":day", integer(today)).value(":ttl", integer(later(midnight(today), (WINDOW + 2) * 24)));
        if is_anonymous { write.value(":yes", integer(1)) } else { write }
    }

    fn counter(&self) -> String {
        let kind = match self.kind {
            Kind::User => 'u',
            Kind::Anonymous => 'a',
            Kind::Team => 't',
        };
        match self.gap {
            Gap::New => format!("{kind}n"),
            Gap::Days(days) => format!("{kind}{days}"),
        }
    }
}

/// The kind and gap of the counter with this name; `None` if it is not the name of a counter.
fn parse_counter(name: &str) -> Option<(Kind, Gap)> {
    let (kind, gap) = name.split_at_checked(1)?;
    let kind = match kind {
        "u" => Kind::User,
        "a" => Kind::Anonymous,
        "t" => Kind::Team,
        _ => return None,
    };
    Some((kind, if gap == "n" { Gap::New } else { Gap::Days(gap.parse().ok()?) }))
}

fn count(project: &ProjectId, shard: u8, today: Day, active: &[ActivitySubject]) -> Write {
    let mut sums: BTreeMap<String, u32> = BTreeMap::new();
    for active in active {
        *sums.entry(active.counter()).or_default() += 1;
    }
    let adds: Vec<String> = sums.keys().map(|name| format!("{name} :{name}")).collect();
    let write = Write::update(Key::new(partition(project, shard), day_position(today)), format!("SET #ttl = :ttl ADD {}", adds.join(", ")));
    let write = write.name("#ttl", table::TTL).value(":ttl", integer(later(midnight(today), KEPT_DAYS * 24)));
    sums.iter().fold(write, |write, (name, sum)| write.value(&format!(":{name}"), integer(sum)))
}

impl Store {
    /// The last day on which a user was counted; `None` if the user was never counted or the item
    /// has expired. Costs 1 unit.
    pub async fn last_day(&self, project: &ProjectId, user: UserId) -> Result<Option<LastDay>, Error> {
        Ok(self.get(&user_key(project, user)).await?.as_ref().and_then(LastDay::of))
    }

    /// Counts users who are active at `now`, and their selected teams, unless they have already
    /// been counted on this day.
    pub async fn count_active(&self, project: &ProjectId, users: &[User], now: Timestamp) -> Result<(), Error> {
        for users in users.chunks(AT_ONCE) {
            optimistic!(|_| { self.count_some(project, users, day(now)).await })?;
        }
        Ok(())
    }

    async fn count_some(&self, project: &ProjectId, users: &[User], today: Day) -> Result<(), Error> {
        let teams: HashSet<TeamId> = users.iter().filter_map(|user| user.selected_team_id).collect();
        let keys = users.iter().map(|user| user_key(project, user.id));
        let keys = keys.chain(teams.iter().flat_map(|team| [team_key(project, *team), item_of_team(project, *team)]));
        let mut items = self.get_many(keys).await?;
        let mut active = Vec::new();
        for user in users {
            let key = user_key(project, user.id);
            let last = items.take(&key).as_ref().and_then(LastDay::of);
            let kind = if user.is_anonymous { Kind::Anonymous } else { Kind::User };
            active.extend(ActivitySubject::new(key, kind, user.signed_up_at, today, last));
        }
        for team in teams {
            // A team may have been deleted since a user selected it.
            let Some(found): Option<Team> = items.entity(&item_of_team(project, team))? else { continue };
            let key = team_key(project, team);
            let last = items.take(&key).as_ref().and_then(LastDay::of);
            active.extend(ActivitySubject::new(key, Kind::Team, found.created_at, today, last));
        }
        let Some(shard) = users.first().map(|user| shard_of(user.id.uuid(), SHARDS)).filter(|_| !active.is_empty()) else {
            return Ok(());
        };
        let writes = active.iter().map(|active| active.advance(today)).chain([count(project, shard, today, &active)]);
        self.transact_unrecorded(writes.collect()).await
    }

    /// The users not yet counted today, or counted only as anonymous users who may have signed up
    /// since.
    pub async fn not_yet_active(&self, project: &ProjectId, users: &[UserId], now: Timestamp) -> Result<Vec<UserId>, Error> {
        let mut left = Vec::new();
        for users in users.chunks(BATCH) {
            let mut items = self.get_many(users.iter().map(|user| user_key(project, *user))).await?;
            let mut is_counted = |user: UserId| {
                let last = items.take(&user_key(project, user)).as_ref().and_then(LastDay::of);
                last.is_some_and(|last| last.covers(day(now), false))
            };
            left.extend(users.iter().copied().filter(|user| !is_counted(*user)));
        }
        Ok(left)
    }

    /// The activities of this day and of the [`WINDOW`] days before, read with one query for each
    /// shard, in parallel, at half a unit for each 4 KB.
    pub async fn activities(&self, project: &ProjectId, now: Timestamp) -> Result<BTreeMap<Day, Counts>, Error> {
        let shards = try_join_all((0..SHARDS).map(|shard| self.activities_of_shard(project, shard, now))).await?;
        let mut days: BTreeMap<Day, Counts> = BTreeMap::new();
        for item in shards.iter().flatten() {
            let day = item.get("sk").and_then(|sk| sk.as_s().ok()?.strip_prefix("DAY#")?.parse().ok());
            let Some(day) = day else { continue };
            let counts = days.entry(day).or_default();
            for (name, value) in item {
                let count = value.as_n().ok().and_then(|count| count.parse::<u64>().ok());
                if let Some((counter, count)) = parse_counter(name).zip(count) {
                    *counts.entry(counter).or_default() += count;
                }
            }
        }
        Ok(days)
    }

    async fn activities_of_shard(&self, project: &ProjectId, shard: u8, now: Timestamp) -> Result<Vec<Item>, Error> {
        let query = self
            .query()
            .key_condition_expression("pk = :pk AND sk >= :first")
            .expression_attribute_values(":pk", string(partition(project, shard)))
            .expression_attribute_values(":first", string(day_position(day(now) - WINDOW)));
        self.query_all(query).await
    }
}
