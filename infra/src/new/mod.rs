//! `infra new`: creates an operation that compiles, handles requests and passes the contract tests,
//! from which its author can start.

mod lists;
mod request;
mod texts;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

pub use self::request::{NewOperation, OperationRequest};
use crate::checked_in::File;

impl NewOperation {
    /// The new files of the operation, and the existing files that list it, all below `root`.
    pub fn files(&self, root: &Path) -> anyhow::Result<Vec<File>> {
        let Self { area, name, .. } = self;
        let module = self.module();
        let functions = root.join("functions").join(area);
        let mut files = Vec::new();
        let [operation, lambda, event, test] = texts::all(self)?;
        let tests = root.join("tests/api");
        let added = [
            (functions.join(format!("src/{module}.rs")), operation),
            (functions.join(format!("src/bin/{area}-{name}.rs")), lambda),
            (root.join(format!("events/{area}/{name}.json")), event),
            (tests.join(area).join(format!("{module}.rs")), test),
        ];
        for (path, wanted) in added {
            if path.exists() || path.with_extension("").is_dir() {
                bail!("{} or a folder of this name exists: choose another name", path.display());
            }
            files.push(File { path, found: String::new(), wanted });
        }
        let library = changed(functions.join("src/lib.rs"), |source| {
            lists::with_operation(&lists::with_module(source, &format!("pub mod {module};")), &module)
        })?;
        // The tests of an area are in a folder with a `mod.rs`, or in a file that has a folder of
        // the same name next to it.
        let list = [tests.join(area).join("mod.rs"), tests.join(format!("{area}.rs"))].into_iter().find(|path| path.exists());
        let list = list.with_context(|| format!("tests/api has neither {area}/mod.rs nor {area}.rs"))?;
        files.extend([library, changed(list, |source| Ok(lists::with_module(source, &format!("mod {module};"))))?]);
        Ok(files)
    }
}

fn changed(path: PathBuf, change: impl FnOnce(&str) -> anyhow::Result<String>) -> anyhow::Result<File> {
    let found = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let wanted = change(&found).with_context(|| format!("cannot add a line to {}", path.display()))?;
    Ok(File { path, found, wanted })
}

#[cfg(test)]
mod tests;
