//! Finds users by the beginning of an email address or of a word in the user's name.
//!
//! | item | pk | sk | index |
//! |---|---|---|---|
//! | word of a user | `WORDS#<P>#<shard>` | word, id | |
//! | claim of an address | see [`crate::user`] | | gsi2 `P#<P>#ADDRESSES#<shard>` / address, id |
//!
//! Words and claims are written in the transaction of the user's change. A sign-up with an address
//! costs one unit more, because the claim exists anyway and `gsi2` contains only keys. Each word of
//! a name costs two units, and a change of the name costs two for each word added or removed. A
//! search costs half a unit for each partition, half a unit for each 4 KB of matching items, and
//! one unit for each 4 KB of the users found, no matter how many users the project has.
//!
//! A user is listed once, at the first matching word. Items for words that the user no longer has
//! (an index may lag behind) are skipped.
//!
//! Users from earlier versions do not have words, or have words with accents, until
//! [`Store::list_older_users`] has run for their project. Before that, a search reads the list of
//! users instead.

use std::collections::BTreeSet;

use futures_util::future::try_join_all;
use model::email::Email;
use model::text::folded::folded;
use model::user::User;
use model::user::search::{Search, cut};
use wire::id::{ProjectId, UserId};

use crate::optimistic;
use crate::table::sharded::{Listing, Partition};
use crate::table::{Error, Key, Store, Write, is_made, string};
use crate::user::list::UserPage;
use crate::user::place::{USER_SHARDS, addresses, by_address, shard, word_position};
use crate::user::{UserRow, email_claim_key, unchanged};

/// The partition that contains the words of a shard's users.
pub(crate) fn partition(project: &ProjectId, shard: u8) -> String {
    format!("WORDS#{project}#{shard}")
}

fn key(project: &ProjectId, user: UserId, word: &str) -> Key {
    Key::new(partition(project, shard(user)), word_position(word, user))
}

fn put(project: &ProjectId, user: UserId, word: &str) -> Result<Write, Error> {
    Write::put(key(project, user, word), &())
}

/// The writes that update a user's words after a change. Without `before`, the writes add the words
/// of a new user.
pub fn words(project: &ProjectId, before: Option<&User>, after: &User) -> Result<Vec<Write>, Error> {
    let (old, new) = (before.map(User::unclaimed_words).unwrap_or_default(), after.unclaimed_words());
    let is_renamed = |before: &&User| before.display_name != after.display_name;
    let earlier = before.filter(is_renamed).map(User::earlier_words).unwrap_or_default();
    let gone = old.union(&earlier).filter(|word| !new.contains(*word)).map(|word| Ok(Write::delete(key(project, after.id, word))));
    let added = new.difference(&old).map(|word| put(project, after.id, word));
    gone.chain(added).collect()
}

/// The writes that remove the words of a deleted user.
pub(super) fn no_words(project: &ProjectId, user: &User) -> impl Iterator<Item = Write> {
    let words = user.unclaimed_words().into_iter().chain(user.earlier_words());
    words.map(|word| Write::delete(key(project, user.id, &word)))
}

/// For a user who keeps an email address that another user now claims: writes the address as a
/// word, so that a search for the address still finds the first user. `None` if the address is not
/// one of the user's words.
pub(super) fn unclaimed(project: &ProjectId, user: &User, email: &Email) -> Result<Option<Write>, Error> {
    let word = cut(&folded(email.as_str())).to_owned();
    user.unclaimed_words().contains(&word).then(|| put(project, user.id, &word)).transpose()
}

impl Store {
    /// The users that `keep` accepts and that have a word with one of the searched prefixes, in the
    /// order of words. Some users may be missing unless all users of the project have words
    /// ([`crate::metrics::Totals::lists_words`]). At most `listing.read` matches are examined.
    pub async fn users_by_word(
        &self,
        project: &ProjectId,
        search: &Search,
        listing: Listing<'_>,
        keep: impl Fn(&User) -> bool,
    ) -> Result<UserPage, Error> {
        let of_shard = |shard, from| {
            let own = Partition::for_table(partition(project, shard)).beginning_with(from);
            [own, Partition::gsi2(addresses(project, shard)).beginning_with(from)]
        };
        let beginnings = search.beginnings().iter().map(|beginning| cut(beginning));
        let is_first = |position: &str, user: &User| {
            let first = user.first_word(search);
            first.is_some_and(|word| position.rsplit_once('#').is_some_and(|(found, _)| found == word)) && keep(user)
        };
        let partitions = beginnings.flat_map(|from| (0..USER_SHARDS).flat_map(move |shard| of_shard(shard, from))).collect();
        self.users_at(project, partitions, Listing { descending: false, ..listing }, |_| false, is_first).await
    }

    /// Writes a user's words, and the places of the user's claimed addresses.
    pub(super) async fn index_user(&self, project: &ProjectId, row: &UserRow) -> Result<(), Error> {
        let id = row.user.id;
        let mut row = row.clone();
        optimistic!(|attempt| {
            if attempt > 0 {
                let Some(again) = self.user(project, id).await? else { return Ok(()) };
                row = again;
            }
            let earlier = row.user.earlier_words();
            let mut words = words(project, None, &row.user)?;
            words.extend(earlier.iter().map(|word| Write::delete(key(project, id, word))));
            if words.is_empty() {
                return Ok(());
            }
            // Without this check, words that the user has lost in the meantime would be written,
            // and nothing would remove them.
            self.transact_unrecorded(words.into_iter().chain([unchanged(project, id, row.version)]).collect()).await
        })?;
        let claimed: BTreeSet<&Email> =
            row.user.channels.iter().filter(|channel| channel.signs_in()).map(|channel| &channel.value).collect();
        try_join_all(claimed.into_iter().map(|email| self.place_address(project, id, email))).await.map(drop)
    }

    async fn place_address(&self, project: &ProjectId, user: UserId, email: &Email) -> Result<(), Error> {
        let (pk, sk) = by_address(project, user, email);
        let write = Write::update(email_claim_key(project, email), "SET gsi2pk = :pk, gsi2sk = :sk")
            .on("d.user_id = :user AND attribute_not_exists(gsi2pk)")
            .value(":user", string(user.to_string()))
            .value(":pk", string(pk))
            .value(":sk", string(sk));
        // Fails if the claim was released, belongs to another user, or already has a place.
        is_made(self.write_unrecorded(write).await).map(drop)
    }
}
