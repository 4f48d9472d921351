//! Links this crate's functions (`infra/link`).

include!("../../infra/link/functions.rs");
