//! Sign-ins of command-line tools.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | a tool's sign-in | `CLI#<P>#<digest of the login code>` | `SIGN_IN` | 1 unit to begin, or 2 in a transaction with a user code; 1 to read for each poll, and 1 to record a device's poll; 2 to decide and 2 to fetch, both in transactions |
//! | user code | `CLI#<P>#<digest of the user code>` | `USER_CODE` | 2 units to write, in a transaction, and 1 to read |
//!
//! Deciding, taking over the anonymous user and fetching the session are conditional writes, so
//! only one of several concurrent attempts succeeds.

use aws_sdk_dynamodb::types::AttributeValue;
use crypto::digest::Digest;
use jiff::{SignedDuration, Timestamp};
use model::session::cli::{CliSignIn, Decision, UserCode};
use wire::clock::after;
use wire::id::ProjectId;

use crate::code::redeem_at;
use crate::table::{Error, Key, Label, Store, Write, entity, integer, is_made};

/// How long a sign-in is kept after its expiry, so that the tool can learn of the expiry.
const MEMORY: SignedDuration = SignedDuration::from_hours(1);

/// The condition that a sign-in awaits a decision: it exists, is undecided and has not expired at
/// `:now`, and its tool has not fetched a session.
const WAITS: &str = "attribute_exists(pk) AND attribute_not_exists(d.decision) AND d.used = :no AND d.expires_at > :now";

/// The key of a sign-in, from the digest of its login code.
pub fn sign_in_key(project: &ProjectId, login: &Digest) -> Key {
    Key::new(format!("CLI#{project}#{login}"), "SIGN_IN")
}

fn user_code_key(project: &ProjectId, user_code: &UserCode) -> Key {
    Key::new(format!("CLI#{project}#{}", user_code.digest()), "USER_CODE")
}

/// Stores the decision on a sign-in that awaits one, and detaches the anonymous session.
pub fn decide(project: &ProjectId, login: &Digest, decision: Decision, now: Timestamp) -> Result<Write, Error> {
    waiting(project, login, "SET d.decision = :decision REMOVE d.anonymous", now).entity(":decision", &decision)
}

/// Detaches the anonymous session from a sign-in that awaits a decision; the condition fails if the
/// sign-in has no anonymous session.
pub fn detach(project: &ProjectId, login: &Digest, now: Timestamp) -> Write {
    waiting(project, login, "REMOVE d.anonymous", now).on(format!("{WAITS} AND attribute_exists(d.anonymous)"))
}

fn waiting(project: &ProjectId, login: &Digest, expression: &str, now: Timestamp) -> Write {
    Write::update(sign_in_key(project, login), expression)
        .labelled(Label::Code)
        .on(WAITS)
        .value(":no", AttributeValue::Bool(false))
        .value(":now", integer(now.as_millisecond()))
}

/// Marks a sign-in as used by its tool, which then gets a session; only one of several concurrent
/// attempts succeeds.
pub fn spend(project: &ProjectId, login: &Digest) -> Write {
    redeem_at(sign_in_key(project, login))
}

impl Store {
    /// Stores a new sign-in.
    pub async fn begin_cli_sign_in(&self, project: &ProjectId, login: &Digest, sign_in: &CliSignIn) -> Result<(), Error> {
        let create = Write::create(sign_in_key(project, login), sign_in)?;
        self.write_unrecorded(create.expires(after(sign_in.expires_at, MEMORY))).await
    }

    /// Stores a new sign-in that can also be found by its user code.
    pub async fn begin_device_sign_in(
        &self,
        project: &ProjectId,
        login: &Digest,
        user_code: &UserCode,
        sign_in: &CliSignIn,
    ) -> Result<(), Error> {
        let create = Write::create(sign_in_key(project, login), sign_in)?.expires(after(sign_in.expires_at, MEMORY));
        let typed = Write::create(user_code_key(project, user_code), login)?.expires(sign_in.expires_at);
        self.transact_unrecorded(vec![create, typed]).await
    }

    /// The digest of the login code that corresponds to this user code; `None` if the user code is
    /// unknown. The caller must check whether the sign-in has expired.
    pub async fn login_of_user_code(&self, project: &ProjectId, user_code: &UserCode) -> Result<Option<Digest>, Error> {
        self.get(&user_code_key(project, user_code)).await?.map(entity).transpose()
    }

    /// Records a poll at `now`; `false` if the last recorded poll was after `before`, or if no
    /// sign-in has this login code.
    pub async fn note_poll(&self, project: &ProjectId, login: &Digest, before: Timestamp, now: Timestamp) -> Result<bool, Error> {
        let poll = Write::update(sign_in_key(project, login), "SET polled_at = :polled")
            .on("attribute_exists(pk) AND (attribute_not_exists(polled_at) OR polled_at <= :before)")
            .value(":polled", integer(now.as_millisecond()))
            .value(":before", integer(before.as_millisecond()));
        is_made(self.write_unrecorded(poll).await)
    }

    /// The sign-in with this login code, even if it has expired; `None` if it does not exist.
    pub async fn cli_sign_in(&self, project: &ProjectId, login: &Digest) -> Result<Option<CliSignIn>, Error> {
        self.get(&sign_in_key(project, login)).await?.map(entity).transpose()
    }
}
