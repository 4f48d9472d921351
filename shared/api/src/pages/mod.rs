//! Pages for people: documents and forms instead of JSON.

pub mod layer;

pub use crate::pages::layer::{FormFields, layer};
