//! Authorization codes of the project's apps.

use errors::{Error, KnownError};
use flows::App;
use model::project::Project;
use model::project::redirect::RedirectUrl;
use model::trail::Event;
use secrecy::{ExposeSecret as _, SecretString};
use store::provider::authorization::AuthorizationCode;
use url::Url;

/// The redirect URI with a code and the app's state.
pub(crate) fn url(redirect_uri: &RedirectUrl, code: &SecretString, state: &str) -> Url {
    let mut url = redirect_uri.with_query("code", code.expose_secret());
    url.query_pairs_mut().append_pair("state", state);
    url
}

/// Ends the session of a code that was redeemed earlier, because a second use means that the code
/// was stolen. Returns the error for the request that used the code again.
pub(crate) async fn revoke(app: &App, project: &Project, stored: &AuthorizationCode) -> Error {
    let ended = match stored.session_id {
        Some(session) => app.store.end_session(&project.id, stored.user_id, session, Event::SessionsEnded).await.map(drop),
        None => Ok(()),
    };
    ended.map_or_else(Error::from, |()| KnownError::InvalidAuthorizationCode.into())
}
