//! The rendered files that are checked in to the repository.

use std::path::PathBuf;

use anyhow::Context as _;
use site::catalog;

use crate::scorecard::Scorecard;
pub use crate::workspace::root;
use crate::{all_operations, binaries, error_codes, openapi, operations, pages, providers, quotas, template, watch};

/// A file with its current text and the text that it should have.
#[derive(Debug)]
pub struct File {
    pub path: PathBuf,
    pub found: String,
    pub wanted: String,
}

type Render = fn() -> anyhow::Result<String>;

/// The files whose paths are fixed, with their content.
const DOCUMENTS: [(&str, Render); 8] = [
    (WATCH, || Ok(watch::document(&operations::all()))),
    ("docs/all-operations.md", || Ok(all_operations::document(&operations::all()))),
    ("docs/api/providers.md", || Ok(providers::document())),
    ("docs/api/quotas.md", || Ok(quotas::document(&operations::all()))),
    ("docs/errors.md", || Ok(error_codes::document())),
    ("docs/security/scorecard.md", || Ok(Scorecard::read(&root())?.document())),
    // The page contains placeholders for URLs, which the function that serves it replaces.
    ("functions/content/src/openapi.json", || Ok(openapi::lines(&openapi::json(catalog::API_URL, catalog::SITE_URL)?))),
    ("infra/console/page.html", pages::console),
];

/// The routes of `cargo lambda watch`.
pub const WATCH: &str = "CargoLambda.toml";

impl File {
    fn rendered(path: PathBuf, wanted: String) -> Self {
        // Before the first rendering, the file does not exist.
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        Self { path, found, wanted }
    }

    pub fn is_current(&self) -> bool {
        self.found == self.wanted
    }

    /// Writes the wanted text, or removes the file if the wanted text is empty.
    pub fn write(&self) -> anyhow::Result<()> {
        let written = if self.wanted.is_empty() {
            std::fs::remove_file(&self.path)
        } else {
            self.path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&self.path, &self.wanted))
        };
        written.with_context(|| format!("cannot write or remove {}", self.path.display()))
    }
}

/// `infra/template.yaml` and the stacks nested in it. The wanted text for the stack of an area that
/// no longer exists is empty, so the stack's file is removed.
pub fn template_files() -> anyhow::Result<Vec<File>> {
    let infra = root().join("infra");
    let mut files: Vec<File> = Vec::new();
    let rendered = template::render(&operations::all())?;
    for (path, wanted) in &rendered {
        files.push(File::rendered(infra.join(path), wanted.clone()));
    }
    let stacks = infra.join("stacks").read_dir().into_iter().flatten();
    for path in stacks.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()? {
        if files.iter().all(|file| file.path != path) {
            let found = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            files.push(File { path, found, wanted: String::new() });
        }
    }
    Ok(files)
}

/// The manifest of each area, which lists its binaries.
pub fn area_files() -> anyhow::Result<Vec<File>> {
    let mut areas = Vec::new();
    for entry in root().join("functions").read_dir()? {
        areas.push(entry?.path());
    }
    areas.sort_unstable();
    let file = |area: PathBuf| {
        let path = area.join("Cargo.toml");
        let found = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let wanted = binaries::render(&found, &binaries::names(&area)?);
        Ok(File { path, found, wanted })
    };
    areas.into_iter().map(file).collect()
}

/// All rendered files that are checked in.
pub fn files() -> anyhow::Result<Vec<File>> {
    let mut files = template_files()?;
    for (path, _) in DOCUMENTS {
        files.push(document(path)?);
    }
    files.extend(area_files()?);
    Ok(files)
}

pub fn document(path: &str) -> anyhow::Result<File> {
    let (path, render) = DOCUMENTS.into_iter().find(|(of, _)| *of == path).with_context(|| format!("{path} is not rendered"))?;
    Ok(File::rendered(root().join(path), render()?))
}
