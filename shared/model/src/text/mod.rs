//! Rules for names, how bytes, JSON and long texts are stored, how searches compare texts, and the
//! schemas of responses in two forms.

pub mod bytes;
pub mod either;
pub mod folded;
pub mod json;
pub mod line;
pub mod packed;
