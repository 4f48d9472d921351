//! The table: one DynamoDB table for everything, read by key and written by condition.
//!
//! An item has its key (`pk`, `sk`), the entity as a map (`d`), and beside it what conditions, indexes and the TTL need. The folder or
//! file of an entity knows its keys and access patterns; [`client`] reads, and writes all or nothing; [`error`] says what failures mean.
//! Reads are strongly consistent: whoever signed up is known to the next request.

pub mod bot_challenge;
pub mod client;
pub mod code;
pub mod connect;
pub mod content;
pub mod contention;
pub mod deletions;
pub mod document;
pub mod error;
pub mod item;
pub mod keys;
pub mod label;
pub mod limit;
pub mod link;
pub mod outbox;
pub mod profile_image;
pub mod project;
pub mod provider;
pub mod record;
pub mod reseal;
pub mod retry;
pub mod session;
pub mod sharded;
pub mod table;
pub mod team;
pub mod told;
pub mod trail;
pub mod transfer;
pub mod user;
pub mod write;

pub use crate::client::{MAX_WRITES, Store};
pub use crate::error::Error;
pub use crate::item::{Item, Items, Key};
pub use crate::write::Write;
pub use contention::Contention;
pub use label::{Conflict, Label};
