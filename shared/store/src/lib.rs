//! The table: one DynamoDB table for all data, read by key and written conditionally.
//!
//! An item has its key (`pk`, `sk`), the entity as a map (`d`), and the attributes that conditions,
//! indexes and the TTL use. The folder or file of an entity defines its keys and access patterns.
//! [`client`] has the reads, and the writes that succeed or fail as a whole; [`error`] classifies
//! failures. Reads by key are strongly consistent, so a new user is visible to the next request.
//!
//! Comments give costs in DynamoDB's read and write units; `infra/COSTS.md` explains them. Unless
//! they say otherwise, the costs of writes leave out the indexes, and the trail entry, with which
//! the first change of a request becomes a transaction ([`record`]).

#![warn(missing_docs)]

mod batch;
pub mod bot_challenge;
pub mod cli_sign_in;
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
pub mod metrics;
pub mod outbox;
pub mod owned_key;
pub mod passkey;
pub mod profile_image;
pub mod project;
pub mod provider;
pub mod record;
pub mod reseal;
pub mod retry;
pub mod row;
pub mod session;
pub mod sharded;
pub mod table;
pub mod team;
pub mod told;
pub mod trail;
pub mod transfer;
pub mod user;
pub mod volume;
pub mod webhook;
pub mod write;

pub use crate::client::{MAX_WRITES, Store};
pub use crate::error::Error;
pub use crate::item::{Item, Key};
pub use crate::row::Items;
pub use crate::write::Write;
pub use contention::Contention;
pub use label::{Conflict, Label};
