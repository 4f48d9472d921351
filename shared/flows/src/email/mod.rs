//! Emails that flows put into the outbox.

pub mod code;
pub mod invitation;
pub mod notice;
pub mod sealed;
