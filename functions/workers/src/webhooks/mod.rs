//! Webhooks: records an event for each change that has one, and delivers the events.
//!
//! Events, apart from those that test an endpoint, are derived from the table's stream. So every
//! such event belongs to a change, and no change whose item can be parsed lacks its event: a batch
//! of the stream is finished only when its events are recorded. Reading a batch again adds nothing,
//! because it yields deliveries with the same ids. Deliveries are then made to many endpoints side
//! by side, to each endpoint by one worker at a time. Deliveries that the table refuses, because an
//! endpoint gets too many, are set aside ([`store::webhook::late`]): no other endpoint waits.

mod courier;
mod lane;
mod messages;
mod notice;
mod record;

pub use courier::Courier;
pub use record::record;
