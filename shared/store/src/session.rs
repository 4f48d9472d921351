//! Sessions, each with the digest of its refresh token.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | session | `U#<P>#<user>` | `SESSION#<uuid v7>` | one Query lists the sessions of a user, newest first; a refresh token contains the parts of the key ([`refresh_token`]); gsi2 `SESSION#<P>#<id>` / `SESSION` finds the user |
//! | claim of a refresh token, from earlier versions | `R#<P>#<selector>` | `CLAIM` | 1 unit to read, by the token or by the session's id |
//! | claim from still earlier versions | `R#<P>#<digest>` | `CLAIM` | 1 unit to read; gsi1 `SESSION#<P>#<id>` / `CLAIM` finds the session's user |
//!
//! All of these items expire by TTL when the session reaches its maximum age. A session contains
//! the digest of the whole token, which is compared in constant time; earlier versions put the
//! digest into the claim or the key of the claim.

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
use crate::table::{CARRIED, DIGEST, Error, Item, Key, Store, Write, entity, integer, is_made, is_of_digest, string, unless_conflict};

/// The session that a refresh token belongs to, and its user.
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

/// The key of the claim for a session's refresh token, if an earlier version created the token.
pub(crate) fn older_claim_key(project: &ProjectId, session: SessionId) -> Key {
    claim_key(project, &refresh_token::older_selector(session))
}

/// The key of the item that is read first for a refresh token: the token's session or, if an
/// earlier version created the token, the token's claim.
pub fn token_key(project: &ProjectId, token: &SecretString) -> Key {
    match (refresh_token::session_in(token), refresh_token::older_selector_in(token)) {
        (Some((user, session)), _) => session_key(project, user, session),
        (None, Some(selector)) => claim_key(project, selector),
        (None, None) => oldest_token_key(project, token),
    }
}

/// The key of a refresh token's claim from the earliest versions.
fn oldest_token_key(project: &ProjectId, token: &SecretString) -> Key {
    claim_key(project, Digest::of(token.expose_secret()).as_str())
}

/// The claim in an item from an earlier version, if it belongs to this refresh token.
fn older_claim(item: Item, token: &SecretString) -> Result<Option<TokenClaim>, Error> {
    let is_of = !item.contains_key(DIGEST) || is_of_digest(&item, &Digest::of(token.expose_secret()));
    if is_of { entity(item).map(Some) } else { Ok(None) }
}

fn index_partition(project: &ProjectId, id: SessionId) -> String {
    format!("SESSION#{project}#{id}")
}

/// Writes a session with its refresh token, which [`refresh_token::draw`] must have drawn. Costs 2
/// units.
pub fn create(project: &ProjectId, session: &Session, token: &SecretString) -> Result<Write, Error> {
    let write = Write::create(session_key(project, session.user_id, session.id), session)?.expires(session.expires_at);
    let write = write.attribute(DIGEST, string(Digest::of(token.expose_secret()).as_str()));
    Ok(listed(write, project, session.id).begins(session))
}

/// Adds the attributes of the index to the write of a new session.
pub(crate) fn listed(write: Write, project: &ProjectId, id: SessionId) -> Write {
    write.attribute("gsi2pk", string(index_partition(project, id))).attribute("gsi2sk", string("SESSION"))
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

/// Records that the user proved a second factor in a session by setting it up. This proof does not
/// count as the recent reauthentication that some changes require.
pub fn gain_factor(project: &ProjectId, session: &Session) -> Result<Write, Error> {
    Write::update(session_key(project, session.user_id, session.id), "SET d.amr = :amr")
        .on("attribute_exists(pk)")
        .entity(":amr", &[session.amr.as_slice(), &[Amr::Mfa]].concat())
}

/// The condition that a session exists, has not reached its maximum age at `:now`, and was used
/// after `:idle`. The condition does not detect that all of the user's sessions were ended
/// together, which only the user's item shows.
const LIVES: &str = "attribute_exists(pk) AND d.expires_at > :now AND d.last_used_at > :idle";

/// Fails the transaction unless the session exists and has reached neither its maximum age nor its
/// maximum idle time. The caller must also check the credential epoch, which increases when all
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

    /// Records the use of a session at `now`. Returns the session; `None` if the session does not
    /// exist, has reached its maximum age, or has not been used since `idle_since`. The caller must
    /// check with [`Session::is_live`] whether the user has ended all sessions.
    ///
    /// The use is recorded with one conditional write, so a session that is deleted concurrently is
    /// either used before its deletion or not at all. Costs 1 unit.
    pub async fn touch_session(
        &self,
        project: &ProjectId,
        claim: TokenClaim,
        idle_since: Timestamp,
        now: Timestamp,
    ) -> Result<Option<Session>, Error> {
        let key = session_key(project, claim.user_id, claim.session_id);
        let update = Write::update(key, format!("SET d.last_used_at = :now REMOVE {CARRIED}"))
            .on(LIVES)
            .value(":idle", integer(idle_since.as_millisecond()))
            .value(":now", integer(now.as_millisecond()));
        unless_conflict(update.send_returning(&self.client, &self.table).await)?.map(entity).transpose()
    }

    /// Records the place where a session was used, if the session exists. Call this only for live
    /// sessions: the places of a user's sessions count as known, so a stolen token of an ended
    /// session must not add a place. Costs 1 unit.
    pub async fn note_place(&self, project: &ProjectId, session: &Session, place: &Place) -> Result<(), Error> {
        let update = Write::update(session_key(project, session.user_id, session.id), "SET d.place = :place").entity(":place", place)?;
        is_made(self.write_unrecorded(update.on("attribute_exists(pk)")).await).map(drop)
    }

    /// Ends one session and records this as `event`; `false` if the session does not exist.
    pub async fn end_session(&self, project: &ProjectId, user: UserId, id: SessionId, event: Event) -> Result<bool, Error> {
        let end = Write::delete(session_key(project, user, id)).on("attribute_exists(pk)").about(user).tells([event]);
        is_made(self.write(end).await)
    }

    /// Up to `limit` sessions of a user that `keep` accepts, newest first, starting with `start` or
    /// the newest session. Costs one unit for each 4 KB read.
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

    /// The user of the session with this id; `None` if the session has been deleted. A session that
    /// began a moment ago may be missing. Costs half a unit, and up to two more for a session from
    /// an earlier version.
    pub async fn user_of_session(&self, project: &ProjectId, id: SessionId) -> Result<Option<UserId>, Error> {
        let user_of = |key: &Key| UserId::parse(key.pk.rsplit('#').next()?).ok();
        let found = self.of_session("gsi2", project, id).await?;
        if let Some(user) = found.first().and_then(Key::of).as_ref().and_then(user_of) {
            return Ok(Some(user));
        }
        let claim: Option<TokenClaim> = self.get(&older_claim_key(project, id)).await?.map(entity).transpose()?;
        let claim = match claim.filter(|claim| claim.session_id == id) {
            Some(claim) => Some(claim),
            None => self.oldest_claims(project, id).await?.pop().map(entity).transpose()?,
        };
        Ok(claim.map(|claim| claim.user_id))
    }

    /// The claims of a session written by the earliest versions. Costs half a unit.
    pub(crate) async fn oldest_claims(&self, project: &ProjectId, id: SessionId) -> Result<Vec<Item>, Error> {
        self.of_session("gsi1", project, id).await
    }

    async fn of_session(&self, index: &str, project: &ProjectId, id: SessionId) -> Result<Vec<Item>, Error> {
        let query = self.query().index_name(index).key_condition_expression(format!("{index}pk = :pk"));
        let query = query.expression_attribute_values(":pk", string(index_partition(project, id)));
        Ok(self.query_page(query).await?.0)
    }

    /// The session that a refresh token belongs to, live or not. Costs one unit, and a second one
    /// if a token from an earlier version does not have a claim.
    pub async fn token_claim(&self, project: &ProjectId, token: &SecretString) -> Result<Option<TokenClaim>, Error> {
        let found = self.get(&token_key(project, token)).await?;
        if let Some((user_id, session_id)) = refresh_token::session_in(token) {
            let is_of = found.is_some_and(|item| is_of_digest(&item, &Digest::of(token.expose_secret())));
            return Ok(is_of.then_some(TokenClaim { user_id, session_id }));
        }
        let found = match (found, refresh_token::older_selector_in(token)) {
            // The random characters of a token from the earliest versions can look like a selector.
            (None, Some(_)) => self.get(&oldest_token_key(project, token)).await?,
            (found, _) => found,
        };
        found.map_or(Ok(None), |item| older_claim(item, token))
    }
}
