//! Types for texts with rules of their own, and how texts are stored.

pub mod bytes;
pub mod either;
pub mod json;
pub mod line;
pub mod packed;
