//! Records the events of changes for webhooks, and delivers the events.
//!
//! All events are derived from the table's stream, except for tests of an endpoint. Every event
//! except a test therefore belongs to a change, and every change to an item that can be parsed has
//! its events. A batch of the stream is done only when its events have been recorded. Reading a
//! batch again adds nothing, because its deliveries get the same ids. Many endpoints are served in
//! parallel, but only one worker at a time serves each endpoint. If an endpoint gets so many
//! deliveries that the table refuses some of them, the refused deliveries are set aside
//! ([`store::webhook::late`]), so that other endpoints do not have to wait.

mod courier;
mod lane;
mod messages;
mod notice;
mod record;

pub use courier::Courier;
pub use record::record;
