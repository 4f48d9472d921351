//! What an email is made of.

pub(crate) mod content;
pub(crate) mod request;
