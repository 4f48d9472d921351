//! The bodies of requests to send emails, and the content of the emails.

pub(crate) mod content;
pub(crate) mod request;
