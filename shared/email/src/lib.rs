//! Emails: rendering, and sending through SES or SMTP.

#![warn(missing_docs)]

pub mod mime;
mod placeholder;
mod plain_text;
mod prolog;
pub mod render;
mod roots;
pub mod sandbox;
pub mod send;
pub mod ses;
pub mod ses_api;
pub mod smtp;
mod turns;
pub mod undefined;
