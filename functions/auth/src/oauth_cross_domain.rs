//! `POST /api/v1/auth/oauth/cross-domain/authorize`: hands the current session over to another
//! domain. The app on the other domain exchanges the code in the response for the tokens of the
//! same session (`POST /api/v1/auth/oauth/token`), so no URL contains a token.
//!
//! The refresh token in the header proves that the caller has the whole session and not only an
//! access token. The table contains the refresh token in sealed form until the code is redeemed or
//! expires. At all other times, the table contains only the digest of the refresh token.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Admission, Json, Route};
use api::product::header_family::header;
use api::product::{Access, Client, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::{App, limits};
use http::HeaderMap;
use model::project::redirect::RedirectUrl;
use model::sign_in::authorization::is_challenge;
use model::sign_in::user_code;
use secrecy::SecretString;
use serde::Serialize;
use store::provider::authorization::{AuthorizationCode, CODE_LIFE, SessionHandover, create_code};
use url::Url;
use utoipa::ToSchema;
use wire::clock::after;
use wire::problem::Problems;

use crate::oauth::authorize_query::ChallengeMethod;
use crate::oauth::code;

pub const ROUTE: Route = Route::post("auth-oauth-cross-domain", "/api/v1/auth/oauth/cross-domain/authorize")
    .summary("Transfers the current session to another domain")
    .admits(Admission::Owing)
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(&[ErrorCode::UserAuthenticationRequired, ErrorCode::CrossDomainSessionMismatch, ErrorCode::RedirectUrlNotWhitelisted]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct CrossDomain {
    /// The URL at which the app on the other domain receives the code. The URL must be on a trusted
    /// domain.
    redirect_uri: RedirectUrl,
    /// A value of 1 to 512 characters, which is returned unchanged to the app on the other domain.
    #[schema(min_length = 1, max_length = 512)]
    state: String,
    /// The PKCE challenge of the app on the other domain, which has 43 characters (RFC 7636 §4.2).
    code_challenge: String,
    /// Default: `S256`.
    #[deserr(rename = "code_challenge_method")]
    #[schema(rename = "code_challenge_method")]
    _code_challenge_method: Option<ChallengeMethod>,
    /// The URL to which the app on the other domain sends the user after the sign-in. The URL must
    /// be on a trusted domain.
    after_callback_redirect_url: Option<RedirectUrl>,
}

#[derive(Serialize, ToSchema)]
pub struct Handover {
    /// The redirect URI with the code and the state. The user must be sent to this URI.
    redirect_url: Url,
}

pub async fn handle(
    State(app): State<App>,
    headers: HeaderMap,
    access: Access<Client>,
    Input { body, .. }: Input<CrossDomain>,
) -> Result<Json<Handover>, Error> {
    let current = access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?;
    body.check()?;
    let Some(token) = header(&headers, "refresh-token")? else {
        return Err(ROUTE.schema_error(&Problems::one("headers.x-service-refresh-token", "is required")).into());
    };
    let (project, user, token) = (&access.project.id, &current.row.user, SecretString::from(token.to_owned()));
    let Some(claim) = app.store.token_claim(project, &token).await? else {
        limits::unknown_token(&app, project, &access.place).await?;
        return Err(KnownError::CrossDomainSessionMismatch.into());
    };
    let session_id = current.session.id;
    if (claim.user_id, claim.session_id) != (user.id, session_id) {
        return Err(KnownError::CrossDomainSessionMismatch.into());
    }
    for url in [Some(&body.redirect_uri), body.after_callback_redirect_url.as_ref()].into_iter().flatten() {
        access.redirects().check_for_oauth(url)?;
    }
    let refresh_token = app.sealer.seal(&app.entropy, &SessionHandover::owner(project, session_id), &token)?;
    let code = user_code::draw(&app.entropy, user.id);
    let stored = AuthorizationCode {
        user_id: user.id,
        epoch: user.credential_epoch,
        begun_in: None,
        redirect_uri: body.redirect_uri.without_fragment(),
        code_challenge: body.code_challenge,
        after_callback_redirect_url: body.after_callback_redirect_url,
        is_new_user: false,
        expires_at: after(app.clock.now(), CODE_LIFE),
        new_tokens: None,
        pending: None,
        session_id: None,
        handed_over: Some(SessionHandover { session_id, refresh_token: Some(refresh_token) }),
    };
    app.store.write(create_code(project, &code, &stored)?.about(user.id)).await?;
    Ok(Json(Handover { redirect_url: code::url(&stored.redirect_uri, &code, &body.state) }))
}

impl CrossDomain {
    /// Checks the rules that the fields' types do not enforce.
    fn check(&self) -> Result<(), KnownError> {
        let problem = |name: &str, message: &str| Err(ROUTE.schema_error(&Problems::one(&format!("body.{name}"), message)));
        if !(1..=512).contains(&self.state.chars().count()) {
            return problem("state", "must have 1 to 512 characters");
        }
        if !is_challenge(&self.code_challenge) {
            return problem("code_challenge", "must be the 43 characters of a SHA-256 digest in base64url");
        }
        Ok(())
    }
}
