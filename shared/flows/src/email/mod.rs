//! Emails that several operations add to the outbox.

pub mod code;
pub mod gate;
pub mod invitation;
pub mod members;
pub mod notice;
pub mod sealed;
