//! Sessions and the claims of their refresh tokens.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | session | `U#<P>#<user>` | `SESSION#<uuid v7>` | one Query lists the sessions of a user, newest first |
//! | claim of a refresh token | `R#<P>#<selector>` | `CLAIM` | 1 unit to read, by the token or by the session's id ([`refresh_token`]) |
//! | claim from an earlier version | `R#<P>#<digest>` | `CLAIM` | 1 unit to read; gsi1 `SESSION#<P>#<id>` / `CLAIM` finds the session's user |
//!
//! All of these items expire by TTL when the session reaches its maximum age. A claim has the
//! digest of the whole token, which is compared in constant time; earlier versions put the digest
//! into the key.

use crypto::digest::Digest;
use jiff::Timestamp;
use model::place::Place;
use model::project::Project;
use model::session::{Amr, Session, refresh_token};
use model::trail::Event;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use wire::id::{ProjectId, SessionId, UserId};

use crate::table::row::ReadPage;
use crate::table::{DIGEST, Error, Item, Key, Store, Write, entity, integer, is_made, is_of_digest, string, unless_conflict};

/// The session of a refresh token.
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

fn claim_key(project: &ProjectId, name: &str) -> Key {
    Key::new(format!("R#{project}#{name}"), "CLAIM")
}

/// The key of a session's refresh token claim.
pub(crate) fn claim_key_of(project: &ProjectId, session: SessionId) -> Key {
    claim_key(project, &refresh_token::selector(session))
}

/// The key under which a refresh token's claim is looked up first.
pub fn token_key(project: &ProjectId, token: &SecretString) -> Key {
    refresh_token::selector_in(token).map_or_else(|| older_token_key(project, token), |selector| claim_key(project, selector))
}

/// The key of a refresh token claim from an earlier version.
fn older_token_key(project: &ProjectId, token: &SecretString) -> Key {
    claim_key(project, Digest::of(token.expose_secret()).as_str())
}

/// The claim in an item, if it belongs to this refresh token.
fn claim_of(item: Item, token: &SecretString) -> Result<Option<TokenClaim>, Error> {
    let is_of = !item.contains_key(DIGEST) || is_of_digest(&item, &Digest::of(token.expose_secret()));
    if is_of { entity(item).map(Some) } else { Ok(None) }
}

/// Writes a session and the claim of its refresh token, drawn with [`refresh_token::draw`].
pub fn create(project: &ProjectId, session: &Session, token: &SecretString) -> Result<[Write; 2], Error> {
    let claim = TokenClaim { user_id: session.user_id, session_id: session.id };
    Ok([
        Write::create(session_key(project, session.user_id, session.id), session)?.expires(session.expires_at).begins(session),
        Write::create(claim_key_of(project, session.id), &claim)?
            .expires(session.expires_at)
            .attribute(DIGEST, string(Digest::of(token.expose_secret()).as_str())),
    ])
}

/// Records that the user of a session reauthenticated with the methods in `amr`.
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
/// as the recent reauthentication that some changes require.
pub fn gain_factor(project: &ProjectId, session: &Session) -> Result<Write, Error> {
    Write::update(session_key(project, session.user_id, session.id), "SET d.amr = :amr")
        .on("attribute_exists(pk)")
        .entity(":amr", &[session.amr.as_slice(), &[Amr::Mfa]].concat())
}

/// The condition that a session exists, has not reached its maximum age at `:now`, and was used
/// after `:idle`. It does not detect that all of the user's sessions were ended together, which
/// only the user's item records.
const LIVES: &str = "attribute_exists(pk) AND d.expires_at > :now AND d.last_used_at > :idle";

/// Fails the transaction unless the session exists and has reached neither its maximum age nor its
/// maximum idle time. The caller must also check the credential epoch, which rises when all
/// sessions are ended.
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
    /// The first session of the next page; `None` after the last page.
    pub next: Option<SessionId>,
}

impl Store {
    /// The session with this id, live or not.
    pub async fn session(&self, project: &ProjectId, user: UserId, id: SessionId) -> Result<Option<Session>, Error> {
        self.get(&session_key(project, user, id)).await?.map(entity).transpose()
    }

    /// Records the use of a session at `now`. Returns the session; `None` if it does not exist, has
    /// reached its maximum age, or has not been used since `idle_since`. The caller must check with
    /// [`Session::is_live`] whether the user has ended all sessions.
    ///
    /// This is one conditional write, so a concurrently deleted session is either used before its
    /// deletion or not at all. Costs 1 unit.
    pub async fn touch_session(
        &self,
        project: &ProjectId,
        claim: TokenClaim,
        idle_since: Timestamp,
        now: Timestamp,
    ) -> Result<Option<Session>, Error> {
        let key = session_key(project, claim.user_id, claim.session_id);
        let update = Write::update(key, "SET d.last_used_at = :now")
            .on(LIVES)
            .value(":idle", integer(idle_since.as_millisecond()))
            .value(":now", integer(now.as_millisecond()));
        unless_conflict(update.send_returning(&self.client, &self.table).await)?.map(entity).transpose()
    }

    /// Records where a session was used, if the session exists. Call it only for live sessions: the
    /// places of a user's sessions count as known, so a stolen token of an ended session must not
    /// add a place. Costs 1 unit.
    pub async fn note_place(&self, project: &ProjectId, session: &Session, place: &Place) -> Result<(), Error> {
        let update = Write::update(session_key(project, session.user_id, session.id), "SET d.place = :place").entity(":place", place)?;
        is_made(self.write_unrecorded(update.on("attribute_exists(pk)")).await).map(drop)
    }

    /// Ends one session, recording it as `event`; `false` if the session does not exist.
    pub async fn end_session(&self, project: &ProjectId, user: UserId, id: SessionId, event: Event) -> Result<bool, Error> {
        let end = Write::delete(session_key(project, user, id)).on("attribute_exists(pk)").about(user).tells([event]);
        is_made(self.write(end).await)
    }

    /// Up to `limit` sessions of a user that `keep` accepts, newest first, from `start` or the
    /// newest session. Costs one unit for each 4 KB read.
    pub async fn sessions(
        &self,
        project: &ProjectId,
        user: UserId,
        start: Option<SessionId>,
        limit: usize,
        keep: impl Fn(&Session) -> bool,
    ) -> Result<Page, Error> {
        let mut sessions: Vec<Session> = Vec::new();
        let mut read = ReadPage {
            table: self.table.clone(),
            pk: format!("U#{project}#{user}"),
            first: "SESSION#".to_owned(),
            last: start.map_or_else(|| "SESSION#~".to_owned(), |id| format!("SESSION#{id}")),
            limit: i32::try_from(limit + 1).unwrap_or(i32::MAX),
            after: None,
        };
        loop {
            let page = self.page_down(read.clone()).await?;
            for row in page.rows {
                let session = row.shared(entity::<Session>)?;
                if keep(&session) {
                    sessions.push(Session::clone(&session));
                }
            }
            read.after = page.next;
            if sessions.len() > limit || read.after.is_none() {
                break;
            }
        }
        let next = sessions.get(limit).map(|session| session.id);
        sessions.truncate(limit);
        Ok(Page { sessions, next })
    }

    /// The user of a session, ended or not, by the session's id; `None` if its refresh token has no
    /// claim. Costs one unit, and half a unit more unless this version started the session.
    pub async fn user_of_session(&self, project: &ProjectId, id: SessionId) -> Result<Option<UserId>, Error> {
        let claim: Option<TokenClaim> = self.get(&claim_key_of(project, id)).await?.map(entity).transpose()?;
        let claim = match claim.filter(|claim| claim.session_id == id) {
            Some(claim) => Some(claim),
            None => self.older_claims(project, id).await?.pop().map(entity).transpose()?,
        };
        Ok(claim.map(|claim| claim.user_id))
    }

    /// The claims of a session written by an earlier version. Costs half a unit.
    pub(crate) async fn older_claims(&self, project: &ProjectId, id: SessionId) -> Result<Vec<Item>, Error> {
        let query = self.query().index_name("gsi1").key_condition_expression("gsi1pk = :pk");
        let query = query.expression_attribute_values(":pk", string(format!("SESSION#{project}#{id}")));
        Ok(self.query_page(query).await?.0)
    }

    /// The claim of a refresh token. Costs one unit, and another if a token with a selector has no
    /// claim.
    pub async fn token_claim(&self, project: &ProjectId, token: &SecretString) -> Result<Option<TokenClaim>, Error> {
        let (key, older) = (token_key(project, token), older_token_key(project, token));
        let found = match self.get(&key).await? {
            // Random characters from an earlier version's token can look like a selector.
            None if key != older => self.get(&older).await?,
            found => found,
        };
        found.map_or(Ok(None), |item| claim_of(item, token))
    }
}
