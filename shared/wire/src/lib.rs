//! The smallest words of all: ids, changes of fields, problems of values, access types, time and randomness.

pub mod change;
pub mod clock;
pub mod entropy;
pub mod environment;
pub mod id;
pub mod level;
pub mod problem;
