//! A project's figures.
//!
//! | item | pk | sk | attributes |
//! |---|---|---|---|
//! | totals | `F#<P>` | `TOTAL#ALL` | `users`, `anonymous`, `verified`, `teams`; `changes`: the number of links that changed a total; `counted_at`: when everything was counted; `lists_activity`, `lists_folded_words`: whether the lists of users are complete |
//! | totals by country | the same | `TOTAL#COUNTRIES` | `c.DE` users, `a.DE` anonymous users |
//! | totals by way to sign in | the same | `TOTAL#METHODS` | `m.password`, `m.otp`, `m.passkey`, `m.<provider>` |
//! | sign-ups of a day | the same | `DAY#<day>` | `users`, `anonymous` |
//! | matches of a sign-up rule | the same | `RULE#<id>` | `allow`, `reject`, `restrict`, `log` |
//! | matches of an hour | the same | `HOUR#<hour>` | `<action>.<rule>` |
//! | activities of a day | `F#<P>#<shard>` | `DAY#<day>` | see [`activity`] |
//!
//! Days and hours are counted from the Unix epoch. The worker that links the audit trail writes
//! everything except the activities, in the transaction of the link ([`counters`]). Audit trail
//! entries are counted when they are linked, and therefore exactly once, even if a worker fails or
//! two workers run. Links are written one after another, so there is no contention. Apart from the
//! links, only [`recount`] writes totals. Counting costs two units for each item, however many
//! entries the link contains; requests write only activities. The counts of a day expire after
//! [`KEPT_DAYS`] days, and those of an hour after [`KEPT_HOURS`] hours.

pub mod activity;
pub mod counters;
pub mod recount;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use model::metrics::activity::{Day, WINDOW, day};
use model::metrics::tally::{ANONYMOUS, Tally, USERS};
use model::sign_up::rule::ActionType;
use wire::id::ProjectId;

use crate::table::{Error, Item, Key, Store, number};

/// How long the counts of a day are kept, in days.
pub const KEPT_DAYS: i64 = 62;
/// How long the counts of an hour are kept, in hours.
pub const KEPT_HOURS: i64 = 72;
/// The number of hours for which rule matches are shown.
pub const SHOWN_HOURS: i64 = 48;
const HOUR: i64 = 60 * 60;

const ALL: &str = "TOTAL#ALL";
const COUNTRIES: &str = "TOTAL#COUNTRIES";
const METHODS: &str = "TOTAL#METHODS";

pub(crate) fn partition(project: &ProjectId) -> String {
    format!("F#{project}")
}

fn key(project: &ProjectId, sk: impl Into<String>) -> Key {
    Key::new(partition(project), sk)
}

fn day_position(day: Day) -> String {
    format!("DAY#{day:07}")
}

/// The attribute that records that all users are in the list by activity.
const LISTS_ACTIVITY: &str = "lists_activity";
/// The attribute that records that all users are indexed by their words without accents. Earlier
/// versions, which indexed words with accents, wrote [`LISTS_EARLIER_WORDS`] instead.
const LISTS_WORDS: &str = "lists_folded_words";
const LISTS_EARLIER_WORDS: &str = "lists_words";

/// The hour of a time, counted from the Unix epoch.
pub fn hour(time: Timestamp) -> i64 {
    time.as_second().div_euclid(HOUR)
}

/// When an hour begins.
pub fn hour_begins(hour: i64) -> Timestamp {
    Timestamp::from_second(hour * HOUR).unwrap_or(Timestamp::MAX)
}

fn hour_position(hour: i64) -> String {
    format!("HOUR#{hour:09}")
}

fn rule_position(rule: &str) -> String {
    format!("RULE#{rule}")
}

fn later(time: Timestamp, hours: i64) -> i64 {
    wire::clock::after(time, SignedDuration::from_hours(hours)).as_second()
}

/// The name of an action in the attributes of items.
pub fn action_name(action: ActionType) -> &'static str {
    match action {
        ActionType::Allow => "allow",
        ActionType::Reject => "reject",
        ActionType::Restrict => "restrict",
        ActionType::Log => "log",
    }
}

/// The totals of a project.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    /// The totals or, if `counted_at` is `None`, only the changes since the audit trail began.
    pub tally: Tally,
    /// The number of audit trail links that changed a total.
    pub changes: u64,
    /// The time when all users and teams were counted; since then, the totals are exact. `None` if
    /// users and teams were never counted.
    pub counted_at: Option<Timestamp>,
    /// Whether all users are in the list by activity ([`crate::user::by_activity`]).
    pub lists_activity: bool,
    /// Whether all users are indexed by their words ([`crate::user::by_word`]).
    pub lists_words: bool,
}

/// The sign-ups of a day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SignUps {
    /// The number of users who signed up, including users who were anonymous before.
    pub users: u64,
    /// The number of users who began as anonymous users.
    pub anonymous: u64,
}

/// The totals of a project, and its sign-ups by day.
#[derive(Debug, Default)]
pub struct Figures {
    /// The totals.
    pub totals: Totals,
    /// The sign-ups of each day; days without sign-ups are absent.
    pub sign_ups: BTreeMap<Day, SignUps>,
}

/// How often each sign-up rule has matched, by rule and action.
#[derive(Debug, Default)]
pub struct RuleCounts {
    /// All matches.
    pub ever: BTreeMap<(String, String), u64>,
    /// The matches of the last [`SHOWN_HOURS`] hours, by hour.
    pub by_hour: BTreeMap<i64, BTreeMap<(String, String), u64>>,
}

fn position_of<'a>(item: &'a Item, prefix: &str) -> Option<&'a str> {
    item.get("sk")?.as_s().ok()?.strip_prefix(prefix)
}

/// The numeric attributes of an item.
fn numbers(item: &Item) -> impl Iterator<Item = (&str, i64)> {
    item.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_n().ok()?.parse().ok()?)))
}

impl Totals {
    /// Whether all users and teams have been counted, and all users are in both lists.
    pub fn is_complete(&self) -> bool {
        self.counted_at.is_some() && self.lists_activity && self.lists_words
    }

    /// The number of users, including anonymous ones.
    pub fn users(&self) -> usize {
        usize::try_from(self.tally.get(USERS) + self.tally.get(ANONYMOUS)).unwrap_or_default()
    }

    fn of(items: &[Item]) -> Self {
        let mut totals = Self::default();
        let is_total = |name: &str| !matches!(name, "changes" | "counted_at" | LISTS_ACTIVITY | LISTS_WORDS | LISTS_EARLIER_WORDS);
        for item in items.iter().filter(|item| position_of(item, "TOTAL#").is_some()) {
            let of_item = numbers(item).filter(|(name, _)| is_total(name)).map(|(name, count)| (name.to_owned(), count)).collect();
            totals.tally.merge(&of_item, 1);
            totals.changes = number(item, "changes").unwrap_or(totals.changes);
            let counted = number(item, "counted_at").and_then(|millis| Timestamp::from_millisecond(millis).ok());
            totals.counted_at = counted.or(totals.counted_at);
            totals.lists_activity |= item.contains_key(LISTS_ACTIVITY);
            totals.lists_words |= item.contains_key(LISTS_WORDS);
        }
        totals
    }
}

impl Store {
    async fn metrics_between(&self, project: &ProjectId, first: &str, last: &str, consistent: bool) -> Result<Vec<Item>, Error> {
        let query = self.query_range(partition(project), first, last).consistent_read(consistent);
        self.query_all(query).await
    }

    /// The totals, read with strong consistency: one unit for each 4 KB.
    pub async fn totals(&self, project: &ProjectId) -> Result<Totals, Error> {
        Ok(Totals::of(&self.metrics_between(project, "TOTAL#", "TOTAL#~", true).await?))
    }

    /// The totals, and the sign-ups of today and of the [`WINDOW`] days before. Costs two parallel
    /// queries at half a unit for each 4 KB.
    pub async fn figures(&self, project: &ProjectId, now: Timestamp) -> Result<Figures, Error> {
        let (first, last) = (day_position(day(now) - WINDOW), day_position(day(now)));
        let days = self.metrics_between(project, &first, &last, false);
        let (days, totals) = tokio::try_join!(days, self.metrics_between(project, "TOTAL#", "TOTAL#~", false))?;
        let sign_ups = |item: &Item| {
            let day = position_of(item, "DAY#")?.parse().ok()?;
            let count = |name: &str| number(item, name).unwrap_or_default();
            Some((day, SignUps { users: count("users"), anonymous: count("anonymous") }))
        };
        Ok(Figures { totals: Totals::of(&totals), sign_ups: days.iter().filter_map(sign_ups).collect() })
    }

    /// How often each sign-up rule has matched. Costs two parallel queries, which take half a unit
    /// for each 4 KB.
    pub async fn rule_counts(&self, project: &ProjectId, now: Timestamp) -> Result<RuleCounts, Error> {
        let (first, last) = (hour_position(hour(now) - SHOWN_HOURS + 1), hour_position(hour(now)));
        let hours = self.metrics_between(project, &first, &last, false);
        let (hours, rules) = tokio::try_join!(hours, self.metrics_between(project, "RULE#", "RULE#~", false))?;
        let mut counts = RuleCounts::default();
        for item in &rules {
            let Some(rule) = position_of(item, "RULE#") else { continue };
            let of_rule = numbers(item).map(|(action, count)| ((rule.to_owned(), action.to_owned()), count.unsigned_abs()));
            counts.ever.extend(of_rule);
        }
        for item in &hours {
            let Some(hour) = position_of(item, "HOUR#").and_then(|hour| hour.parse().ok()) else { continue };
            let of_hour = counts.by_hour.entry(hour).or_default();
            let named = numbers(item).filter_map(|(name, count)| Some((name.split_once('.')?, count.unsigned_abs())));
            of_hour.extend(named.map(|((action, rule), count)| ((rule.to_owned(), action.to_owned()), count)));
        }
        Ok(counts)
    }
}
