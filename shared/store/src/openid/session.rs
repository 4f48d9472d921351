//! Sessions of clients, whose refresh tokens rotate.

use jiff::Timestamp;
use model::openid::grant::OauthGrant;
use model::session::Session;
use model::session::rotation::Rotation;
use model::trail::{Event, Target, TargetKind};
use wire::id::ProjectId;

use crate::openid::grant::grant_key;
use crate::session::{listed, session_key};
use crate::table::{CARRIED, Error, Label, Store, Write, integer, is_made, string};

/// Writes a session of a client.
pub fn begin(project: &ProjectId, session: &Session) -> Result<Write, Error> {
    let write = Write::create(session_key(project, session.user_id, session.id), session)?.expires(session.expires_at);
    let client = session.client.iter().map(|client| Target::new(TargetKind::OauthClient, client.id));
    Ok(listed(write, project, session.id).begins(session).targets(client))
}

/// Ends a session whose refresh token was stolen, and everything that is based on the same grant.
/// Fails with [`Label::Code`] if the session has already ended.
pub fn end(project: &ProjectId, session: &Session) -> Write {
    let client = session.client.as_ref();
    let grant = client.and_then(|client| Some((OauthGrant::id(client.id), client.grant?)));
    let end = match grant {
        Some((id, serial)) => {
            Write::delete(grant_key(project, session.user_id, id)).on("d.serial = :serial").value(":serial", string(serial.to_string()))
        }
        None => Write::delete(session_key(project, session.user_id, session.id)).on("attribute_exists(pk)"),
    };
    end.labelled(Label::Code).about(session.user_id).tells([Event::ClientTokenReplayed])
}

impl Store {
    /// Replaces the refresh token of a session, and records the use of the session at `now`;
    /// `false` if another request has replaced the token since `before` was read, or if the session
    /// has ended.
    pub async fn rotate(
        &self,
        project: &ProjectId,
        session: &Session,
        before: &Rotation,
        next: &Rotation,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let key = session_key(project, session.user_id, session.id);
        let write = Write::update(key, format!("SET d.client.rotation = :next, d.last_used_at = :now REMOVE {CARRIED}"))
            .on("d.client.rotation.digest = :digest")
            .entity(":next", next)?
            .value(":digest", string(before.digest.as_str()))
            .value(":now", integer(now.as_millisecond()));
        is_made(self.write_unrecorded(write).await)
    }
}
