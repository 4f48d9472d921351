//! How this crate's functions are linked.

#[path = "../../infra/link/functions.rs"]
mod functions;

fn main() {
    functions::link();
}
