//! Code shared by all entities: the client, conditional writes, pages, batches, labels and retries.
//!
//! The code in this module does not depend on entities, their keys, or the trail. Reads by key are
//! strongly consistent, so a new user is visible to the next request.

mod batch;
mod client;
mod connect;
pub mod contention;
mod definition;
mod error;
mod item;
mod label;
mod pages;
pub mod retry;
pub mod row;
pub mod sharded;
pub mod stream;
mod trail_facts;
pub mod transfer;
pub mod volume;
mod write;

pub(crate) use client::BATCH;
pub use client::{MAX_WRITES, Store};
pub use contention::{Contention, MAX_ATTEMPTS, back_off};
pub(crate) use definition::CARRIED;
pub use definition::{INDEXES, Index, TTL, create, definition};
pub use error::Error;
pub(crate) use error::{is_made, unless_conflict};
pub(crate) use item::{DIGEST, entity, integer, is_of_digest, number, sortable, string};
pub use item::{Item, Key};
pub use label::{Conflict, Label};
pub(crate) use pages::Pages;
pub use write::Write;
