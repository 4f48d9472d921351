//! Figures by day.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use model::metrics::activity::{Counts, Day, Kind, Split, WINDOW, midnight};
use serde::Serialize;
use utoipa::ToSchema;

/// The figure of a day.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Point {
    /// The day (UTC).
    #[schema(example = "2026-01-31")]
    pub(crate) date: String,
    /// The figure.
    pub(crate) activity: u64,
}

/// Active users or teams by day, split by their previous activity.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ActiveSplit {
    /// The number of users or teams that were active on this day.
    pub(crate) total: Vec<Point>,
    /// The number of users or teams that signed up or were created on this day.
    pub(crate) new: Vec<Point>,
    /// The number of users or teams that were also active on the day before.
    pub(crate) retained: Vec<Point>,
    /// The number of users or teams whose last activity was before the previous day.
    pub(crate) reactivated: Vec<Point>,
}

/// The days of the window that ends today, oldest first.
pub(crate) fn days(today: Day) -> impl Iterator<Item = Day> {
    today - WINDOW + 1..=today
}

pub(crate) fn date(day: Day) -> String {
    midnight(day).to_zoned(TimeZone::UTC).date().to_string()
}

/// A figure for each day of the window.
pub(crate) fn points(today: Day, figure: impl Fn(Day) -> u64) -> Vec<Point> {
    days(today).map(|day| Point { date: date(day), activity: figure(day) }).collect()
}

impl ActiveSplit {
    pub(crate) fn count(activities: &BTreeMap<Day, Counts>, today: Day, kinds: &[Kind]) -> Self {
        let split = |day: Day| activities.get(&day).map(|counts| Split::of(counts, kinds)).unwrap_or_default();
        Self {
            total: points(today, |day| split(day).total()),
            new: points(today, |day| split(day).new),
            retained: points(today, |day| split(day).retained),
            reactivated: points(today, |day| split(day).reactivated),
        }
    }
}
