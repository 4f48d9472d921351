//! `cargo run -p infra -- render`: writes the rendered files that are checked in, most of which are
//! derived from the operations. `new` creates an operation. Other commands print documents or write
//! generated data.

use std::path::PathBuf;
use std::process;

use anyhow::{Context as _, bail, ensure};
use clap::{Parser, Subcommand};
use infra::checked_in::{self, File};
use infra::new::{NewOperation, OperationRequest};
use infra::{openapi, operations};
use model::password::common;

/// Renders the files that are checked in, most of which are derived from the operations, and
/// creates operations.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Writes all rendered files that are checked in: the template, the routes of `cargo lambda
    /// watch`, the OpenAPI document, the lists of binaries, operations, error codes and quotas,
    /// the security scorecard, and the console's page.
    Render {
        /// Writes nothing, and fails if a file is out of date.
        #[arg(long)]
        check: bool,
    },
    /// Creates an operation with all its files, and renders the derived ones.
    New(OperationRequest),
    /// Writes only the routes of `cargo lambda watch`.
    WatchRoutes {
        /// Writes nothing, and fails if a file is out of date.
        #[arg(long)]
        check: bool,
    },
    /// Writes the table of common, rejected passwords.
    CommonPasswords {
        /// Lists of passwords, as JSON arrays or with one password per line.
        #[arg(required = true)]
        lists: Vec<PathBuf>,
    },
    /// Prints the OpenAPI document.
    Openapi {
        /// Base URL of the service in the document.
        #[arg(long, default_value = "http://localhost:8787")]
        api_url: String,
        /// Base URL of the public content, if it is different.
        #[arg(long)]
        site_url: Option<String>,
    },
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Command::Render { check } => settle(&checked_in::files()?, check),
        Command::New(asked) => new(asked),
        Command::WatchRoutes { check } => settle(&[checked_in::document(checked_in::WATCH)?], check),
        Command::CommonPasswords { lists } => common_passwords(&lists),
        Command::Openapi { api_url, site_url } => {
            let document = openapi::json(&api_url, site_url.as_deref().unwrap_or(&api_url))?;
            println!("{}", serde_json::to_string_pretty(&document)?);
            Ok(())
        }
    }
}

fn new(asked: OperationRequest) -> anyhow::Result<()> {
    let root = checked_in::root();
    let files = NewOperation::validate(asked, &root, &operations::all())?.files(&root)?;
    for file in &files {
        file.write()?;
        println!("wrote {}", file.path.display());
    }
    let is_added = |file: &&File| file.found.is_empty() && file.path.extension().is_some_and(|extension| extension == "rs");
    let formatted = process::Command::new("rustfmt").args(files.iter().filter(is_added).map(|file| &file.path)).status();
    if !formatted.is_ok_and(|status| status.success()) {
        eprintln!("rustfmt failed: format the new files with `cargo fmt --all`");
    }
    // Another process renders, because this process was built without the new operation.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let rendered = process::Command::new(cargo).args(["run", "--quiet", "-p", "infra", "--", "render"]).current_dir(root).status();
    ensure!(rendered.context("cannot run cargo")?.success(), "the operation was created, but `cargo run -p infra -- render` failed");
    Ok(())
}

fn common_passwords(lists: &[PathBuf]) -> anyhow::Result<()> {
    let mut passwords = Vec::new();
    for list in lists {
        let text = std::fs::read_to_string(list).with_context(|| format!("cannot read {}", list.display()))?;
        let is_json = list.extension().is_some_and(|extension| extension == "json");
        let parsed = if is_json { serde_json::from_str(&text) } else { Ok(text.lines().map(str::to_owned).collect::<Vec<_>>()) };
        passwords.extend(parsed.with_context(|| format!("{} is not a JSON array of passwords", list.display()))?);
    }
    let file = checked_in::root().join("shared/model/src/password/common.bin");
    std::fs::write(&file, common::table(passwords)).with_context(|| format!("cannot write {}", file.display()))
}

fn settle(files: &[File], check: bool) -> anyhow::Result<()> {
    for file in files.iter().filter(|file| !file.is_current()) {
        if check {
            bail!("{} is out of date: run `cargo run -p infra -- render`", file.path.display());
        }
        file.write()?;
        println!("wrote {}", file.path.display());
    }
    Ok(())
}
