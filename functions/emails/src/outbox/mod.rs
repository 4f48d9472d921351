//! Entries of the outbox.

pub(crate) mod entry;
