//! Code shared by the operations of the content API, whose responses are public and cacheable.
//!
//! A handler returns `Result<Json<Data<T>>, Problem>`, or `Result<ServedDocument, Problem>` if it
//! serves a document. A response with links is wrapped in [`LinkedResponse`]. The [`layer()`]
//! around the handler adds error bodies, validators, cache rules and CORS headers.

pub mod error;
pub mod headed;
pub mod layer;
pub mod named;
pub mod served;

use serde::Serialize;
use utoipa::ToSchema;

pub use crate::content::error::Problem;
pub use crate::content::headed::LinkedResponse;
pub use crate::content::layer::{layer, panicked};
pub use crate::content::named::{ContentNumber, ContentPath, NamedResource, NumberParameter};
pub use crate::content::served::ServedDocument;

/// The body of a successful response: its only field contains the result of the operation.
#[derive(Debug, Serialize, ToSchema)]
pub struct Data<T> {
    // Inlined, because a schema reference by name would point to `Vec` if `T` is a list.
    #[schema(inline)]
    #[expect(missing_docs, reason = "a description would wrap the inlined schema")]
    pub data: T,
}
