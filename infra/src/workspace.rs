//! Paths in the workspace.

use std::path::{Path, PathBuf};

/// The root of the workspace to which this binary belongs.
pub fn root() -> PathBuf {
    let infra = Path::new(env!("CARGO_MANIFEST_DIR"));
    infra.parent().unwrap_or(infra).to_owned()
}
