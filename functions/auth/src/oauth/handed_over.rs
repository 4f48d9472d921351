//! Sessions on other domains. An app on another domain redeems a code for the tokens of an existing
//! session, so the user does not have to sign in again on that domain.

use errors::{Error, KnownError};
use flows::context::Scope;
use secrecy::{ExposeSecret as _, SecretString};
use store::provider::authorization::{self, AuthorizationCode, SessionHandover};
use store::user::{self, UserRow};
use store::{Label, session};

use crate::oauth::code::revoke;
use crate::oauth::tokens::Tokens;
use crate::sign_in::required_teams;
use crate::sign_in::tokens::access_token;

/// Redeems a code for the tokens of its session. The session already exists, so no second factor is
/// required. The code is invalid if the session has ended or the user's credentials have changed.
pub(super) async fn redeem(code: &SecretString, scope: Scope<'_>, stored: &AuthorizationCode, row: &UserRow) -> Result<Tokens, Error> {
    let Scope { app, project, .. } = scope;
    let (id, now, invalid) = (&project.id, app.clock.now(), KnownError::InvalidAuthorizationCode);
    let SessionHandover { session_id, refresh_token } = stored.handed_over.as_ref().ok_or_else(|| invalid.clone())?;
    let session = app.store.session(id, row.user.id, *session_id).await?;
    let session = session.filter(|session| session.is_live(&row.user, &project.config.sessions, now)).ok_or_else(|| invalid.clone())?;
    let refresh_token = refresh_token.as_ref().ok_or_else(|| invalid.clone())?;
    let refresh_token = app.sealer.open(&SessionHandover::owner(id, session.id), refresh_token)?;
    let writes = vec![
        authorization::redeem_handed_over(id, code, session.id),
        session::lives(project, row.user.id, session.id, now),
        user::at_epoch(id, row.user.id, stored.epoch),
    ];
    match app.store.transact(writes).await {
        Ok(()) => {
            let mut user = row.user.clone();
            required_teams::renew(app, project, &mut user).await?;
            let token = access_token(app, project, &user, &session).await?;
            Ok(Tokens::from_code(token, refresh_token.expose_secret().to_owned(), stored.clone()))
        }
        Err(store::Error::Conflict(conflict)) if conflict.is_of(Label::Code) => {
            // Another request redeemed the code first.
            let taken = app.store.authorization_code(id, code).await?;
            Err(revoke(app, project, taken.as_ref().unwrap_or(stored)).await)
        }
        Err(store::Error::Conflict(_)) => Err(invalid.into()),
        Err(error) => Err(error.into()),
    }
}
