//! Measures how much of the service a single client request can occupy: the data that the request
//! reads and returns, and the CPU time of its thread. The search covers all operations that are
//! open to clients, with the longest values that they accept. The user has as much of everything as
//! is permitted.

use std::time::Duration;

use infra::Operation;
use model::limit::Limits;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value};

use super::dearest::{Search, extend};
use crate::events::{World, name, success};

/// The maximum that a request may read from its body and the table, in bytes.
const MAX_READ: usize = 2_000_000;
/// The maximum size of a response, in bytes.
const MAX_ANSWER: usize = 1_000_000;
/// The operation that takes the most CPU time. Nearly all of this time is spent on the JSON of its
/// long responses. The second slowest operation takes a quarter of the time. All operations are
/// measured on the same thread, so the speed of the machine does not matter.
const SLOWEST: &str = "teams-team-list";
/// The number of times that a request is measured before it counts as slower.
const MAX_ATTEMPTS: usize = 5;

/// What one request takes.
struct Load {
    read: usize,
    answered: usize,
    time: Duration,
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

/// The load that an operation's request with these fields causes. `None` if the request does not
/// succeed in this world. A test's requests run on the test's thread, except for password hashes
/// and the engine's writes.
async fn load(world: World, operation: &Operation, fields: &Map<String, Value>) -> Option<Load> {
    let mut length = 0;
    world.app.recorder.measure();
    tokio::time::pause();
    let begun = cpu_time();
    let answer = world
        .send_with(&name(operation), |body| {
            extend(body, fields);
            length = body.to_string().len();
        })
        .await;
    let time = cpu_time().checked_sub(begun).unwrap();
    tokio::time::resume();
    let read = length + world.app.recorder.consumed().answered;
    world.app.recorder.clear();
    (answer.status() == success(operation)).then(|| Load { read, answered: answer.bytes().len(), time })
}

/// The loads of an operation in the world of the events, and in the world of the user who has as
/// much as is permitted. If the operation fails in one of the worlds, the load in this world is
/// missing.
async fn loads(search: &Search, operation: &Operation, fields: &Map<String, Value>) -> Vec<Load> {
    let usual = load(World::without_providers(Limits::off()).await, operation, fields).await;
    let rich = load(search.rich.begin(Limits::off()).await, operation, fields).await;
    let loads: Vec<Load> = usual.into_iter().chain(rich).collect();
    assert!(!loads.is_empty(), "{} fails", operation.route.name);
    loads
}

fn longest(loads: &[Load]) -> Duration {
    loads.iter().map(|load| load.time).max().unwrap()
}

#[tokio::test]
async fn no_request_of_a_client_takes_more_than_the_list_of_teams() {
    let search = Search::done().await;
    let (slowest, all) = search.operations.iter().find(|(operation, _)| operation.route.name == SLOWEST).unwrap();
    let list = loads(search, slowest, all).await;
    assert!(list.iter().any(|load| load.read > 1_000_000 && load.answered > 900_000), "the list is as long as it can be");
    let mut most = longest(&list);
    for (operation, fields) in &search.operations {
        let own = loads(search, operation, fields).await;
        for load in &own {
            assert!(load.read <= MAX_READ, "{} reads {} bytes", operation.route.name, load.read);
            assert!(load.answered <= MAX_ANSWER, "{} answers {} bytes", operation.route.name, load.answered);
        }
        let mut time = longest(&own);
        for _ in 1..MAX_ATTEMPTS {
            if time > 2 * most {
                time = time.min(longest(&loads(search, operation, fields).await));
                most = most.max(longest(&loads(search, slowest, all).await));
            }
        }
        assert!(time <= 2 * most, "{} takes {time:?}, the list of teams {most:?}", operation.route.name);
    }
}
