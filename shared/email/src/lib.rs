//! Mails: the sources of the built-in ones, which the outbox shows; with the feature `mail`, which only the workers and the gateway
//! have, their rendering and sending.

pub mod mime;
pub mod render;
pub mod sandbox;
pub mod send;
pub mod ses;
pub mod ses_api;
pub mod smtp;
pub mod smtp_wire;
pub mod undefined;
