//! Interface A: what its operations share. Everything is public and cacheable.
//!
//! A handler answers `Result<Json<Data<T>>, Problem>`; the [`layer()`] around it writes errors, validators and cache rules.

pub mod error;
pub mod layer;

use serde::Serialize;
use utoipa::ToSchema;

pub use crate::content::error::Problem;
pub use crate::content::layer::{layer, panicked};

/// The envelope of every success: exactly one field.
#[derive(Debug, Serialize, ToSchema)]
pub struct Data<T> {
    // In place: by name, a generic field would refer to `Vec`.
    #[schema(inline)]
    pub data: T,
}
