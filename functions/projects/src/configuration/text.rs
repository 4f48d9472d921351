//! The answer with a configuration.

use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub struct ConfigString {
    /// The JSON text of an object.
    #[schema(example = r#"{"auth":{"allowSignUp":true}}"#)]
    pub(crate) config_string: String,
}
