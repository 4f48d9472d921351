//! The cost of argon2id: the time per check with several settings, and the consequences for a
//! function. To run it: `cargo bench -p tests --bench hashing`.
//!
//! The time on a whole core is measured on this machine. A Lambda with 1,769 MB has a whole core,
//! and a Lambda with less memory has a proportional share of a core. A hash uses one core, so more
//! memory does not help.
#![expect(clippy::expect_used, reason = "a benchmark fails if something is missing")]

use std::time::Instant;

use crypto::password::Password;
use crypto::password::cost::Cost;
use crypto::password::hash::{Hasher, Verdict};
use wire::entropy::Entropy;

/// OWASP's minimum in its five forms, and higher costs. Each has its name in the settings, or an
/// empty text if it does not have a name there.
const COSTS: [(&str, &str); 9] = [
    ("m=47104,t=1,p=1", "`high-memory`"),
    ("m=19456,t=2,p=1", "`standard`"),
    ("m=12288,t=3,p=1", ""),
    ("m=9216,t=4,p=1", ""),
    ("m=7168,t=5,p=1", "`low-memory`"),
    ("m=19456,t=4,p=1", ""),
    ("m=47104,t=2,p=1", ""),
    ("m=65536,t=3,p=1", "`strong`"),
    ("m=131072,t=3,p=1", ""),
];
/// The memory of a Lambda that has a whole core, in MB.
const WHOLE_CORE: f64 = 1769.0;
const MEMORIES: [f64; 4] = [256.0, 512.0, 1024.0, WHOLE_CORE];
/// The price of a gigabyte-second of Lambda on arm64 in us-east-1, in dollars.
const PRICE: f64 = 0.000_013_333_4;
/// The number of checks to take the median of.
const CHECKS: usize = 15;
/// Sign-ins a minute.
const RATE: f64 = 10_000.0;

/// The median time per check, in milliseconds.
async fn measure(cost: Cost) -> f64 {
    let (hasher, password) = (Hasher::at(cost), Password::from("correct horse battery".to_owned()));
    let hash = hasher.hash(&Entropy::system(), password.secret()).await;
    let mut times = Vec::new();
    for _ in 0..CHECKS {
        let started = Instant::now();
        assert_eq!(hasher.verify(Some(&hash), &password, None).await, Verdict::Right);
        times.push(started.elapsed().as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    times[CHECKS / 2]
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let [small, half, most, whole] = MEMORIES;
    println!(
        "| cost | name | ms, {small} MB | ms, {half} MB | ms, {most} MB | ms, {whole} MB | $ for a million | at once for {RATE} a minute |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (text, name) in COSTS {
        let on_core = measure(Cost::parse(text).expect("an allowed cost")).await;
        let times: Vec<String> = MEMORIES.iter().map(|memory| format!("{:.0}", on_core * WHOLE_CORE / memory)).collect();
        // The price of a million checks, in dollars. The price is the same with any amount of
        // memory, because time and price cancel out.
        let dollars = WHOLE_CORE / 1024.0 * on_core / 1000.0 * PRICE * 1e6;
        let at_once = (RATE / 60.0 * on_core / 1000.0).ceil();
        println!("| `{text}` | {name} | {} | {dollars:.2} | {at_once} |", times.join(" | "));
    }
}
