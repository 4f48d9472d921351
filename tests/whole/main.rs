//! What is judged of a run of all tests of the API, which it recorded. Cargo runs these after those.
#![expect(clippy::unwrap_used, reason = "a test ends where something is missing")]

mod logs;
mod roles;

use std::process::Command;
use std::sync::LazyLock;

use support::record;
use support::secrets::Secret;

/// What that run left behind.
pub(crate) struct WholeRun {
    /// A line each: an operation and an IAM action.
    pub(crate) actions: String,
    /// All that was logged, each line once.
    pub(crate) log: String,
    pub(crate) secrets: Vec<Secret>,
}

/// The run, which the tests that judge it share. Without one of the newest build, all tests of the API run now.
pub(crate) static WHOLE_RUN: LazyLock<WholeRun> = LazyLock::new(|| {
    if !record::is_current() {
        let run = Command::new(env!("CARGO")).args(["test", "--quiet", "--package", "tests", "--test", "api"]).output().unwrap();
        assert!(run.status.success() && record::is_current(), "{}", String::from_utf8_lossy(&run.stdout));
    }
    let read = |name: &str| std::fs::read_to_string(record::folder().join(name)).unwrap();
    WholeRun { actions: read("actions"), log: read("log"), secrets: read("secrets").lines().map(Secret::of_line).collect() }
});
