//! Reads CBOR items (RFC 8949) from the start of a slice.

use ciborium::Value;

/// The longest item to read, in bytes: enough for an attestation object with several certificates.
const MAX_LENGTH: usize = 16 * 1024;

/// The item at the start of `bytes`, and the bytes after the item; `None` if the item is malformed
/// or too long.
pub(super) fn first(bytes: &[u8]) -> Option<(Value, &[u8])> {
    let mut rest = &bytes[..bytes.len().min(MAX_LENGTH)];
    let value: Value = ciborium::de::from_reader(&mut rest).ok()?;
    let length = bytes.len().min(MAX_LENGTH) - rest.len();
    Some((value, &bytes[length..]))
}

/// The only item in `bytes`; `None` if the item is malformed, too long or followed by other bytes.
pub(super) fn only(bytes: &[u8]) -> Option<Value> {
    first(bytes).filter(|(_, rest)| rest.is_empty()).map(|(value, _)| value)
}

/// The value of a map's entry; `None` if the key is missing or occurs twice.
pub(super) fn entry<'a>(map: &'a [(Value, Value)], key: &Value) -> Option<&'a Value> {
    let mut found = map.iter().filter(|(own, _)| own == key).map(|(_, value)| value);
    found.next().filter(|_| found.next().is_none())
}
