//! Links this crate's functions (`infra/link`).

#[path = "../../infra/link/functions.rs"]
mod functions;

fn main() {
    functions::link();
}
