//! Our own authorization codes: 64 hexadecimal digits, of which the first half names the user and the second is random, so that the token
//! endpoint reads code and user at once.
//!
//! A code is bound to its project, its redirect URI and its PKCE challenge, lives for five minutes and works once. When it comes a second
//! time somebody has stolen it, and the session that it gave ends (RFC 6749 §4.1.2, RFC 9700 §2.1.1).

use secrecy::{ExposeSecret as _, SecretString};
use shared::App;
use shared::model::id::UserId;
use shared::model::place::Place;
use shared::model::project::Project;
use shared::model::redirect::RedirectUrl;
use shared::oauth::authorization::challenge;
use shared::product_api::{Error, KnownError};
use shared::store;
use shared::store::authorizations::{self, AuthorizationCode};
use shared::store::users::{self, UserRow};
use subtle::ConstantTimeEq as _;
use uuid::Uuid;

use crate::oauth_token::Tokens;
use crate::tokens::NewSession;

/// A new code for a user.
pub(crate) fn new(app: &App, user: UserId) -> SecretString {
    let random = Uuid::from_bytes(app.entropy.bytes());
    format!("{}{}", user.uuid().as_simple(), random.as_simple()).into()
}

/// Whose code it is, if it is one.
pub(crate) fn user_of(code: &SecretString) -> Option<UserId> {
    let code = code.expose_secret();
    let is_code = code.len() == 64 && code.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    let user = code.get(..32).filter(|_| is_code)?;
    UserId::parse(&Uuid::try_parse(user).ok()?.to_string()).ok()
}

/// What an app shows for a session.
pub(crate) struct Redemption {
    pub(crate) code: SecretString,
    pub(crate) redirect_uri: RedirectUrl,
    pub(crate) verifier: SecretString,
}

impl Redemption {
    pub(crate) async fn redeem(
        self,
        app: &App,
        project: &Project,
        stored: Option<AuthorizationCode>,
        user: Option<UserRow>,
        place: &Place,
    ) -> Result<Tokens, Error> {
        let stored = stored.ok_or(KnownError::InvalidAuthorizationCode)?;
        if !self.fits(&stored) {
            return Err(KnownError::InvalidAuthorizationCode.into());
        }
        if stored.session_id.is_some() {
            return self.revoke(app, project, &stored).await;
        }
        let row = user.ok_or(KnownError::InvalidAuthorizationCode)?;
        if stored.expires_at <= app.clock.now() {
            return Err(KnownError::InvalidAuthorizationCode.into());
        }
        let session = NewSession::start(app, project, &row.user, place);
        let redeem = authorizations::redeem_code(&project.id, &self.code, session.id());
        let writes = [redeem, users::exists(&project.id, row.user.id)].into_iter().chain(session.writes(project)?);
        match app.store.transact(writes).await {
            Ok(()) => Ok(session.tokens_of_code(app, project, &row.user, stored)),
            // Somebody was faster with the same code.
            Err(store::Error::Conflict(failed)) if failed.contains(&0) => {
                let taken = app.store.authorization_code(&project.id, &self.code).await?;
                self.revoke(app, project, &taken.unwrap_or(stored)).await
            }
            Err(store::Error::Conflict(failed)) if failed.contains(&1) => Err(KnownError::InvalidAuthorizationCode.into()),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether whoever shows the code began the flow.
    fn fits(&self, stored: &AuthorizationCode) -> bool {
        let shown = challenge(self.verifier.expose_secret());
        let verifies: bool = shown.as_bytes().ct_eq(stored.code_challenge.as_bytes()).into();
        verifies && self.redirect_uri.without_fragment() == stored.redirect_uri
    }

    async fn revoke(&self, app: &App, project: &Project, stored: &AuthorizationCode) -> Result<Tokens, Error> {
        if let Some(session) = stored.session_id {
            app.store.end_session(&project.id, stored.user_id, session).await?;
        }
        Err(KnownError::InvalidAuthorizationCode.into())
    }
}
