//! Changes to a level, as operations request them.

use serde_json::{Map, Value};

/// The values of a level, whose keys may be dotted paths.
pub type Values = Map<String, Value>;

/// A change to one level.
pub enum LevelChange {
    /// Sets values. Each replaces the value of its key and everything below it.
    Merge(Values),
    /// Replaces all values of the level.
    Replace(Values),
    /// Removes keys and everything below them.
    Reset(Vec<String>),
}
