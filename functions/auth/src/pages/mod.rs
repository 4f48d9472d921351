//! The pages behind links in emails.

pub(crate) mod not_me;
