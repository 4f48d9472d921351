//! Redeems authorization codes. A code belongs to one client, one redirect URI and one PKCE
//! challenge, and works only once. A second use means that the code was stolen, so the session that
//! the first use started ends (RFC 6749 §4.1.2). If the user's credentials or the grant change
//! while the code is redeemed, the new session ends when it is first used.

use errors::{Error, KnownError};
use flows::context::Scope;
use flows::limits;
use flows::openid::{self, targets};
use jiff::SignedDuration;
use model::openid::client::OauthClient;
use model::openid::code::ClientCode;
use model::openid::grant::{OauthGrant, is_granted};
use model::session::client::ClientSession;
use model::session::rotation::RefreshToken;
use model::session::{Amr, Session};
use model::sign_in::user_code;
use model::trail::Event;
use model::user::User;
use secrecy::{ExposeSecret as _, SecretString};
use store::keys::user_key;
use store::openid::{code_key, grant_key};
use store::session::session_key;
use store::user::UserRow;
use store::{Items, Key};
use wire::clock::after;
use wire::id::{OauthClientId, ProjectId, SessionId};

use crate::client_tokens::answer::ClientTokens;
use crate::client_tokens::issue::Issue;

/// A client's request to redeem a code.
pub(crate) struct Redemption {
    pub(crate) code: SecretString,
    pub(crate) redirect_uri: Option<String>,
    pub(crate) verifier: Option<SecretString>,
    /// The resource for which the client requests the access token.
    pub(crate) resource: Option<String>,
}

impl Redemption {
    /// The keys of the items to read together with the client, which are the code, the user, and
    /// the user's grant.
    pub(crate) fn keys(&self, project: &ProjectId, client: OauthClientId) -> Vec<Key> {
        let Some(user) = user_code::user_of(&self.code) else { return Vec::new() };
        vec![code_key(project, &self.code), user_key(project, user), grant_key(project, user, OauthGrant::id(client))]
    }

    pub(crate) async fn redeem(self, scope: Scope<'_>, client: &OauthClient, mut items: Items) -> Result<ClientTokens, Error> {
        let Scope { app, project, place } = scope;
        let invalid = || Error::from(KnownError::InvalidAuthorizationCode);
        let Some(stored) = items.entity::<ClientCode>(&code_key(&project.id, &self.code))? else {
            limits::unknown_token(app, &project.id, place).await?;
            return Err(invalid());
        };
        // If another client sends the code, the code stays valid, because the client to which it
        // was issued did nothing wrong.
        if stored.client_id != client.id {
            limits::unknown_token(app, &project.id, place).await?;
            return Err(invalid());
        }
        // A caller without the verifier did not take part in the flow and must not be able to end
        // its session.
        if !stored.is_verified_by(self.verifier.as_ref()) {
            return Err(invalid());
        }
        if let Some(session) = stored.session_id {
            return self.replayed(scope, &stored, session).await;
        }
        let now = app.clock.now();
        let row = items.take(&user_key(&project.id, stored.user_id)).map(UserRow::of).transpose()?;
        let row = row.filter(|row| row.user.credential_epoch == stored.epoch && stored.expires_at > now).ok_or_else(invalid)?;
        let grant = items.oauth_grant(&project.id, stored.user_id, client.id)?;
        let is_for = self.redirect_uri.as_ref() == Some(&stored.redirect_uri);
        let is_same = client.is_first_party == stored.grant.is_none();
        if !is_for || !is_same || !is_granted(stored.grant, grant.as_ref()) {
            return Err(invalid());
        }
        let begun = app.store.session(&project.id, stored.user_id, stored.begun_in).await?;
        let begun = begun.filter(|begun| begun.is_live(&row.user, &project.config.sessions, now)).ok_or_else(invalid)?;
        let (session, token) = started(scope, client, &stored, &row.user, &begun);
        let is_restricted = row.user.restricted_reason_in(&session, &project.config).is_some();
        if is_restricted || !openid::is_admitted(app, project, client, &row.user).await? {
            return Err(invalid());
        }
        let target = targets::target(app, project, self.resource.as_deref(), &stored.resources).await?;
        if !app.store.redeem_client_code(&project.id, &self.code, &session).await? {
            let taken = app.store.client_code(&project.id, &self.code).await?.and_then(|code| code.session_id);
            return match taken {
                Some(session) => self.replayed(scope, &stored, session).await,
                None => Err(invalid()),
            };
        }
        let issue = Issue { scope, client, user: &row.user, session: &session, nonce: stored.nonce, narrowed: None, target };
        issue.tokens(token.map(|token| token.text().expose_secret().to_owned())).await
    }

    /// Ends the session of a code that is used a second time.
    async fn replayed(&self, scope: Scope<'_>, stored: &ClientCode, session: SessionId) -> Result<ClientTokens, Error> {
        scope.app.store.end_session(&scope.project.id, stored.user_id, session, Event::SessionsEnded).await?;
        Err(KnownError::InvalidAuthorizationCode.into())
    }
}

/// The session that a code starts, and its refresh token if the client gets one. The client's
/// session does not outlast the session in which the user granted access.
fn started(scope: Scope<'_>, client: &OauthClient, stored: &ClientCode, user: &User, begun: &Session) -> (Session, Option<RefreshToken>) {
    let Scope { app, project, place } = scope;
    let now = app.clock.now();
    let session = Session::start(user, &project.config.sessions, Some(place.clone()), &app.entropy, now);
    let seconds = client.session_seconds.map(|seconds| after(now, SignedDuration::from_secs(seconds.into())));
    let mut client = ClientSession {
        id: client.id,
        name: client.name.clone(),
        scopes: stored.scopes.clone(),
        resources: stored.resources.clone(),
        grant: stored.grant,
        begun_in: stored.begun_in,
        rotation: None,
    };
    let token = client.is_offline().then(|| RefreshToken::first(user.id, session.id, &app.entropy));
    let (token, rotation) = token.unzip();
    client.rotation = rotation;
    let amr: Vec<Amr> = stored.amr.clone();
    let expires_at = seconds.map_or(session.expires_at, |end| end.min(session.expires_at));
    let session = Session { amr, expires_at, client: Some(Box::new(client)), ..session };
    (session.within(&begun.limits()), token)
}

/// The key of the session to which a refresh token belongs, for reading the session together with
/// the client.
pub(crate) fn key_of_session(project: &ProjectId, token: &RefreshToken) -> Key {
    session_key(project, token.user_id, token.session_id)
}
