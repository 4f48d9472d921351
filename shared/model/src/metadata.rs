//! Metadata: JSON values of at most 32 KiB each, which an app stores with a user or a team.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The largest metadata, in bytes of JSON.
pub const MAX_BYTES: usize = 32 * 1024;

/// A JSON value of at most 32 KiB, usually an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = Value)]
pub struct Metadata(Value);

/// The value is too large.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("must be a JSON value of at most {MAX_BYTES} bytes")]
pub struct MetadataRefusal;

impl Metadata {
    /// Checks that the value is at most [`MAX_BYTES`] long.
    pub fn parse(value: Value) -> Result<Self, MetadataRefusal> {
        let length = serde_json::to_string(&value).map_or(usize::MAX, |text| text.len());
        if length <= MAX_BYTES { Ok(Self(value)) } else { Err(MetadataRefusal) }
    }
}

wire::deserr_from!(Metadata, Value, Self::parse);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A JSON object with a length of this many bytes.
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
    fn any_json_value_is_metadata() {
        for value in [json!(true), json!(1), json!("text"), json!([]), json!([{}])] {
            assert_eq!(serde_json::to_value(Metadata::parse(value.clone()).expect("metadata")).expect("JSON"), value);
        }
    }
}
