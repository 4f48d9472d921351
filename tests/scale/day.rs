//! A day in the life of the whole population.

use crate::layout::{Cache, places, stream};
use crate::partitions::{Outcome, Place};
use crate::population::{self, DAY, PROJECTS, USERS, VISIT, curve, events};
use crate::profile::{Bytes, Profiles};

/// Requests are counted in steps of this many seconds. Bursts cover shorter peaks.
const STEP: u32 = 60;

/// The result of a day.
#[derive(Debug, Default)]
pub(crate) struct Day {
    /// The requests of all projects, by kind.
    pub(crate) requests: Vec<f64>,
    /// The highest number of requests a second, over all kinds and projects.
    pub(crate) peak: f64,
    /// The hottest point of each place: its highest share of a partition's limit, and its name.
    pub(crate) hottest_points: Vec<(f64, String)>,
    pub(crate) outcomes: [Outcome; 3],
    pub(crate) partitions: Vec<usize>,
    /// Accesses that exceeded the capacity, by kind.
    pub(crate) throttled: Vec<f64>,
    /// The bytes in the table and its indexes: before the day, added by the day, and after a year
    /// of such days.
    pub(crate) before: Bytes,
    pub(crate) added: Bytes,
    pub(crate) year: Bytes,
}

/// The requests of one step, by stream.
fn counts(random: &mut rand_chacha::ChaCha8Rng, shares: &[f64], second: u32, load: f64) -> Vec<f64> {
    let mut counts = vec![0.0; stream(PROJECTS + 1, 0)];
    for (project, share) in shares.iter().enumerate() {
        let visits = f64::from(USERS) * load * share * curve(project, second) * f64::from(STEP) / f64::from(DAY);
        for (kind, (_, each, _)) in VISIT.iter().enumerate() {
            let count = events(random, visits * each);
            counts[stream(project, kind)] = count;
            counts[stream(PROJECTS, kind)] += count;
        }
    }
    counts
}

/// Simulates a day on which users make `load` visits on average.
pub(crate) fn simulate(profiles: &Profiles, load: f64, cache: Cache, partitions: usize) -> Day {
    let mut places = places(profiles, PROJECTS, cache, partitions);
    let (mut random, shares) = (population::seeded(), population::projects());
    let mut day = Day { requests: vec![0.0; VISIT.len()], throttled: vec![0.0; VISIT.len()], ..Day::default() };
    day.hottest_points = vec![(0.0, String::new()); places.len()];
    let users = profiles.kinds.iter().find(|profile| profile.kind.starts_with("sign up")).map(|profile| profile.lasting);
    day.before = users.unwrap_or_default().map(|bytes| bytes * f64::from(USERS));
    for (place, bytes) in places.iter_mut().zip(day.before) {
        place.grow(bytes);
    }
    for second in (0..DAY).step_by(STEP as usize) {
        let counts = counts(&mut random, &shares, second, load);
        let of_all = &counts[stream(PROJECTS, 0)..];
        day.peak = day.peak.max(of_all.iter().sum::<f64>() / f64::from(STEP));
        day.requests.iter_mut().zip(of_all).for_each(|(sum, count)| *sum += count);
        for ((place, outcome), hottest) in places.iter_mut().zip(&mut day.outcomes).zip(&mut day.hottest_points) {
            place.step(&counts, f64::from(STEP), outcome);
            // The load of a point changes slowly, so checking it every five minutes is enough.
            if second % 300 == 0 {
                let (share, name) = place.hottest_point(&counts, f64::from(STEP));
                if share > hottest.0 {
                    *hottest = (share, name.to_owned());
                }
            }
        }
    }
    sum_up(&mut day, profiles, &places);
    day
}

fn sum_up(day: &mut Day, profiles: &Profiles, places: &[Place]) {
    day.partitions = places.iter().map(Place::count).collect();
    for (stream, count) in day.outcomes.iter().flat_map(|outcome| &outcome.throttled) {
        day.throttled[stream % VISIT.len()] += count;
    }
    day.year = day.before;
    for profile in &profiles.kinds {
        let requests = VISIT.iter().zip(&day.requests).find(|((kind, ..), _)| *kind == profile.kind).map_or(0.0, |(_, count)| *count);
        let sums = day.added.iter_mut().zip(&mut day.year);
        for ((added, year), (of_day, of_year)) in sums.zip(profile.day.iter().zip(&profile.year)) {
            *added += requests * of_day;
            *year += requests * of_year;
        }
    }
}
