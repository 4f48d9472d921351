//! One DynamoDB table for all data, read by key and written conditionally.
//!
//! An item contains its key (`pk`, `sk`), the entity as a map (`d`), and the attributes used by
//! conditions, indexes and the TTL. Each entity has a folder or file with its keys and access
//! patterns. [`table`](mod@table) contains the shared code: reads, and writes that succeed or fail
//! as a whole.
//!
//! Comments give costs in DynamoDB's read and write units; `infra/COSTS.md` explains them. Unless
//! stated otherwise, the costs of writes exclude the indexes and the trail entry, which makes the
//! first change of a request a transaction ([`record`]).

#![warn(missing_docs)]

pub mod bot_challenge;
pub mod cli_sign_in;
pub mod code;
pub mod content;
pub mod deletions;
pub mod document;
pub mod keys;
pub mod limit;
pub mod link;
pub mod metrics;
pub mod openid;
pub mod outbox;
pub mod owned_key;
pub mod passkey;
pub mod profile_image;
pub mod project;
pub mod provider;
pub mod reseal;
pub mod session;
pub mod table;
pub mod team;
pub mod trail;
pub mod user;
pub mod webhook;

pub use table::row::Items;
pub use table::sharded::Listing;
pub use table::{Conflict, Contention, Error, Item, Key, Label, MAX_WRITES, Store, Write};
pub use trail::record;
