//! Rules for names; storage of bytes, JSON and long texts; comparison of texts in searches; and the
//! schemas of responses with two forms.

pub mod bytes;
pub mod either;
pub mod folded;
pub mod json;
pub mod line;
pub mod packed;
