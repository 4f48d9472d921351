//! The table: one DynamoDB table for everything, read by key and written by condition.
//!
//! An item has its key (`pk`, `sk`), the entity as a map (`d`), and beside it what conditions, indexes and the TTL need. One file per
//! entity knows its keys and its access patterns; this one knows how to read, to write all or nothing, and what failures mean.
//! Reads are strongly consistent: whoever signed up is known to the next request.

pub mod accounts;
pub mod authorizations;
pub mod boosts;
pub mod bot_challenges;
pub mod broadcasts;
pub mod client;
pub mod codes;
pub mod connect;
pub mod content;
pub mod deliveries;
pub mod endings;
pub mod error;
pub mod images;
pub mod invitations;
pub mod item;
pub mod key_sets;
pub mod keys;
pub mod limits;
pub mod links;
pub mod mail_documents;
pub mod mail_quota;
pub mod memberships;
pub mod outbox;
pub mod outbox_list;
pub mod outbox_moves;
pub mod outbox_transition;
pub mod outbox_work;
pub mod permissions;
pub mod project_deletion;
pub mod projects;
pub mod provider_accounts;
pub mod record;
pub mod reseal;
pub mod retry;
pub mod sessions;
pub mod sharded;
pub mod table;
pub mod team_deletion;
pub mod teams;
pub mod told;
pub mod trail;
pub mod trail_chain;
pub mod trail_check;
pub mod trail_failures;
pub mod trail_list;
pub mod transfer;
pub mod user_list;
pub mod users;
pub mod write;

pub use client::{MAX_WRITES, Store};
pub use error::Error;
pub use item::{Item, Items, Key};
pub use write::Write;
