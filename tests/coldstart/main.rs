//! Measures how functions start. The program takes the place of Lambda's Runtime API, and provides
//! a table on an embedded engine.
//!
//! ```sh
//! cargo lambda build --release
//! cargo run -p tests --bin coldstart -- content-get-app users-me-read
//! ```
//!
//! Each run starts a new process with a new table: *init* is the time from the start of the process
//! to its first request for an event, *first* is the time from that request to the first response,
//! and *warm* is the median of later responses. These times include the time of the table, which is
//! also shown separately; CPU time is only that of the function.
#![expect(clippy::unwrap_used, reason = "a measurement fails if something is missing")]

#[path = "../api/events/mod.rs"]
#[expect(dead_code, reason = "the tests of the API use the rest")]
mod events;
mod function;
mod report;
mod runtime_api;
mod table;
#[path = "../api/world_of_teams.rs"]
mod world_of_teams;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use events::World;
use function::{Measurement, measure};
use jiff::SignedDuration;
use model::limit::Limits;
use report::Row;
use table::{Endpoint, Transport};
use wire::clock::Clock;

/// Starts functions as Lambda does, and measures their times, sizes and memory
#[derive(Parser)]
struct Cli {
    /// Output folder of `cargo lambda build`
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/lambda"))]
    functions: PathBuf,
    /// Number of times that each function starts; the results are medians
    #[arg(long, default_value_t = 9)]
    runs: usize,
    /// Number of events after the first one in each run
    #[arg(long, default_value_t = 20)]
    warm: usize,
    /// How functions connect to the table; by default, in both ways
    #[arg(long)]
    transport: Option<Transport>,
    /// Names of functions; by default, all functions that are built and have an event
    names: Vec<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    let names = if cli.names.is_empty() { all(&cli.functions) } else { cli.names.clone() };
    let transports = cli.transport.map_or_else(|| vec![Transport::Http, Transport::Tls], |transport| vec![transport]);
    let (mut rows, mut refused) = (Vec::new(), Vec::new());
    for name in &names {
        for transport in &transports {
            match all_runs(&cli, name, *transport).await {
                Ok(runs) => rows.push(Row::new(name, &binary(&cli.functions, name), *transport, &runs)),
                Err(answer) => refused.push(format!("{name} rejects its event: {answer}")),
            }
        }
    }
    print!("{}", report::table(&rows));
    for refused in &refused {
        eprintln!("{refused}");
    }
    if refused.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn binary(folder: &std::path::Path, name: &str) -> PathBuf {
    folder.join(name).join("bootstrap")
}

/// The names of all functions that are built and have an event.
fn all(folder: &std::path::Path) -> Vec<String> {
    let names = events::events().into_iter().map(|(name, _)| name);
    names.filter(|name| binary(folder, name).is_file()).collect()
}

/// Measures all runs of a function. Fails if the first event of a run is rejected.
async fn all_runs(cli: &Cli, name: &str, transport: Transport) -> Result<Vec<Measurement>, String> {
    let mut runs = Vec::with_capacity(cli.runs);
    for _ in 0..cli.runs {
        runs.push(run(cli, name, transport).await?);
    }
    Ok(runs)
}

/// Measures a run of a function on a table where its event succeeds.
async fn run(cli: &Cli, name: &str, transport: Transport) -> Result<Measurement, String> {
    let now = Clock::system().now();
    let start: jiff::Timestamp = support::START.parse().unwrap();
    let world = World::at(Limits::off(), SignedDuration::from_millis(now.as_millisecond() - start.as_millisecond())).await;
    let endpoint = Endpoint::start(world.app.database(), transport).await;
    let (_, event) = events::events().into_iter().find(|(operation, _)| operation == name).unwrap_or_else(|| panic!("{name} has no event"));
    measure(&binary(&cli.functions, name), &endpoint, &world.app, vec![world.event(&event); cli.warm + 1]).await
}
