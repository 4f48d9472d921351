//! The userinfo endpoint (OpenID Connect Core §5.3), which returns claims about the user of a
//! client's access token. The token must be in the header, because URLs are logged, and other sites
//! could send a form without CORS.

use api::http::client::Caller;
use api::http::{Describe, Description, Json};
use api::product::input::ProjectPath;
use axum::response::{IntoResponse, Response};
use errors::{Error, KnownError};
use flows::{App, limits, signing_keys};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use model::openid::grant::{OauthGrant, is_granted};
use model::session::Session;
use model::session::scope::{Scope, Scopes};
use model::session::token::client::UserClaims;
use secrecy::SecretString;
use serde::Serialize;
use store::keys::{project_key, user_key};
use store::openid::{client_key, grant_key};
use store::project::ProjectRow;
use store::session::session_key;
use store::user::UserRow;
use utoipa::ToSchema;
use wire::id::{ProjectId, TeamId, UserId};

/// Claims about the user, selected by the scopes of the token.
#[wire::sparse]
#[derive(Serialize, ToSchema)]
pub struct Userinfo {
    /// The user's id.
    sub: UserId,
    #[serde(flatten)]
    claims: UserClaims,
    /// The ids of the user's teams, at most 500. Present with the scope `teams`.
    teams: Option<Vec<TeamId>>,
    /// The ids of the user's permissions in the project. Present with the scope `permissions`.
    permissions: Option<Vec<String>>,
}

impl IntoResponse for Userinfo {
    fn into_response(self) -> Response {
        ([(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))], Json(self)).into_response()
    }
}

impl Describe for Userinfo {
    fn describe(description: &mut Description) {
        Json::<Self>::describe(description);
    }
}

/// An error in the form of RFC 6750 §3.
pub struct BearerError(Error);

impl<E: Into<Error>> From<E> for BearerError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for BearerError {
    fn into_response(self) -> Response {
        let challenge = match &self.0 {
            Error::Known(KnownError::BearerTokenMissing) => Some("Bearer"),
            Error::Known(KnownError::BearerTokenInvalid) => Some("Bearer error=\"invalid_token\""),
            Error::Known(KnownError::BearerScopeInsufficient) => Some("Bearer error=\"insufficient_scope\", scope=\"openid\""),
            _ => None,
        };
        let mut response = self.0.into_response();
        if let Some(challenge) = challenge {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        debug_assert_ne!(response.status(), StatusCode::OK);
        response
    }
}

/// The token in the header `Authorization`.
fn bearer(headers: &HeaderMap) -> Result<&str, KnownError> {
    let value = headers.get(header::AUTHORIZATION).ok_or(KnownError::BearerTokenMissing)?;
    let (scheme, token) = value.to_str().ok().and_then(|value| value.split_once(' ')).ok_or(KnownError::BearerTokenMissing)?;
    if scheme.eq_ignore_ascii_case("bearer") { Ok(token.trim()) } else { Err(KnownError::BearerTokenMissing) }
}

/// Returns the claims that the token in these headers permits.
pub(crate) async fn userinfo(app: &App, caller: &Caller, headers: &HeaderMap, path: &ProjectPath) -> Result<Userinfo, BearerError> {
    let token = bearer(headers)?;
    let project = ProjectId::parse(&path.project_id).map_err(|_| KnownError::BearerTokenInvalid)?;
    signing_keys::learn_for(app, &project, token).await?;
    let now = app.clock.now();
    let Ok(claims) = app.signer.verify_client(token, &project, now) else {
        limits::unproved(app, None, &caller.place).await?;
        return Err(KnownError::BearerTokenInvalid.into());
    };
    let [project_key, client, user, session, grant] = [
        project_key(&project),
        client_key(&project, claims.client_id.id()),
        user_key(&project, claims.sub),
        session_key(&project, claims.sub, claims.sid),
        grant_key(&project, claims.sub, OauthGrant::id(claims.client_id.id())),
    ];
    let mut items = app.store.get_many([&project_key, &client, &user, &session, &grant].map(Clone::clone)).await?;
    let invalid = || KnownError::BearerTokenInvalid;
    let row = items.take(&project_key).map(ProjectRow::of).transpose()?.ok_or_else(invalid)?;
    let settings = row.project;
    limits::refresh(app, &project, &SecretString::from(token.to_owned()))?;
    let client = items.oauth_client(&project, claims.client_id.id())?;
    let client = client.filter(|client| client.is_permitted(&settings.config.oauth_clients)).ok_or_else(invalid)?;
    let user = items.take(&user).map(UserRow::of).transpose()?.ok_or_else(invalid)?.user;
    let session = items.entity::<Session>(&session)?.ok_or_else(invalid)?;
    let grant = items.entity::<OauthGrant>(&grant)?;
    let own = session.client.as_deref().filter(|own| own.id == client.id && is_granted(own.grant, grant.as_ref()));
    let own = own.filter(|own| own.is_first_party() == client.is_first_party).ok_or_else(invalid)?;
    // The token may have fewer scopes than the session, and the client's permitted scopes may have
    // been reduced since the token was issued.
    let scopes = Scopes::parse(&claims.scope).map_err(|_| invalid())?.only(&own.scopes).only(&client.scopes);
    let lives = session.is_live(&user, &settings.config.sessions, now) && user.restricted_reason_in(&session, &settings.config).is_none();
    if !lives {
        return Err(invalid().into());
    }
    if !scopes.has(Scope::Openid) {
        return Err(KnownError::BearerScopeInsufficient.into());
    }
    let teams = if scopes.has(Scope::Teams) {
        let memberships = app.store.memberships(&project, user.id).await?;
        Some(memberships.iter().take(MAX_TEAMS).map(|membership| membership.team_id).collect())
    } else {
        None
    };
    let permissions = scopes.has(Scope::Permissions).then(|| {
        let granted = settings.config.rbac.granted(&user.permissions, model::permission::Scope::Project, true);
        granted.iter().map(ToString::to_string).collect()
    });
    Ok(Userinfo { sub: user.id, claims: UserClaims::of(&user, &scopes), teams, permissions })
}

/// The maximum number of teams in the response.
const MAX_TEAMS: usize = 500;
