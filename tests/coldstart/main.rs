//! How a function starts: plays the Runtime API of Lambda to a binary, with the table of an embedded engine behind it, and measures.
//!
//! ```sh
//! cargo lambda build --release
//! cargo run -p tests --bin coldstart -- content-get-app users-me-read
//! ```
//!
//! Each run is a new process in a new world: *init* is the time from spawning it to its first request for an event, *first* that of its
//! first answer, *warm* the median of its later ones. Times of answers have the table's in them, which is said beside; CPU time is the
//! function's alone.
#![expect(clippy::unwrap_used, reason = "a measurement ends where something is missing")]

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
use function::{Measured, measure};
use jiff::SignedDuration;
use model::limit::Limits;
use report::Row;
use table::{Endpoint, Transport};
use wire::clock::Clock;

/// Starts functions as Lambda does, and measures
#[derive(Parser)]
struct Cli {
    /// Where `cargo lambda build` has put the functions
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/lambda"))]
    functions: PathBuf,
    /// How often each function starts; what is shown are medians
    #[arg(long, default_value_t = 9)]
    runs: usize,
    /// How many events follow the first one in each run
    #[arg(long, default_value_t = 20)]
    warm: usize,
    /// How the table is reached, by default both ways
    #[arg(long)]
    transport: Option<Transport>,
    /// The functions; by default all that there are
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
                Ok(runs) => rows.push(Row::of(name, &binary(&cli.functions, name), *transport, &runs)),
                Err(answer) => refused.push(format!("{name} does not do what its event asks for: {answer}")),
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

/// Every operation that is built and has an event.
fn all(folder: &std::path::Path) -> Vec<String> {
    let names = events::events().into_iter().map(|(name, _)| name);
    names.filter(|name| binary(folder, name).is_file()).collect()
}

/// All starts of a function, up to the first that is refused.
async fn all_runs(cli: &Cli, name: &str, transport: Transport) -> Result<Vec<Measured>, String> {
    let mut runs = Vec::with_capacity(cli.runs);
    for _ in 0..cli.runs {
        runs.push(run(cli, name, transport).await?);
    }
    Ok(runs)
}

/// One start of a function, in a world where its event succeeds.
async fn run(cli: &Cli, name: &str, transport: Transport) -> Result<Measured, String> {
    let now = Clock::system().now();
    let start: jiff::Timestamp = support::START.parse().unwrap();
    let world = World::at(Limits::off(), SignedDuration::from_millis(now.as_millisecond() - start.as_millisecond())).await;
    let endpoint = Endpoint::start(world.app.database(), transport).await;
    let (_, event) = events::events().into_iter().find(|(operation, _)| operation == name).unwrap_or_else(|| panic!("{name} has no event"));
    measure(&binary(&cli.functions, name), &endpoint, &world.app, vec![world.event(&event); cli.warm + 1]).await
}
