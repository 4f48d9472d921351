//! Texts.

pub mod either;
pub mod json;
pub mod line;
pub mod packed;
