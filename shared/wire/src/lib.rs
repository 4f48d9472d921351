//! The common vocabulary of the other crates: ids, changes to fields, invalid values, the
//! complexity of JSON, access levels, hosts, environment variables, markup, pasted codes, time and
//! randomness.

#![warn(missing_docs)]

pub mod change;
pub mod clock;
pub mod entropy;
pub mod environment;
pub mod host;
pub mod id;
pub mod json;
pub mod level;
pub mod markup;
pub mod problem;
pub mod typed;

pub use wire_attributes::{optional, sparse};

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    #[crate::sparse]
    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Item {
        name: Option<String>,
        at: Timestamp,
        ended_at: Option<Timestamp>,
        #[serde(rename = "own")]
        other: Option<u8>,
    }

    #[test]
    fn a_sparse_item_leaves_out_what_is_none_and_writes_times_in_milliseconds() {
        let at = Timestamp::from_millisecond(1_700_000_000_123).expect("is a time");
        let full = Item { name: Some("x".to_owned()), at, ended_at: Some(at), other: Some(1) };
        let empty = Item { at, ..Item::default() };
        for (item, expected) in [
            (full, json!({ "name": "x", "at": 1_700_000_000_123_i64, "ended_at": 1_700_000_000_123_i64, "own": 1 })),
            (empty, json!({ "at": 1_700_000_000_123_i64, "own": null })),
        ] {
            assert_eq!(serde_json::to_value(&item).expect("is JSON"), expected);
            assert_eq!(serde_json::from_value::<Item>(expected).expect("is an item"), item);
        }
    }
}
