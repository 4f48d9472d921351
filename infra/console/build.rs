//! Lists the files of `web/` to embed, so that a new module needs no line of Rust.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    let (manifest, out) = (folder("CARGO_MANIFEST_DIR")?, folder("OUT_DIR")?);
    let web = manifest.join("web");
    println!("cargo::rerun-if-changed={}", web.display());
    let mut files = Vec::new();
    collect(&web, &mut files)?;
    files.sort();
    let mut source = "static FILES: &[(&str, &str)] = &[\n".to_owned();
    for file in &files {
        let name = file.strip_prefix(&web).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let _ = writeln!(source, "    ({name:?}, include_str!({:?})),", file.to_string_lossy());
    }
    source.push_str("];\n");
    std::fs::write(out.join("files.rs"), source)
}

fn folder(variable: &str) -> std::io::Result<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).ok_or_else(|| std::io::Error::other(format!("{variable} is not set")))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { collect(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
