//! Requests to send emails, and the content of these emails.

pub(crate) mod content;
pub(crate) mod request;
