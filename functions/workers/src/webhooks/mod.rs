//! Webhooks: records an event for each change that has one, and delivers the events.
//!
//! Events follow from the table's stream, so there is none without a change, and no change without
//! its event: a batch of the stream is only finished when its events are recorded. Reading a batch
//! again records the same deliveries, which are there already. Deliveries are then made endpoint by
//! endpoint, each by one worker at a time.

mod courier;
mod lane;
mod messages;
mod notice;
mod record;
mod wake;

pub use courier::Courier;
pub use record::record;
pub use wake::Wake;
