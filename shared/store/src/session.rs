//! Sessions and the claims of their refresh tokens.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | session | `U#<P>#<user>` | `SESSION#<uuid v7>` | one Query lists the sessions of a user, newest first |
//! | claim of a refresh token | `R#<P>#<digest>` | `CLAIM` | 1 unit to read; gsi1 `SESSION#<P>#<id>` / `CLAIM` finds the session's user |
//!
//! Both items expire by TTL at the end of the session's maximum age.

use std::collections::HashMap;

use crypto::digest::Digest;
use jiff::Timestamp;
use model::place::Place;
use model::project::Project;
use model::session::{Amr, Session};
use model::trail::Event;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use wire::id::{ProjectId, SessionId, UserId};

use crate::client::Store;
use crate::error::Error;
use crate::item::{Item, Key, entity, integer, string};
use crate::write::Write;

/// The session that a refresh token belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenClaim {
    /// The user.
    pub user_id: UserId,
    /// The session.
    pub session_id: SessionId,
}

/// The key of a session.
pub fn session_key(project: &ProjectId, user: UserId, id: SessionId) -> Key {
    Key::new(format!("U#{project}#{user}"), format!("SESSION#{id}"))
}

/// The key of a refresh token's claim.
pub fn token_key(project: &ProjectId, token: &SecretString) -> Key {
    Key::new(format!("R#{project}#{}", Digest::of(token.expose_secret())), "CLAIM")
}

pub(crate) fn claim_partition(project: &ProjectId, id: SessionId) -> String {
    format!("SESSION#{project}#{id}")
}

/// Writes a session and the claim of its refresh token.
pub fn create(project: &ProjectId, session: &Session, token: &SecretString) -> Result<[Write; 2], Error> {
    let claim = TokenClaim { user_id: session.user_id, session_id: session.id };
    Ok([
        Write::create(session_key(project, session.user_id, session.id), session)?.expires(session.expires_at).begins(session),
        Write::create(token_key(project, token), &claim)?
            .expires(session.expires_at)
            .attribute("gsi1pk", string(claim_partition(project, session.id)))
            .attribute("gsi1sk", string("CLAIM")),
    ])
}

/// Records that the user of a session reauthenticated by `amr`.
pub fn reauthenticate(project: &ProjectId, session: &Session, amr: &[Amr], now: Timestamp) -> Result<Write, Error> {
    Write::update(session_key(project, session.user_id, session.id), "SET d.authenticated_at = :now, d.amr = :amr")
        .on("attribute_exists(pk)")
        .about(session.user_id)
        .tells([Event::Reauthenticated])
        .proved_by(amr)
        .value(":now", integer(now.as_millisecond()))
        .entity(":amr", &session.proved_again(amr))
}

/// Records that the user proved a second factor in a session by setting it up. This does not count
/// as reauthentication for changes that require a recent one.
pub fn gain_factor(project: &ProjectId, session: &Session) -> Result<Write, Error> {
    Write::update(session_key(project, session.user_id, session.id), "SET d.amr = :amr")
        .on("attribute_exists(pk)")
        .entity(":amr", &[session.amr.as_slice(), &[Amr::Mfa]].concat())
}

/// The condition that a session exists, has not reached its maximum age at `:now`, and was used
/// after `:idle`. It does not tell whether all sessions of the user were ended at once, which only
/// the user's item records.
const LIVES: &str = "attribute_exists(pk) AND d.expires_at > :now AND d.last_used_at > :idle";

/// Fails the transaction unless the session exists and has reached neither its maximum age nor its
/// maximum idle time. Ending all sessions raises the credential epoch, which the caller must check.
pub fn lives(project: &Project, user: UserId, id: SessionId, now: Timestamp) -> Write {
    let idle_since = Session::idle_since(&project.config.sessions, now);
    Write::check(session_key(&project.id, user, id), LIVES)
        .value(":idle", integer(idle_since.as_millisecond()))
        .value(":now", integer(now.as_millisecond()))
}

/// A page of sessions, newest first.
#[derive(Debug)]
pub struct Page {
    /// The sessions, newest first.
    pub sessions: Vec<Session>,
    /// The session with which the next page begins; `None` after the last page.
    pub next: Option<SessionId>,
}

impl Store {
    /// The session with this id, whether or not it is live.
    pub async fn session(&self, project: &ProjectId, user: UserId, id: SessionId) -> Result<Option<Session>, Error> {
        self.get(&session_key(project, user, id)).await?.map(entity).transpose()
    }

    /// Records the use of a session at `now` and, if it is known, the `place`. Returns the session;
    /// `None` if it does not exist, has reached its maximum age, or has not been used since
    /// `idle_since`. The caller must check with [`Session::is_live`] whether the user has ended all
    /// sessions.
    ///
    /// If the session is deleted concurrently, it is either used before the deletion or not at all,
    /// because this is one conditional write. Costs 1 unit.
    pub async fn touch_session(
        &self,
        project: &ProjectId,
        claim: TokenClaim,
        place: Option<&Place>,
        idle_since: Timestamp,
        now: Timestamp,
    ) -> Result<Option<Session>, Error> {
        let key = session_key(project, claim.user_id, claim.session_id);
        let set_place = if place.is_some() { ", d.place = :place" } else { "" };
        let mut update = Write::update(key, format!("SET d.last_used_at = :now{set_place}"))
            .on(LIVES)
            .value(":idle", integer(idle_since.as_millisecond()))
            .value(":now", integer(now.as_millisecond()));
        if let Some(place) = place {
            update = update.entity(":place", place)?;
        }
        match update.send_returning(&self.client, &self.table).await {
            Ok(item) => entity(item).map(Some),
            Err(Error::Conflict(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Ends one session, recorded as `event`; `false` if it does not exist.
    pub async fn end_session(&self, project: &ProjectId, user: UserId, id: SessionId, event: Event) -> Result<bool, Error> {
        let end = Write::delete(session_key(project, user, id)).on("attribute_exists(pk)").about(user).tells([event]);
        match self.write(end).await {
            Ok(()) => Ok(true),
            Err(Error::Conflict(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Up to `limit` sessions of a user that `keep` accepts, newest first, starting at `start` or
    /// at the newest session. Costs one unit for each 4 KB that is read.
    pub async fn sessions(
        &self,
        project: &ProjectId,
        user: UserId,
        start: Option<SessionId>,
        limit: usize,
        keep: impl Fn(&Session) -> bool,
    ) -> Result<Page, Error> {
        let last = start.map_or_else(|| "SESSION#~".to_owned(), |id| format!("SESSION#{id}"));
        let mut sessions: Vec<Session> = Vec::new();
        let mut from: Option<Item> = None;
        loop {
            let query = self
                .query()
                .key_condition_expression("pk = :pk AND sk BETWEEN :first AND :last")
                .set_expression_attribute_values(Some(HashMap::from([
                    (":pk".to_owned(), string(format!("U#{project}#{user}"))),
                    (":first".to_owned(), string("SESSION#")),
                    (":last".to_owned(), string(last.clone())),
                ])))
                .scan_index_forward(false)
                .consistent_read(true)
                .limit(i32::try_from(limit + 1).unwrap_or(i32::MAX))
                .set_exclusive_start_key(from);
            let (items, next) = self.query_page(query).await?;
            for item in items {
                let session: Session = entity(item)?;
                if keep(&session) {
                    sessions.push(session);
                }
            }
            from = next;
            if sessions.len() > limit || from.is_none() {
                break;
            }
        }
        let next = sessions.get(limit).map(|session| session.id);
        sessions.truncate(limit);
        Ok(Page { sessions, next })
    }

    /// The user of a session, which may have ended, found by the session's id; `None` if no refresh
    /// token of the session is stored, or if the session has only just begun, because the index
    /// lags behind. Costs half a unit.
    pub async fn user_of_session(&self, project: &ProjectId, id: SessionId) -> Result<Option<UserId>, Error> {
        let query = self.query().index_name("gsi1").key_condition_expression("gsi1pk = :pk");
        let query = query.expression_attribute_values(":pk", string(claim_partition(project, id)));
        let (mut claims, _) = self.query_page(query).await?;
        let claim: Option<TokenClaim> = claims.pop().map(entity).transpose()?;
        Ok(claim.map(|claim| claim.user_id))
    }

    /// The claim of a refresh token.
    pub async fn token_claim(&self, project: &ProjectId, token: &SecretString) -> Result<Option<TokenClaim>, Error> {
        self.get(&token_key(project, token)).await?.map(entity).transpose()
    }
}
