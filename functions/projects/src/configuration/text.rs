//! The response that contains a configuration.

use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub struct ConfigString {
    /// A JSON object as text.
    #[schema(example = r#"{"auth":{"allowSignUp":true}}"#)]
    pub(crate) config_string: String,
}
