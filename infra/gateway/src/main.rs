//! The program `gateway`, which `cargo run` starts by default: the whole service in one process,
//! and its command line.

use clap::Parser as _;
use gateway::cli::Cli;

fn main() -> std::process::ExitCode {
    email::sandbox::install();
    run()
}

#[tokio::main]
async fn run() -> std::process::ExitCode {
    match Cli::parse().run().await {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            std::process::ExitCode::FAILURE
        }
    }
}
