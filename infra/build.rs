//! Lists the files to embed: the documents of `docs/` with their pictures, and the events of
//! `events/`, which the API reference uses as examples. A macro that embeds a whole folder is not
//! enough, because Cargo would not rerun it when a file is added.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    let (manifest, out) = (folder("CARGO_MANIFEST_DIR")?, folder("OUT_DIR")?);
    let root = manifest.parent().unwrap_or(&manifest);
    let documents = listed("DOCUMENTS", &root.join("docs"), "md", "/")?;
    let pictures = listed("PICTURES", &root.join("docs/pictures"), "svg", "/")?;
    let events = listed("EVENTS", &root.join("events"), "json", "-")?;
    std::fs::write(out.join("embedded.rs"), documents + &pictures + &events)
}

fn folder(variable: &str) -> std::io::Result<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).ok_or_else(|| std::io::Error::other(format!("{variable} is not set")))
}

/// Returns the source code of a table of the files in a folder. Each row contains the text of a
/// file and its path without the extension, with `separator` between the parts of the path.
fn listed(table: &str, folder: &Path, extension: &str, separator: &str) -> std::io::Result<String> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    let mut source = format!("pub(crate) static {table}: &[(&str, &str)] = &[\n");
    for file in files.iter().filter(|file| file.extension().is_some_and(|found| found == extension)) {
        let name = file.strip_prefix(folder).unwrap_or(file).with_extension("");
        let name: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
        let _ = writeln!(source, "    ({:?}, include_str!({:?})),", name.join(separator), file.to_string_lossy());
    }
    source.push_str("];\n");
    Ok(source)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { collect(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
