//! Links this crate's function (`infra/link`).

#[path = "../../infra/link/functions.rs"]
mod functions;

fn main() {
    functions::link();
}
