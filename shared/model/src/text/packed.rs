//! Compresses texts of at least 1 KiB (`#[serde(with)]`). Bodies make up most of an outbox entry,
//! compression reduces markup to a quarter, and DynamoDB charges for writes by size.

use std::fmt;

use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;

/// The minimum size for compression, in bytes.
const FROM: usize = 1024;
/// The maximum size of a decompressed text, in bytes, so that an invalid size cannot exhaust
/// memory.
const MAX: usize = 4 << 20;

#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
pub(crate) fn serialize<S: Serializer>(text: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    match text {
        Some(text) if text.len() >= FROM => serializer.serialize_bytes(&lz4_flex::compress_prepend_size(text.as_bytes())),
        Some(text) => serializer.serialize_str(text),
        None => serializer.serialize_none(),
    }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    deserializer.deserialize_any(Text)
}

struct Text;

impl<'de> Visitor<'de> for Text {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, or compressed bytes")
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Self::Value, E> {
        Ok(Some(text))
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        let size = bytes.first_chunk().map_or(usize::MAX, |size| u32::from_le_bytes(*size) as usize);
        if size > MAX {
            return Err(E::custom("the size of a compressed text is missing or too large"));
        }
        let text = lz4_flex::decompress_size_prepended(bytes).map_err(E::custom)?;
        String::from_utf8(text).map(Some).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::AttributeValue;
    use serde::{Deserialize, Serialize};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Mail {
        #[serde(default, with = "super")]
        html: Option<String>,
    }

    fn kept(html: Option<String>) -> AttributeValue {
        let mail: AttributeValue = serde_dynamo::to_attribute_value(&Mail { html }).unwrap();
        mail.as_m().unwrap()["html"].clone()
    }

    #[test]
    fn texts_survive_storage_and_long_ones_are_compressed() {
        for html in [None, Some(String::new()), Some("<p>ä</p>".to_owned()), Some("<p>ä</p>\n".repeat(5_000))] {
            let kept = kept(html.clone());
            assert_eq!(kept.is_b(), html.as_ref().is_some_and(|html| html.len() > 1024));
            assert!(kept.as_b().is_ok_and(|bytes| bytes.as_ref().len() < 1000) || !kept.is_b());
            let mail = AttributeValue::M([("html".to_owned(), kept)].into());
            assert_eq!(serde_dynamo::from_attribute_value::<_, Mail>(mail).unwrap(), Mail { html });
        }
    }

    #[test]
    fn invalid_compressed_text_is_an_error() {
        for bytes in [&b""[..], b"abc", b"\xff\xff\xff\xff", b"\x05\0\0\0", b"\x01\0\0\0\x10\xff"] {
            let mail = AttributeValue::M([("html".to_owned(), AttributeValue::B(bytes.into()))].into());
            assert!(serde_dynamo::from_attribute_value::<_, Mail>(mail).is_err(), "{bytes:?}");
        }
    }
}
