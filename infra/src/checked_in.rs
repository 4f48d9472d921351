//! The files that are rendered and checked in.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::{operations, readme, template, watch};

/// A file as it is, and as it should be.
#[derive(Debug)]
pub struct File {
    pub path: PathBuf,
    pub found: String,
    pub wanted: String,
}

impl File {
    pub fn is_current(&self) -> bool {
        self.found == self.wanted
    }

    pub fn write(&self) -> anyhow::Result<()> {
        std::fs::write(&self.path, &self.wanted).with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// The root of the workspace that this was built from.
pub fn root() -> PathBuf {
    let infra = Path::new(env!("CARGO_MANIFEST_DIR"));
    infra.parent().unwrap_or(infra).to_owned()
}

/// `infra/template.yaml`.
pub fn template_file() -> anyhow::Result<File> {
    let path = root().join("infra/template.yaml");
    // Absent before the first rendering.
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    Ok(File { path, found, wanted: template::render(&operations::all())? })
}

/// `Cargo.toml` with the routes of `cargo lambda watch`.
pub fn watch_file() -> anyhow::Result<File> {
    let path = root().join("Cargo.toml");
    let found = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let wanted = watch::render(&found, &operations::all());
    Ok(File { path, found, wanted })
}

/// `README.md` with the table of all operations.
pub fn readme_file() -> anyhow::Result<File> {
    let path = root().join("README.md");
    let found = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let wanted = readme::render(&found, &operations::all())?;
    Ok(File { path, found, wanted })
}

/// All of them.
pub fn files() -> anyhow::Result<[File; 3]> {
    Ok([template_file()?, watch_file()?, readme_file()?])
}
