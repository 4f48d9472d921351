//! Rules for names, the storage of bytes, JSON and long texts, the comparison of texts in searches,
//! and the schemas of responses in two forms.

pub mod bytes;
pub mod either;
pub mod folded;
pub mod json;
pub mod line;
pub mod packed;
