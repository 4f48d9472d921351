//! Types for texts with rules of their own, how texts are stored, and the schemas of responses in
//! two forms.

pub mod bytes;
pub mod either;
pub mod json;
pub mod line;
pub mod packed;
