//! Rules for names; storing bytes, JSON and long texts; comparing texts in searches; the schemas of
//! responses that have two forms.

pub mod bytes;
pub mod either;
pub mod folded;
pub mod json;
pub mod line;
pub mod packed;
