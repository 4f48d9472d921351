//! Links this crate's function (`infra/link`).

include!("../../infra/link/functions.rs");
