//! Webhooks: records an event for each change that has one, and delivers the events.
//!
//! Events, except for tests of an endpoint, are derived from the table's stream. So every such
//! event belongs to a change, and every change to a parsable item has its event: a batch of the
//! stream is done only when its events are recorded. Reading a batch a second time adds nothing,
//! because its deliveries have the same ids. Many endpoints are served side by side, each by one
//! worker at a time. If an endpoint gets so many deliveries that the table refuses some, these are
//! set aside ([`store::webhook::late`]), so that other endpoints do not have to wait.

mod courier;
mod lane;
mod messages;
mod notice;
mod record;

pub use courier::Courier;
pub use record::record;
