//! The positions of users in the lists of their project.

use jiff::Timestamp;
use model::email::Email;
use model::text::folded::folded;
use model::user::search::cut;
use wire::id::{ProjectId, UserId};

use crate::keys::user_key;
use crate::metrics::{hour, hour_begins};
use crate::table::sharded::shard_of;
use crate::table::{Write, integer, sortable, string};

/// The number of partitions of a list of a project's users.
pub const USER_SHARDS: u8 = 4;

/// The part of an update expression that sets the place of a user in the list by activity;
/// [`placed`] adds the values.
pub(super) const PLACE: &str = "gsi2pk = :active, gsi2sk = :hour";

pub(super) fn shard(id: UserId) -> u8 {
    shard_of(id.uuid(), USER_SHARDS)
}

/// The position of a user in a list by time.
pub(super) fn position(at: Timestamp, id: UserId) -> String {
    format!("{}#{id}", sortable(at))
}

pub(super) fn active_partition(project: &ProjectId, shard: u8) -> String {
    format!("P#{project}#ACTIVE#{shard}")
}

/// The partition and position in the list by activity for a user active at this time.
pub(super) fn by_activity(project: &ProjectId, id: UserId, at: Timestamp) -> (String, String) {
    (active_partition(project, shard(id)), position(hour_begins(hour(at)), id))
}

/// The values of [`PLACE`] for a user active at this time.
pub(super) fn placed(write: Write, project: &ProjectId, id: UserId, at: Timestamp) -> Write {
    let (pk, sk) = by_activity(project, id, at);
    write.value(":active", string(pk)).value(":hour", string(sk))
}

/// Sets the time of a user's last activity, and the place that corresponds to this time.
pub(super) fn active(project: &ProjectId, id: UserId, at: Timestamp) -> Write {
    let update = Write::update(user_key(project, id), format!("SET last_active_at = :at, {PLACE}"));
    placed(update.value(":at", integer(at.as_millisecond())), project, id, at)
}

/// The position of a user in a list by word.
pub(super) fn word_position(word: &str, id: UserId) -> String {
    format!("{word}#{id}")
}

/// The partition that contains the claimed addresses of a shard's users.
pub(super) fn addresses(project: &ProjectId, shard: u8) -> String {
    format!("P#{project}#ADDRESSES#{shard}")
}

/// The partition and position of a claimed address among the project's addresses.
pub(super) fn by_address(project: &ProjectId, id: UserId, email: &Email) -> (String, String) {
    (addresses(project, shard(id)), word_position(cut(&folded(email.as_str())), id))
}

/// Sets the place of an address's claim among the project's addresses.
pub(super) fn at_address(claim: Write, project: &ProjectId, id: UserId, email: &Email) -> Write {
    let (pk, sk) = by_address(project, id, email);
    claim.attribute("gsi2pk", string(pk)).attribute("gsi2sk", string(sk))
}
