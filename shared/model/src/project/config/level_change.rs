//! Changes to a level, as requested through operations.

use serde_json::{Map, Value};

/// The values of a level; the keys may be dotted paths.
pub type Values = Map<String, Value>;

/// A change to one level.
pub enum LevelChange {
    /// Sets values. Each value replaces the value of its key and all values below that key.
    Merge(Values),
    /// Replaces all values of the level.
    Replace(Values),
    /// Removes keys and all keys below them.
    Reset(Vec<String>),
}
