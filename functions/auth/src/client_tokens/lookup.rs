//! Looks up a client's token, for introspection and revocation.

use errors::Error;
use flows::{App, signing_keys};
use model::openid::client::OauthClient;
use model::openid::grant::{OauthGrant, is_granted};
use model::project::Project;
use model::session::Session;
use model::session::client::ClientSession;
use model::session::rotation::{RefreshToken, Use};
use model::session::token::client_verification::ClientTokenClaims;
use model::user::User;
use store::keys::user_key;
use store::openid::grant_key;
use store::session::session_key;
use store::user::UserRow;

/// A valid token of a client, with its user and session.
pub(crate) struct ClientToken {
    pub(crate) user: User,
    pub(crate) session: Session,
    pub(crate) client: ClientSession,
    /// The claims of an access token. `None` for a refresh token.
    pub(crate) claims: Option<ClientTokenClaims>,
}

impl ClientToken {
    /// Finds a token that belongs to this client and is still valid.
    pub(crate) async fn find(app: &App, project: &Project, client: &OauthClient, text: &str) -> Result<Option<Self>, Error> {
        let refresh = RefreshToken::parse(text);
        let (user, session, claims) = match &refresh {
            Some(token) => (token.user_id, token.session_id, None),
            None => match claimed(app, project, client, text).await? {
                Some(claims) => (claims.sub, claims.sid, Some(claims)),
                None => return Ok(None),
            },
        };
        let keys =
            [user_key(&project.id, user), session_key(&project.id, user, session), grant_key(&project.id, user, OauthGrant::id(client.id))];
        let mut items = app.store.get_many(keys.clone()).await?;
        let row = items.take(&keys[0]).map(UserRow::of).transpose()?;
        let session = items.entity::<Session>(&keys[1])?;
        let grant = items.entity::<OauthGrant>(&keys[2])?;
        let Some((user, session)) = row.map(|row| row.user).zip(session) else { return Ok(None) };
        let Some(own) = session.client.as_deref().filter(|own| own.id == client.id).cloned() else { return Ok(None) };
        let now = app.clock.now();
        let is_current = refresh.is_none_or(|token| {
            own.rotation.as_ref().is_some_and(|rotation| matches!(rotation.used(&token, now), Use::Current | Use::Again(_)))
        });
        let lives = session.is_live(&user, &project.config.sessions, now)
            && is_granted(own.grant, grant.as_ref())
            && client.is_first_party == own.is_first_party()
            && user.restricted_reason_in(&session, &project.config).is_none();
        Ok((is_current && lives).then_some(Self { user, session, client: own, claims }))
    }
}

/// The claims of an access token of this client, which can be for any service.
async fn claimed(app: &App, project: &Project, client: &OauthClient, text: &str) -> Result<Option<ClientTokenClaims>, Error> {
    signing_keys::learn_for(app, &project.id, text).await?;
    let claims = app.signer.verify_client_for_any(text, &project.id, app.clock.now()).ok();
    Ok(claims.filter(|claims| claims.client_id == client.name()))
}
