//! The manifests: the versions in the lock file can be compiled with the oldest compiler that the
//! manifests name.

use std::fs;
use std::process::Command;

use infra::checked_in::root;
use serde_json::Value;

/// Packages outside the workspace.
const OTHERS: [&str; 3] = ["tests/passkeys", "tests/passkeys/verifiers", "tests/benches/highlight"];

fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(root()).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The numbers in a version such as `1.95` or `1.94.1`.
fn numbers(version: &str) -> [u32; 3] {
    let mut numbers = version.split('.').map(|number| number.parse().unwrap());
    [(); 3].map(|()| numbers.next().unwrap_or(0))
}

#[test]
fn every_locked_crate_compiles_with_the_oldest_rust_that_is_named() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    // Crates that are used only on other platforms may be missing.
    let version = output("rustc", &["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let metadata = output(&cargo, &["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host]);
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let (ours, theirs): (Vec<&Value>, Vec<&Value>) =
        metadata["packages"].as_array().unwrap().iter().partition(|package| package["source"].is_null());
    let named = ours[0]["rust_version"].as_str().unwrap();
    assert!(ours.iter().all(|package| package["rust_version"] == named), "a crate of the workspace names another version than {named}");
    let needs = |package: &&Value| package["rust_version"].as_str().filter(|needed| numbers(needed) > numbers(named)).map(str::to_owned);
    let newer: Vec<_> = theirs.iter().filter_map(|package| Some(format!("{} {}", package["name"], needs(package)?))).collect();
    assert!(newer.is_empty(), "rust-version in Cargo.toml is {named}, and these need more: {newer:?}");
}

#[test]
fn all_workspaces_name_the_same_oldest_rust() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap().parse::<toml::Table>().unwrap();
    let named = &read("Cargo.toml")["workspace"]["package"]["rust-version"];
    for folder in OTHERS {
        assert_eq!(&read(&format!("{folder}/Cargo.toml"))["package"]["rust-version"], named, "{folder}");
    }
}

#[test]
fn versions_are_compared_by_their_numbers() {
    assert!(numbers("1.100") > numbers("1.95"));
    assert!(numbers("1.94.1") > numbers("1.94") && numbers("1.94.1") < numbers("1.95"));
}
