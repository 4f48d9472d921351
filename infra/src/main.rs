//! `cargo run -p infra -- render`: writes what is derived from the operations and checked in.

use anyhow::bail;
use clap::{Parser, Subcommand};
use infra::checked_in::{self, File};
use infra::openapi;

/// Renders what is derived from the operations.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Writes the template, the routes of `cargo lambda watch` and the README's table of operations.
    Render {
        /// Writes nothing, and fails when something would change.
        #[arg(long)]
        check: bool,
    },
    /// Writes the routes of `cargo lambda watch` alone.
    WatchRoutes {
        /// Writes nothing, and fails when something would change.
        #[arg(long)]
        check: bool,
    },
    /// Prints the OpenAPI document.
    Openapi {
        /// Base URL of the service in the document.
        #[arg(long, default_value = "http://localhost:8787")]
        api_url: String,
        /// Base URL of the public content, when it is another one.
        #[arg(long)]
        site_url: Option<String>,
    },
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Command::Render { check } => settle(&checked_in::files()?, check),
        Command::WatchRoutes { check } => settle(&[checked_in::watch_file()?], check),
        Command::Openapi { api_url, site_url } => {
            let document = openapi::json(&api_url, site_url.as_deref().unwrap_or(&api_url))?;
            println!("{}", serde_json::to_string_pretty(&document)?);
            Ok(())
        }
    }
}

fn settle(files: &[File], check: bool) -> anyhow::Result<()> {
    for file in files.iter().filter(|file| !file.is_current()) {
        if check {
            bail!("{} is not what the code renders; run `cargo run -p infra -- render`", file.path.display());
        }
        file.write()?;
        println!("wrote {}", file.path.display());
    }
    Ok(())
}
