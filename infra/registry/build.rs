//! Links the function of this crate (`infra/link`).

include!("../../infra/link/functions.rs");
