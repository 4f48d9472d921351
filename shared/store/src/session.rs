//! Sessions, each with the digest of its refresh token.
//!
//! | item | pk | sk | index |
//! |---|---|---|---|
//! | session | `U#<P>#<user>` | `SESSION#<uuid v7>` | gsi2 `SESSION#<P>#<id>` / `SESSION`, which finds the session's user; the attribute `token` is the digest of the refresh token |
//! | claim of a refresh token, in tables of earlier versions | `R#<P>#<digest>` | `CLAIM` | gsi1 `SESSION#<P>#<id>` / `CLAIM` |
//!
//! A refresh token names its session ([`token`]), so one unit reads both, and a sign-in writes one
//! item for them: two units in a transaction, and one in `gsi2`, which has only keys and is not
//! written again while the session is used. One Query lists the sessions of a user, newest first.
//! Sessions and claims expire by TTL at the end of the session's maximum age.

pub mod token;
pub mod uses;

use std::collections::HashMap;

use jiff::Timestamp;
use model::limit::Counter;
use model::place::Place;
use model::project::Project;
use model::session::{Amr, Session};
use model::trail::Event;
use secrecy::SecretString;
use wire::id::{ProjectId, SessionId, UserId};

use crate::client::Store;
use crate::error::Error;
use crate::item::{Item, Key, entity, integer, key_of, string};
use crate::optimistic;
use crate::session::token::TokenClaim;
use crate::session::uses::Uses;
use crate::write::Write;

/// The key of a session.
pub fn session_key(project: &ProjectId, user: UserId, id: SessionId) -> Key {
    Key::new(format!("U#{project}#{user}"), format!("SESSION#{id}"))
}

/// The partition of a session's place in `gsi2`, and of its token's claim in `gsi1`.
pub(crate) fn id_partition(project: &ProjectId, id: SessionId) -> String {
    format!("SESSION#{project}#{id}")
}

/// Writes a session with its refresh token, which must come from [`token::draw`].
pub fn create(project: &ProjectId, session: &Session, token: &SecretString) -> Result<Write, Error> {
    let write = Write::create(session_key(project, session.user_id, session.id), session)?;
    Ok(write
        .expires(session.expires_at)
        .begins(session)
        .attribute(token::DIGEST, string(token::digest(token)))
        .attribute("gsi2pk", string(id_partition(project, session.id)))
        .attribute("gsi2sk", string("SESSION")))
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

/// Records the use of a session at `:now`.
const TOUCH: &str = "SET d.last_used_at = :now, d.place = :place";
/// The maximum number of attempts to count a use of a refresh token.
const ROUNDS: u32 = 5;

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
    /// because this is one conditional write.
    ///
    /// If the claim has the token's uses and `counter` is their limit, the use is counted in the
    /// same write; [`Error::Limited`] if the limit is reached. Costs 1 unit, and 2 more each time
    /// that concurrent uses begin a window.
    pub async fn touch_session(
        &self,
        project: &ProjectId,
        claim: &TokenClaim,
        place: &Place,
        (idle_since, now): (Timestamp, Timestamp),
        counter: Option<&Counter>,
    ) -> Result<Option<Session>, Error> {
        let key = session_key(project, claim.user_id, claim.session_id);
        let update = Write::update(key.clone(), TOUCH)
            .on(LIVES)
            .value(":idle", integer(idle_since.as_millisecond()))
            .value(":now", integer(now.as_millisecond()))
            .entity(":place", place)?;
        let Some((mut uses, counter)) = claim.uses.clone().zip(counter) else {
            return match update.send_returning(&self.client, &self.table).await {
                Ok(item) => entity(item).map(Some),
                Err(Error::Conflict(_)) => Ok(None),
                Err(error) => Err(error),
            };
        };
        optimistic!(ROUNDS, |round| {
            if round > 0 {
                let Some(item) = self.get_now(&key).await? else { return Ok(None) };
                let session: Session = entity(item.clone())?;
                if session.expires_at <= now || session.last_used_at <= idle_since {
                    return Ok(None);
                }
                uses = Uses::of(item)?;
            }
            let counted = uses.count(update.clone(), TOUCH, LIVES, counter).map_err(Error::Limited)?;
            counted.send_returning(&self.client, &self.table).await.and_then(entity).map(Some)
        })
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

    /// The user of a session, found by the session's id; `None` if the session does not exist or
    /// has only just begun, because the indexes lag behind. Two queries at once, half a unit each:
    /// the second finds sessions of earlier versions.
    pub async fn user_of_session(&self, project: &ProjectId, id: SessionId) -> Result<Option<UserId>, Error> {
        let find = async |index: &str| {
            let query = self.query().index_name(index).key_condition_expression(format!("{index}pk = :pk"));
            self.query_page(query.expression_attribute_values(":pk", string(id_partition(project, id)))).await
        };
        let ((mut sessions, _), (mut claims, _)) = tokio::try_join!(find("gsi2"), find("gsi1"))?;
        if let Some(Key { pk, .. }) = sessions.pop().as_ref().and_then(key_of) {
            return Ok(pk.rsplit('#').next().and_then(|user| UserId::parse(user).ok()));
        }
        let claim: Option<TokenClaim> = claims.pop().map(entity).transpose()?;
        Ok(claim.map(|claim| claim.user_id))
    }

    /// The session that a refresh token belongs to; `None` if there is none. Costs 1 unit.
    pub async fn token_claim(&self, project: &ProjectId, token: &SecretString) -> Result<Option<TokenClaim>, Error> {
        let item = self.get(&token::key(project, token)).await?;
        item.map_or(Ok(None), |item| token::claim(item, token))
    }
}
