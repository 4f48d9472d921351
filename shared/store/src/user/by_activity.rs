//! The list of a project's users by the hour of their last activity.
//!
//! | item | index |
//! |---|---|
//! | user | gsi2 `P#<P>#ACTIVE#<shard>` / hour, id |
//!
//! The write that records an activity also sets the position, without an additional call. The index
//! is written only when the hour changes (two units). The index contains only keys, so a page costs
//! one unit for each 4 KB of each user, in addition to the queries.
//!
//! Users from versions without this list do not have a position until they are active or
//! [`Store::list_older_users`] has run for their project. Before that, the list takes these older
//! users from `gsi1`, at their sign-up time.

use jiff::Timestamp;
use model::session::Session;
use model::user::User;
use wire::id::{ProjectId, UserId};

use crate::keys::user_key;
use crate::metrics::{hour, hour_begins};
use crate::table::sharded::{Listing, Partition};
use crate::table::{Error, Item, Store, Write, integer, is_made, string, unless_conflict};
use crate::user::list::UserPage;
use crate::user::place::{PLACE, USER_SHARDS, active, active_partition, placed};
use crate::user::{UserRow, list_partition};

/// Whether an item of `gsi1` belongs to a user with a place in `gsi2`.
pub(super) fn is_placed(item: &Item) -> bool {
    item.contains_key("gsi1pk") && item.contains_key("gsi2pk")
}

impl Store {
    /// Records that a user was active in a session, and returns the user. Returns `None` if the
    /// user no longer exists, or if the user's sessions were ended after this session began and
    /// this session was not kept. The caller must have checked that the session itself has not
    /// ended. Costs at most two units for each KB, and two more for the first activity of an hour.
    pub async fn touch_user(&self, project: &ProjectId, session: &Session, now: Timestamp) -> Result<Option<UserRow>, Error> {
        // Items from earlier versions do not contain an epoch and count as epoch 0.
        let first = if session.epoch == 0 { " OR attribute_not_exists(d.session_epoch)" } else { "" };
        let active = active(project, session.user_id, now)
            .on(format!("attribute_exists(pk) AND (d.session_epoch = :epoch OR d.kept_session = :session{first})"))
            .value(":epoch", integer(session.epoch))
            .value(":session", string(session.id.to_string()));
        unless_conflict(active.send_returning(&self.client, &self.table).await)?.map(UserRow::of).transpose()
    }

    /// The users that `keep` accepts, in the order of the hour of their last activity. At most
    /// `listing.read` users are examined.
    pub async fn users_by_activity(
        &self,
        project: &ProjectId,
        listing: Listing<'_>,
        keep: impl Fn(&User) -> bool,
    ) -> Result<UserPage, Error> {
        let mut partitions: Vec<Partition> = (0..USER_SHARDS).map(|shard| Partition::gsi2(active_partition(project, shard))).collect();
        if !self.totals(project).await?.lists_activity {
            partitions.extend((0..USER_SHARDS).map(|shard| Partition::gsi1(list_partition(project, shard))));
        }
        self.users_at(project, partitions, listing, is_placed, |_, user| keep(user)).await
    }

    /// Records that a user was active at `at`, unless activity in that hour or later has already
    /// been recorded. Does nothing for deleted users. Costs as much as [`Self::touch_user`].
    pub async fn note_activity(&self, project: &ProjectId, id: UserId, at: Timestamp) -> Result<(), Error> {
        let update = active(project, id, at)
            .on("attribute_exists(pk) AND (attribute_not_exists(last_active_at) OR last_active_at < :begin)")
            .value(":begin", integer(hour_begins(hour(at)).as_millisecond()));
        is_made(self.write_unrecorded(update).await).map(drop)
    }

    /// Gives a user a place in the list, unless the user already has one or no longer exists. Costs
    /// three units.
    pub(super) async fn place_user(&self, project: &ProjectId, row: &UserRow) -> Result<(), Error> {
        let id = row.user.id;
        let write = Write::update(user_key(project, id), format!("SET {PLACE}"));
        let write = placed(write, project, id, row.last_active_at).on("attribute_exists(pk) AND attribute_not_exists(gsi2pk)");
        // Fails if the user has been deleted or active since the list was read.
        is_made(self.write_unrecorded(write).await).map(drop)
    }
}
