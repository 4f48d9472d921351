//! The common vocabulary of the other crates: ids, changes to fields, invalid values, the
//! complexity of JSON, access levels, environment variables, markup, pasted codes, time and
//! randomness.

#![warn(missing_docs)]

pub mod change;
pub mod clock;
pub mod entropy;
pub mod environment;
pub mod id;
pub mod json;
pub mod level;
pub mod markup;
pub mod problem;
pub mod typed;

pub use wire_attributes::optional;
