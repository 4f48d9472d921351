//! Checks of the record that a complete run of the API tests leaves. Cargo runs these checks after
//! the API tests.
#![expect(clippy::unwrap_used, reason = "a test fails if something is missing")]

mod logs;
mod roles;

use std::process::Command;
use std::sync::LazyLock;

use support::record;
use support::secrets::Secret;

/// The record that a complete run leaves.
pub(crate) struct WholeRun {
    /// The IAM actions that operations use, with one line per operation and action.
    pub(crate) actions: String,
    /// The whole log, without lines that are repeated.
    pub(crate) log: String,
    pub(crate) secrets: Vec<Secret>,
}

/// The run to check. If there is no record for the current build, all API tests run now.
pub(crate) static WHOLE_RUN: LazyLock<WholeRun> = LazyLock::new(|| {
    if !record::is_current() {
        let run = Command::new(env!("CARGO")).args(["test", "--quiet", "--package", "tests", "--test", "api"]).output().unwrap();
        assert!(run.status.success() && record::is_current(), "{}", String::from_utf8_lossy(&run.stdout));
    }
    let read = |name: &str| std::fs::read_to_string(record::folder().join(name)).unwrap();
    WholeRun { actions: read("actions"), log: read("log"), secrets: read("secrets").lines().map(Secret::from_line).collect() }
});
