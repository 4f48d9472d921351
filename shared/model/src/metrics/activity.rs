//! The days (UTC) on which users and teams are active. Each user or team is counted once per active
//! day. The only exception is an anonymous user who signs up: that user is counted again, as a new
//! user. A day's counts are grouped by gap: the number of days since the previous active day of the
//! same user or team.
//!
//! These counts are enough to compute how many different users or teams of a [`Kind`] were active
//! in a window of at most [`WINDOW`] days. The gap extends to a day before the window only on the
//! user's first active day in the window, unless the user signed up on that day ([`Gap::New`]).
//! [`distinct`] therefore sums up the counts with such gaps, and the counts of [`Gap::New`].

use std::collections::BTreeMap;

use jiff::Timestamp;

/// The length of a day in seconds.
const SECONDS: i64 = 24 * 60 * 60;
/// The number of days in the longest window.
pub const WINDOW: i64 = 30;

/// A day, counted from the Unix epoch.
pub type Day = i64;

/// The day that contains a time.
pub fn day(time: Timestamp) -> Day {
    time.as_second().div_euclid(SECONDS)
}

/// When a day begins.
pub fn midnight(day: Day) -> Timestamp {
    Timestamp::from_second(day * SECONDS).unwrap_or(Timestamp::MAX)
}

/// Who is active: users or teams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A user who has signed up.
    User,
    /// An anonymous user.
    Anonymous,
    /// A team.
    Team,
}

/// The time between two consecutive active days of a user or team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gap {
    /// The user signed up, or the team was created, on this day.
    New,
    /// The number of days, at least 1; [`WINDOW`] also stands for a larger or unknown number.
    Days(u8),
}

impl Gap {
    /// The gap on `today` of a user who signed up, or a team that was created, on `since`. `last`
    /// is the previous active day, or `None` if it is unknown.
    pub fn of(today: Day, since: Day, last: Option<Day>) -> Self {
        if since >= today {
            return Self::New;
        }
        let days = last.map_or(WINDOW, |last| (today - last).clamp(1, WINDOW));
        Self::Days(u8::try_from(days).unwrap_or(u8::MAX))
    }
}

/// The activities of a day, by kind and gap.
pub type Counts = BTreeMap<(Kind, Gap), u64>;

/// The active users, or the active teams, of a day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Split {
    /// Users who signed up, or teams that were created, on this day.
    pub new: u64,
    /// Users or teams that were also active on the day before.
    pub retained: u64,
    /// Users or teams that were last active on an earlier day.
    pub reactivated: u64,
}

impl Split {
    /// Sums up the counts of a day for these kinds.
    pub fn of(counts: &Counts, kinds: &[Kind]) -> Self {
        let mut split = Self::default();
        for ((_, gap), count) in counts.iter().filter(|((kind, _), _)| kinds.contains(kind)) {
            match gap {
                Gap::New => split.new += count,
                Gap::Days(1) => split.retained += count,
                Gap::Days(_) => split.reactivated += count,
            }
        }
        split
    }

    /// The number of all active users or teams.
    pub fn total(&self) -> u64 {
        self.new + self.retained + self.reactivated
    }
}

/// How many different users or teams of these kinds were active in the [`WINDOW`] days that end
/// with `today`. An anonymous user who signs up after being active counts twice, once as each kind.
pub fn distinct(days: &BTreeMap<Day, Counts>, today: Day, kinds: &[Kind]) -> u64 {
    let first = today - WINDOW + 1;
    let mut sum = 0;
    for (day, counts) in days.range(first..=today) {
        let is_first = |gap: Gap| match gap {
            Gap::New => true,
            Gap::Days(days) => day - i64::from(days) < first,
        };
        let of = counts.iter().filter(|((kind, gap), _)| kinds.contains(kind) && is_first(*gap));
        sum += of.map(|(_, count)| count).sum::<u64>();
    }
    sum
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// The counts of users who signed up on day 0 and were active on the days given.
    fn counted(users: &[BTreeSet<Day>]) -> BTreeMap<Day, Counts> {
        let mut days: BTreeMap<Day, Counts> = BTreeMap::new();
        for active in users {
            let mut last = None;
            for day in active {
                *days.entry(*day).or_default().entry((Kind::User, Gap::of(*day, 0, last))).or_default() += 1;
                last = Some(*day);
            }
        }
        days
    }

    proptest! {
        #[test]
        fn users_in_a_window_are_counted_once(
            users in proptest::collection::vec(proptest::collection::btree_set(0..100_i64, 0..20), 0..12),
            today in 0..100_i64,
        ) {
            let days = counted(&users);
            let wanted = users.iter().filter(|active| active.range(today - WINDOW + 1..=today).next().is_some()).count();
            prop_assert_eq!(distinct(&days, today, &[Kind::User]), wanted as u64);
            let on_day = users.iter().filter(|active| active.contains(&today)).count();
            let split = days.get(&today).map(|counts| Split::of(counts, &[Kind::User])).unwrap_or_default();
            prop_assert_eq!(split.total(), on_day as u64);
        }
    }

    #[test]
    fn a_gap_is_measured_in_days() {
        assert_eq!(Gap::of(10, 10, None), Gap::New);
        assert_eq!(Gap::of(10, 3, Some(9)), Gap::Days(1));
        assert_eq!(Gap::of(10, 3, Some(3)), Gap::Days(7));
        assert_eq!(Gap::of(100, 3, Some(3)), Gap::Days(30));
        assert_eq!(Gap::of(100, 3, None), Gap::Days(30), "the last active day is unknown");
    }
}
