//! Issues the tokens of a client's session.

use std::time::Duration;

use errors::Error;
use flows::context::Scope;
use flows::openid::targets::TokenTarget;
use flows::signing_keys;
use model::openid::client::OauthClient;
use model::session::Session;
use model::session::scope::{self, Scopes};
use model::session::token::Subject;
use model::session::token::client::{TokenType, UserClaims};
use model::user::{Channel, User};

use crate::client_tokens::answer::{ClientTokens, ScopeText};

/// The tokens to issue.
pub(crate) struct Issue<'a> {
    pub(crate) scope: Scope<'a>,
    pub(crate) client: &'a OauthClient,
    pub(crate) user: &'a User,
    pub(crate) session: &'a Session,
    /// The nonce of the request that started the session.
    pub(crate) nonce: Option<String>,
    /// The scopes of the access token, if the client requests fewer scopes than the session has.
    pub(crate) narrowed: Option<Scopes>,
    /// The resource for which the access token is valid; `None` for the project or its userinfo
    /// endpoint.
    pub(crate) target: Option<TokenTarget>,
}

impl Issue<'_> {
    pub(crate) async fn tokens(self, refresh_token: Option<String>) -> Result<ClientTokens, Error> {
        let Self { scope: Scope { app, project, .. }, client, user, session, nonce, narrowed, target } = self;
        let Some(mut own) = session.client.as_deref().cloned() else { return Err(errors::KnownError::InternalError.into()) };
        // The client's permitted scopes may have been reduced since the sign-in.
        own.scopes = narrowed.unwrap_or(own.scopes).only(&client.scopes);
        let (now, usual) = (app.clock.now(), app.settings.access_token_life);
        let seconds = target.as_ref().and_then(|target| target.resource.access_token_seconds).or(client.access_token_seconds);
        let life = seconds.map_or(usual, |seconds| Duration::from_secs(seconds.into()));
        let is_confirmed = user.primary().is_some_and(Channel::is_confirmed);
        let subject = Subject::of(user, &project.id, &project.config, session);
        let resource = target.as_ref().map(|target| (&target.resource.identifier, &target.scopes));
        let name = client.name();
        let claims =
            app.signer.client_claims((&subject, is_confirmed), session, (name.clone(), &own, resource), app.entropy.uuid(), (now, life));
        let algorithm = target.as_ref().map_or(client.signing_algorithm, |target| target.resource.signing_algorithm);
        let access_token = signing_keys::sign_claims(app, project, algorithm, TokenType::Access, &claims).await?;
        let id_token = if own.scopes.has(scope::Scope::Openid) {
            let about = UserClaims::of(user, &own.scopes);
            let claims = app.signer.id_claims(&project.id, about, (session, &name), (nonce, &access_token), (now, life));
            Some(signing_keys::sign_claims(app, project, client.signing_algorithm, TokenType::Id, &claims).await?)
        } else {
            None
        };
        Ok(ClientTokens {
            access_token,
            token_type: "Bearer",
            expires_in: life.as_secs(),
            scope: ScopeText(target.map_or(own.scopes, |target| target.scopes)),
            refresh_token,
            id_token,
        })
    }
}
