//! The effect of a load on the partitions of DynamoDB. The accesses of real operations are recorded
//! on the embedded engine, and then replayed for a population that no test could create. Nothing
//! waits and random numbers are seeded, so that every run writes the same reports to `infra/`.
#![expect(clippy::unwrap_used, reason = "a test fails if something is missing")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "simulated quantities are far below the precision of a float"
)]

mod day;
mod hot_keys;
mod layout;
mod pages;
mod partitions;
mod population;
mod profile;
mod recorded;
mod report;
mod walls;

use std::thread;

use expect_test::expect_file;

use crate::layout::Cache;
use crate::partitions::{NEW_TABLE, WARM_TABLE};
use crate::report::Scenario;

/// The requests a minute that the item and the API key of a single project must withstand within
/// the limits of a partition, if functions cache both for two seconds.
const GOAL: f64 = 1_000_000.0;

#[tokio::test(start_paused = true)]
async fn a_day_of_a_million_users_is_as_simulated() {
    let (app, requests) = recorded::requests().await;
    let profiles = profile::profiles(&requests);
    let pages = pages::measure(&app).await;
    let loads = [(1.0, Cache::OFF, NEW_TABLE), (100.0, Cache::OFF, WARM_TABLE), (100.0, Cache::ON, WARM_TABLE)];
    let everything = walls::everything();
    let sign_ins = walls::only("sign in with a password", 1.0);
    let reads = walls::only("get the current user", 0.0);
    let mixes = [("everything", everything), ("sign-ins with a password", sign_ins), ("reads of the current user", reads)];
    // The simulations do not depend on each other, and each takes several seconds.
    let (days, scenarios) = thread::scope(|scope| {
        let profiles = &profiles;
        let days = loads.map(|(load, cache, partitions)| scope.spawn(move || day::simulate(profiles, load, cache, partitions)));
        let scenarios = mixes.map(|(name, mix)| scope.spawn(move || Scenario::new(profiles, name, mix)));
        (days.map(|day| day.join().unwrap()), scenarios.map(|scenario| scenario.join().unwrap()))
    });
    let [all, ..] = &scenarios;
    // The table of walls follows from the recorded units alone, and the simulation must agree with
    // it.
    for (simulated, walls) in [(&all.without, &all.walls), (&all.with, &all.walls_cached)] {
        let lowest = walls.iter().map(|wall| wall.alone.unwrap_or(f64::MAX)).fold(f64::MAX, f64::min);
        assert!((simulated.0 / lowest - 1.0).abs() < 0.05, "simulated {simulated:?}, expected {lowest}");
    }
    assert!(all.own_items(Cache::ON) > GOAL && all.own_items(Cache::OFF) < GOAL / 5.0);
    expect_file!["../../infra/simulated-load.md"].assert_eq(&report::text(&profiles, &days, &scenarios, &pages));
}
