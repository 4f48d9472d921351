//! Metadata: JSON objects that an app keeps with a user, at most 32 KiB each.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Largest metadata object, in bytes of JSON.
pub const MAX_BYTES: usize = 32 * 1024;

/// A JSON object of at most 32 KiB.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = Object)]
pub struct Metadata(Map<String, Value>);

#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("must be a JSON object of at most {MAX_BYTES} bytes")]
pub struct InvalidMetadata;

impl Metadata {
    pub fn parse(value: Value) -> Result<Self, InvalidMetadata> {
        let Value::Object(map) = value else { return Err(InvalidMetadata) };
        let length = serde_json::to_string(&map).map_or(usize::MAX, |text| text.len());
        if length <= MAX_BYTES { Ok(Self(map)) } else { Err(InvalidMetadata) }
    }
}

impl<E: deserr::DeserializeError> deserr::Deserr<E> for Metadata {
    fn deserialize_from_value<V: deserr::IntoValue>(value: deserr::Value<V>, location: deserr::ValuePointerRef<'_>) -> Result<Self, E> {
        let value = Value::deserialize_from_value(value, location)?;
        Self::parse(value).map_err(|error| wire::problem::rejected(&error, location))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// An object of this many bytes of JSON.
    fn object(bytes: usize) -> Value {
        json!({ "k": "x".repeat(bytes - r#"{"k":""}"#.len()) })
    }

    #[test]
    fn an_object_has_at_most_32_kib() {
        assert!(Metadata::parse(json!({})).is_ok());
        assert!(Metadata::parse(object(MAX_BYTES)).is_ok());
        assert!(Metadata::parse(object(MAX_BYTES + 1)).is_err());
        assert!(Metadata::parse(object(40 * 1024)).is_err());
    }

    #[test]
    fn bytes_are_counted_not_characters() {
        assert!(Metadata::parse(json!({ "k": "ä".repeat(MAX_BYTES / 2) })).is_err());
        assert!(Metadata::parse(json!({ "k": "ä".repeat(MAX_BYTES / 2 - 4) })).is_ok());
    }

    #[test]
    fn only_an_object_is_metadata() {
        for value in [json!(null), json!(true), json!(1), json!("text"), json!([]), json!([{}])] {
            assert!(Metadata::parse(value).is_err());
        }
    }
}
