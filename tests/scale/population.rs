//! A million users of a hundred projects, and their day.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

pub(crate) const USERS: u32 = 1_000_000;
pub(crate) const PROJECTS: usize = 100;
/// The exponent of Zipf's law for the sizes of projects: the largest project has a fifth of all
/// users.
const OF_PROJECTS: f64 = 1.0;
/// The exponent of Zipf's law for the visits of users: the busiest user makes one of 2,000 visits.
const OF_USERS: f64 = 0.5;
/// How far the requests of a project rise above their mean in the busiest hour and fall below it in
/// the quietest hour, as a share of the mean.
const SWING: f64 = 0.9;
pub(crate) const DAY: u32 = 86_400;

/// The kinds of requests, each with the number of requests per visit of a user and with the
/// duration in a function, in milliseconds.
pub(crate) const VISIT: [(&str, f64, f64); 11] = [
    ("get the current user", 10.0, 15.0),
    ("refresh a session", 2.0, 15.0),
    ("refresh a session, first of a day", 0.8, 20.0),
    ("list sessions", 0.2, 15.0),
    ("sign in with a password", 0.2, 60.0),
    ("request a sign-in code", 0.05, 20.0),
    ("sign in with a code", 0.05, 25.0),
    ("sign up with a password", 0.01, 60.0),
    ("send an email", 0.06, 25.0),
    ("add an entry to the trail", 0.26, 1.0),
    ("link an entry of the trail", 0.26, 1.0),
];

/// A random number, uniform from 0 to 1.
fn uniform(random: &mut ChaCha8Rng) -> f64 {
    f64::from(random.next_u32()) / (f64::from(u32::MAX) + 1.0)
}

/// The number of events that happen if this many are expected, which has a Poisson distribution;
/// from 30 on, the normal distribution is close enough.
pub(crate) fn events(random: &mut ChaCha8Rng, expected: f64) -> f64 {
    if expected > 30.0 {
        let [one, other] = [1.0 - uniform(random), uniform(random)];
        let normal = (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos();
        return (expected + expected.sqrt() * normal).round().max(0.0);
    }
    let (end, mut product, mut count) = ((-expected).exp(), uniform(random), 0.0);
    while product > end {
        product *= uniform(random);
        count += 1.0;
    }
    count
}

/// A generator of random numbers with a fixed seed.
pub(crate) fn seeded() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(20_260_101)
}

fn zipf(count: usize, exponent: f64) -> Vec<f64> {
    let weights: Vec<f64> = (1..=count).map(|rank| (rank as f64).powf(-exponent)).collect();
    let all: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / all).collect()
}

/// Each project's share of all users, largest first.
pub(crate) fn projects() -> Vec<f64> {
    zipf(PROJECTS, OF_PROJECTS)
}

/// The shares of all visits that users make, busiest first.
pub(crate) fn users() -> Vec<f64> {
    zipf(USERS as usize, OF_USERS)
}

/// How busy a project is at this second of the day, relative to its mean. Projects are in different
/// time zones.
pub(crate) fn curve(project: usize, second: u32) -> f64 {
    let hour = f64::from(second) / 3600.0 + (project * 7 % 24) as f64;
    1.0 + SWING * (hour / 24.0 * std::f64::consts::TAU).sin()
}

/// A hash of a number. Hashes are spread evenly over their range.
pub(crate) fn hash(number: u64) -> u64 {
    // The finalizer of SplitMix64.
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A hash of a text (FNV-1a, mixed).
pub(crate) fn hash_text(text: &str) -> u64 {
    hash(text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)))
}
