//! All tests of the API run once more, in a process that writes down what is judged of the run as a whole.

use std::path::Path;
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

/// The run, which the tests that judge it share.
pub(crate) static WHOLE_RUN: LazyLock<WholeRun> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("record-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut run = Command::new(std::env::current_exe().unwrap());
    run.args(["--quiet", "--skip", "permissions::", "--skip", "logs::", "--skip", "bad_input::sweep::"]);
    let run = run.env(record::FOLDER, &folder).env("RUST_BACKTRACE", "0").output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let (actions, log, secrets) = (read("actions"), read("log"), read("secrets").lines().map(Secret::of_line).collect());
    std::fs::remove_dir_all(&folder).unwrap();
    WholeRun { actions, log, secrets }
});
