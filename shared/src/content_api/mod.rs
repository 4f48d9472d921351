//! Interface A: what its operations share. Everything is public and cacheable.
//!
//! A handler answers `Result<Json<Data<T>>, Problem>`; the [`layer()`] around it writes errors, validators and cache rules.

pub mod error;
pub(crate) mod layer;

use serde::Serialize;
use utoipa::ToSchema;

pub use error::Problem;
pub use layer::{layer, panicked};

/// The envelope of every success: exactly one field.
#[derive(Debug, Serialize, ToSchema)]
pub struct Data<T> {
    // In place: by name, a generic field would refer to `Vec`.
    #[schema(inline)]
    pub data: T,
}
