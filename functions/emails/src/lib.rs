//! Sending mail and the outbox.
