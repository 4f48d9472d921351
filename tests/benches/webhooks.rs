//! Webhooks in the gateway: the number of events per second at a receiver, and the time of an event
//! from the change to the receiver. Measured alone, next to an endpoint that never responds, and
//! next to one that refuses connections. The data is on disk, and the gateway's workers deliver the
//! events. To run it: `cargo bench -p tests --bench webhooks --profile gateway`.
#![expect(clippy::expect_used, reason = "a benchmark fails if something is missing")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use futures_util::StreamExt as _;
use futures_util::stream::iter;
use serde_json::{Value, json};
use support::webhooks::Disk;

/// The number of users that are created at the same time.
const MANY: usize = 3000;
const CALLERS: usize = 16;
/// The number of users that are created one after another.
const SINGLE: usize = 200;

type Arrivals = Arc<Mutex<HashMap<String, Instant>>>;

async fn receiver(answers: bool) -> (String, Arrivals) {
    let arrived = Arrivals::default();
    let receive = async move |State(arrived): State<Arrivals>, body: Bytes| {
        if !answers {
            tokio::time::sleep(Duration::from_secs(60)).await;
        }
        let event: Value = serde_json::from_slice(&body).expect("an event");
        let id = event["data"]["id"].as_str().expect("an id").to_owned();
        arrived.lock().expect("a lock").entry(id).or_insert_with(Instant::now);
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let router = Router::new().fallback(receive).with_state(Arc::clone(&arrived));
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, arrived)
}

/// Creates users; returns when each was created.
async fn create(disk: &Disk, count: usize, callers: usize) -> HashMap<String, Instant> {
    let one = |number: usize| async move {
        let id = disk.server("/api/v1/users", json!({ "display_name": number.to_string() })).await["id"].clone();
        (id.as_str().expect("an id").to_owned(), Instant::now())
    };
    iter((0..count).map(one)).buffer_unordered(callers).collect().await
}

/// Waits for all events; returns how long each of them took, in ascending order.
async fn times(created: &HashMap<String, Instant>, arrived: &Arrivals) -> Vec<Duration> {
    loop {
        {
            let arrived = arrived.lock().expect("a lock");
            let found = created.iter().map(|(id, at)| arrived.get(id).map(|then| then.saturating_duration_since(*at)));
            if let Some(mut times) = found.collect::<Option<Vec<_>>>() {
                times.sort();
                return times;
            }
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The URL of a port that nothing listens on.
async fn refusing() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    format!("http://{}/", listener.local_addr().expect("an address"))
}

async fn measure(name: &str, other: Option<String>) {
    let disk = Disk::start(&name.replace(' ', "-")).await;
    if let Some(other) = other {
        disk.endpoint(&other).await;
    }
    let (url, arrived) = receiver(true).await;
    disk.endpoint(&url).await;
    let created = create(&disk, SINGLE, 1).await;
    let single = times(&created, &arrived).await;
    let began = Instant::now();
    let created = create(&disk, MANY, CALLERS).await;
    let accepted = began.elapsed();
    let many = times(&created, &arrived).await;
    let all = began.elapsed();
    let of = |times: &[Duration], part: usize| times[(times.len() * part / 100).min(times.len() - 1)].as_secs_f64() * 1000.0;
    println!("{name}");
    println!("  one after another:  median {:7.1} ms   p95 {:7.1} ms", of(&single, 50), of(&single, 95));
    println!("  {MANY} at once:       {:7.0} changes a second, {:7.0} events a second", per_second(accepted), per_second(all));
    println!("                      median {:7.1} ms   p95 {:7.1} ms", of(&many, 50), of(&many, 95));
}

fn per_second(time: Duration) -> f64 {
    f64::from(u32::try_from(MANY).unwrap_or(u32::MAX)) / time.as_secs_f64()
}

#[tokio::main]
async fn main() {
    measure("one endpoint", None).await;
    measure("beside an endpoint that never answers", Some(receiver(false).await.0)).await;
    measure("beside an endpoint that refuses connections", Some(refusing().await)).await;
    std::process::exit(0);
}
