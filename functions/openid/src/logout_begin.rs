//! `POST /api/v1/auth/oauth2/logouts`: checks the request of a client to sign a user out
//! (RP-Initiated Logout 1.0 §2), and tells the page whether to ask the user. The end-session
//! endpoint of the project is a page that calls this operation.
//!
//! Any site can send a browser to the page. The user is therefore asked to confirm, unless an ID
//! token proves that the client's session was started in the current session.

use api::http::TableAction::{BatchGetItem, GetItem};
use api::http::{Admission, Json, Route};
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::signing_keys;
use model::openid::parameters::{MAX_QUERY, Parameters};
use model::openid::request::Refusal;
use model::session::Session;
use model::session::token::client_verification::IdTokenHint;
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::SessionId;
use wire::problem::Problems;

pub const ROUTE: Route = Route::post("openid-logout-begin", "/api/v1/auth/oauth2/logouts")
    .summary("Checks the request of an OAuth client to sign a user out")
    .admits(Admission::Restricted)
    .writes_nothing()
    .table(&[BatchGetItem, GetItem])
    .errors(&[ErrorCode::AuthorizationRequestInvalid]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct LogoutRequest {
    /// The parameters of the request, form-encoded like a query, with at most 8 KB.
    #[schema(example = "id_token_hint=…&post_logout_redirect_uri=…&state=…", max_length = 8192)]
    parameters: String,
}

#[derive(Serialize, ToSchema)]
pub struct Logout {
    /// The name of the client. `null` if the request does not name a client.
    client_name: Option<String>,
    /// The URL to which the user must be sent after the sign-out. `null` if the user stays on the
    /// page.
    redirect_url: Option<String>,
    /// Whether the current session may be ended without asking the user.
    is_proved: bool,
    /// The session of the client, which must also end. `null` if the session is unknown or belongs
    /// to another user.
    client_session_id: Option<SessionId>,
}

pub async fn handle(access: Access<Client>, Input { body, .. }: Input<LogoutRequest>) -> Result<Json<Logout>, Error> {
    if body.parameters.len() > MAX_QUERY {
        return Err(ROUTE.schema_error(&Problems::one("body.parameters", format!("must have at most {MAX_QUERY} bytes"))).into());
    }
    let parameters = Parameters::parse(&body.parameters);
    let request = parameters.logout().map_err(invalid)?;
    let (app, project) = (&access.app, &access.project.id);
    let hint = match &request.id_token_hint {
        Some(token) => Some(hint(&access, token).await?),
        None => None,
    };
    if hint.as_ref().zip(request.client_id.as_ref()).is_some_and(|(hint, client)| hint.aud != *client) {
        return Err(invalid(Refusal::invalid("client_id is not the client of id_token_hint")).into());
    }
    let client = match hint.as_ref().map(|hint| &hint.aud).or(request.client_id.as_ref()) {
        Some(name) => {
            Some(app.store.oauth_client(project, name.id()).await?.ok_or_else(|| invalid(Refusal::invalid("the client does not exist")))?)
        }
        None => None,
    };
    let client = client.map(|row| row.client).filter(|client| client.is_permitted(&access.project.config.oauth_clients));
    let redirect_url = match (&request.redirect_uri, &client) {
        (None, _) => None,
        // Anybody can be a client that describes itself, and must not send visitors of this page
        // anywhere.
        (Some(uri), Some(client)) if client.may_leave_to(uri) && (client.origin.is_none() || hint.is_some()) => {
            Some(request.returning(uri))
        }
        (Some(_), _) => {
            let reason = "post_logout_redirect_uri is not one of the client's, or id_token_hint and client_id are missing";
            return Err(invalid(Refusal::invalid(reason)).into());
        }
    };
    let of_client = match &hint {
        Some(hint) => own_session(&access, hint).await?,
        None => None,
    };
    let current = access.user.as_ref().filter(|user| hint.as_ref().is_some_and(|hint| hint.sub == user.row.user.id));
    let is_proved = current.zip(hint.as_ref()).is_some_and(|(user, hint)| match &of_client {
        Some(session) => session.client.as_ref().is_some_and(|client| client.begun_in == user.session.id),
        // The client revoked its tokens before it signed the user out.
        None => hint.is_of(&user.session),
    });
    Ok(Json(Logout {
        client_name: client.map(|client| client.name),
        redirect_url,
        is_proved,
        client_session_id: of_client.map(|session| session.id),
    }))
}

/// The claims of an ID token that was sent as a hint. The token may have expired.
async fn hint(access: &Access<Client>, token: &str) -> Result<IdTokenHint, Error> {
    signing_keys::learn_for(&access.app, &access.project.id, token).await?;
    let hint = access.app.signer.verify_hint(token, &access.project.id, access.app.clock.now());
    Ok(hint.map_err(|_| invalid(Refusal::invalid("id_token_hint is not an ID token of this project")))?)
}

/// The session named in the hint, if it belongs to the current user.
async fn own_session(access: &Access<Client>, hint: &IdTokenHint) -> Result<Option<Session>, Error> {
    let is_own = access.user.as_ref().is_some_and(|user| user.row.user.id == hint.sub);
    if !is_own {
        return Ok(None);
    }
    let session = access.app.store.session(&access.project.id, hint.sub, hint.sid).await?;
    Ok(session.filter(|session| session.client.as_ref().is_some_and(|client| client.id == hint.aud.id())))
}

fn invalid(refusal: Refusal) -> KnownError {
    KnownError::AuthorizationRequestInvalid { oauth_error: refusal.error.code().to_owned(), reason: refusal.description.into_owned() }
}
