//! The files of the repository that the contract tests read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use infra::checked_in::root;
use serde_json::Value;

/// The areas: the folders in `functions/`.
pub(crate) fn areas() -> BTreeSet<String> {
    names(&root().join("functions"))
}

/// The names of the entries of a folder; empty if the folder does not exist.
pub(crate) fn names(folder: &Path) -> BTreeSet<String> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeSet::new() };
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The names of the files with this extension, without the extension.
pub(crate) fn stems(folder: &Path, extension: &str) -> BTreeSet<String> {
    names(folder).iter().filter_map(|name| name.strip_suffix(extension)).map(str::to_owned).collect()
}

/// The crates that the manifest in this folder lists under `[dependencies]`.
pub(crate) fn dependencies(folder: &str) -> BTreeSet<String> {
    let manifest: toml::Table = fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap().parse().unwrap();
    manifest["dependencies"].as_table().unwrap().keys().cloned().collect()
}

pub(crate) fn event(area: &str, name: &str) -> Value {
    let path: PathBuf = root().join(format!("events/{area}/{name}.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The checked-in template, with short forms such as `!Ref X` replaced by X.
pub(crate) fn template() -> Value {
    static READ: LazyLock<Value> = LazyLock::new(|| read(&root().join("infra/template.yaml")));
    READ.clone()
}

/// The nested stacks of the checked-in template, by name.
pub(crate) fn stacks() -> BTreeMap<String, Value> {
    static READ: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
        let folder = root().join("infra/stacks");
        stems(&folder, ".yaml").into_iter().map(|name| (name.clone(), read(&folder.join(format!("{name}.yaml"))))).collect()
    });
    READ.clone()
}

fn read(path: &Path) -> Value {
    serde_saphyr::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}
