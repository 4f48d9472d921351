//! Authorization codes, which contain their user's id.

use errors::{Error, KnownError};
use flows::App;
use model::project::Project;
use model::project::redirect::RedirectUrl;
use model::trail::Event;
use secrecy::{ExposeSecret as _, SecretString};
use store::provider::authorization::AuthorizationCode;
use url::Url;
use uuid::Uuid;
use wire::id::UserId;

/// A new code for a user.
pub(crate) fn new(app: &App, user: UserId) -> SecretString {
    let random = Uuid::from_bytes(app.entropy.bytes());
    format!("{}{}", user.uuid().as_simple(), random.as_simple()).into()
}

/// The redirect URI with a code and the app's state.
pub(crate) fn url(redirect_uri: &RedirectUrl, code: &SecretString, state: &str) -> Url {
    let mut url = redirect_uri.with_query("code", code.expose_secret());
    url.query_pairs_mut().append_pair("state", state);
    url
}

/// Ends the session of a code that was already redeemed: a second use means that the code was
/// stolen. Returns the error for the request.
pub(crate) async fn revoke(app: &App, project: &Project, stored: &AuthorizationCode) -> Error {
    let ended = match stored.session_id {
        Some(session) => app.store.end_session(&project.id, stored.user_id, session, Event::SessionsEnded).await.map(drop),
        None => Ok(()),
    };
    ended.map_or_else(Error::from, |()| KnownError::InvalidAuthorizationCode.into())
}

/// The user of a code; `None` if it is malformed.
pub(crate) fn user_of(code: &SecretString) -> Option<UserId> {
    let code = code.expose_secret();
    let is_code = code.len() == 64 && code.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    let user = code.get(..32).filter(|_| is_code)?;
    UserId::parse(&Uuid::try_parse(user).ok()?.to_string()).ok()
}
