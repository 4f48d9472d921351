//! Mails: the sources of the built-in ones, which the outbox shows; with the feature `mail`, which only the workers and the gateway
//! have, their rendering and sending.

pub mod builtin;
pub mod code;
pub mod invitation;
#[cfg(feature = "mail")]
pub mod mime;
pub mod notice;
#[cfg(feature = "mail")]
pub mod render;
#[cfg(feature = "mail")]
pub mod sandbox;
pub mod sealed;
#[cfg(feature = "mail")]
pub mod send;
#[cfg(feature = "mail")]
pub mod ses;
#[cfg(feature = "mail")]
pub mod ses_api;
#[cfg(feature = "mail")]
pub mod smtp;
#[cfg(feature = "mail")]
mod smtp_wire;
#[cfg(feature = "mail")]
mod undefined;
