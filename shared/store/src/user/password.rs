//! Writes to a user's item that concern the password: the hash, and the counts of wrong passwords.

use crypto::password::hash::Hash;
use model::user::{MAX_WRONG_PASSWORDS, User};
use wire::id::{ProjectId, UserId};

use crate::keys::user_key;
use crate::table::{Error, Store, Write, integer, is_made};
use crate::user::in_epoch;

/// Replaces the hash of a user's password with `new`, another hash of the same password; fails if
/// the password has changed since the user was read. Increments the version, so that no concurrent
/// change to the user reverts the hash.
pub fn rehash(project: &ProjectId, user: &User, new: &Hash) -> Result<Write, Error> {
    Write::update(user_key(project, user.id), "SET d.password = :new, version = version + :one")
        .on("d.password = :old")
        .value(":one", integer(1))
        .entity(":old", &user.password)?
        .entity(":new", new)
}

/// A kind of password guess counted in the user's item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guess {
    /// A password at sign-in.
    SignIn,
    /// The current password, given by a signed-in user to change the password or to reauthenticate.
    OldPassword,
}

impl Guess {
    fn attribute(self) -> &'static str {
        match self {
            Self::SignIn => "d.wrong_passwords",
            Self::OldPassword => "d.wrong_old_passwords",
        }
    }
}

/// Counts the wrong password that closes the account to passwords at sign-in; fails unless exactly
/// one more wrong password closes it. The caller must write the email that notifies the owner in
/// the same transaction, so that the account is never closed without the email.
pub fn close(project: &ProjectId, user: UserId) -> Write {
    Write::update(user_key(project, user), "SET d.wrong_passwords = :most, version = version + :one")
        .on("d.wrong_passwords = :last")
        .value(":most", integer(MAX_WRONG_PASSWORDS))
        .value(":last", integer(MAX_WRONG_PASSWORDS - 1))
        .value(":one", integer(1))
}

/// Resets the count of wrong passwords after a correct one. Fails if the count has closed the
/// account to passwords in the meantime, or if the user has been deleted. The count may be absent:
/// another request may have reset the count and then written the user, and a count of zero is not
/// serialized.
pub fn forget_wrong_passwords(project: &ProjectId, user: UserId) -> Write {
    let open = "attribute_exists(pk) AND (attribute_not_exists(d.wrong_passwords) OR d.wrong_passwords < :most)";
    count_anew(project, user, "SET d.wrong_passwords = :none, version = version + :one")
        .on(open)
        .value(":most", integer(MAX_WRONG_PASSWORDS))
}

/// Resets the counts of wrong passwords, both at sign-in and from signed-in users, after the owner
/// has signed in by other means. Fails unless the user is in this credential epoch.
pub fn reopen(project: &ProjectId, user: UserId, epoch: u64) -> Write {
    count_anew(project, user, "SET d.wrong_passwords = :none, d.wrong_old_passwords = :none, version = version + :one")
        .on(in_epoch(epoch))
        .value(":credentials", integer(epoch))
}

fn count_anew(project: &ProjectId, user: UserId, update: &'static str) -> Write {
    Write::update(user_key(project, user), update).value(":none", integer(0)).value(":one", integer(1))
}

impl Store {
    /// Counts a wrong password. Returns `false` if the password was not counted, because the user
    /// no longer exists or because this wrong password closes the account to passwords at sign-in
    /// ([`close`]). Increments the version, so that no concurrent change to the user resets the
    /// count.
    pub async fn count_wrong_password(&self, project: &ProjectId, id: UserId, guess: Guess) -> Result<bool, Error> {
        let count = guess.attribute();
        let update =
            Write::update(user_key(project, id), format!("SET {count} = if_not_exists({count}, :none) + :one, version = version + :one"));
        let update = match guess {
            Guess::SignIn => update
                .on("attribute_exists(pk) AND (attribute_not_exists(d.wrong_passwords) OR d.wrong_passwords <> :last)")
                .value(":last", integer(MAX_WRONG_PASSWORDS - 1)),
            Guess::OldPassword => update.on("attribute_exists(pk)"),
        };
        is_made(self.write_unrecorded(update.value(":none", integer(0)).value(":one", integer(1))).await)
    }
}
