//! `POST /api/v1/auth/oauth/callback/apple/native`: signs in with the identity token that Sign in
//! with Apple gives to an app on the user's device.
//!
//! Without a redirect, there is no code that only the app can redeem, so anyone who has the token
//! can use it. The token must therefore have been issued for an app of the project, and works only
//! once. A token that contains a nonce works only together with the nonce.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem};
use api::http::{Json, Need, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use jiff::SignedDuration;
use model::limit::Limit;
use model::project::Project;
use model::project::apple_bundle::APPLE;
use model::provider::catalog::{self, Identity};
use model::provider::profile::Fields;
use model::sign_in::authorization::native_nonce;
use model::text::line;
use net::outgoing::Outgoing;
use oauth::id_token::{self, Expectations, VerificationError};
use serde_json::Value;
use store::provider::used_token::use_token;
use utoipa::ToSchema;
use wire::clock::after;

use crate::oauth::native::NativeSignIn;
use crate::oauth::owners::account_of;
use crate::sign_in::tokens::SignInOrUpTokens;

pub const ROUTE: Route = Route::post("auth-oauth-apple-native", "/api/v1/auth/oauth/callback/apple/native")
    .summary("Signs in with an identity token of Apple's native sign-in")
    .limit(Limit::Code)
    .needs(&[Need::Providers])
    .table(&[BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem])
    .errors(&[
        ErrorCode::OauthProviderNotFoundOrNotEnabled,
        ErrorCode::OauthProviderTemporarilyUnavailable,
        ErrorCode::AppleBundleIdNotConfigured,
        ErrorCode::InvalidAppleCredentials,
        ErrorCode::ContactChannelAlreadyUsedForAuthBySomeoneElse,
        ErrorCode::OauthConnectionAlreadyConnectedToAnotherUser,
        ErrorCode::SignUpNotEnabled,
        ErrorCode::SignUpRejected,
        ErrorCode::MultiFactorAuthenticationRequired,
    ]);

/// The time for which a used token is remembered after it has expired. The extra time is needed
/// because clocks differ.
const MEMORY: SignedDuration = SignedDuration::from_mins(5);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct AppleSignIn {
    /// The identity token (`ASAuthorizationAppleIDCredential.identityToken`).
    id_token: String,
    /// The nonce. The app's request to Apple contained the SHA-256 digest of the nonce in
    /// hexadecimal digits. Required if the token contains a nonce.
    nonce: Option<String>,
    /// The user's name, which Apple gives only to the app, and only at the first sign-in. The name
    /// becomes the name of a new user.
    full_name: Option<String>,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, .. }: Input<AppleSignIn>,
) -> Result<Json<SignInOrUpTokens>, Error> {
    let claims = verify(&app, &access.project, &body).await?;
    let invalid = KnownError::InvalidAppleCredentials;
    let mut profile = Fields::OPENID.read(&claims).map_err(|_| invalid.clone())?;
    let name = body.full_name.as_deref().map(|name| line::to_line(name.trim(), line::MAX_NAME));
    profile.name = profile.name.or_else(|| name.filter(|name| !name.is_empty()));
    let expires_at = id_token::expiry(&claims).ok_or_else(|| invalid.clone())?;
    let native = NativeSignIn {
        access: &access,
        account: account_of(&app, &access.project, APPLE, &profile),
        profile,
        used: use_token(&access.project.id, &body.id_token, after(expires_at, MEMORY))?,
        replayed: invalid,
    };
    native.sign_in().await.map(Json)
}

/// The claims of the token if the token is valid for an app of the project.
async fn verify(app: &App, project: &Project, body: &AppleSignIn) -> Result<Value, KnownError> {
    let provider = project.config.oauth_provider(APPLE).ok_or(KnownError::OauthProviderNotFoundOrNotEnabled)?;
    let Some(Identity::IdToken { issuer, jwks_uri }) = catalog::find(APPLE).map(|known| known.identity) else {
        return Err(KnownError::OauthProviderNotFoundOrNotEnabled);
    };
    let client_ids: Vec<&str> = provider.apple_bundles.values().map(String::as_str).collect();
    if client_ids.is_empty() {
        return Err(KnownError::AppleBundleIdNotConfigured);
    }
    let nonce = body.nonce.as_ref().map(|nonce| native_nonce(nonce));
    let expected = Expectations { issuer, jwks_uri, client_ids: &client_ids, nonce: nonce.as_deref(), shared: None };
    id_token::verify(Outgoing::new(&app.settings, &project.id), &body.id_token, &expected, app.clock.now()).await.map_err(|error| {
        tracing::warn!(%error, project = %project.id, "an identity token from Apple was not accepted");
        match error {
            VerificationError::Token(_) => KnownError::InvalidAppleCredentials,
            VerificationError::Keys(_) => KnownError::OauthProviderTemporarilyUnavailable,
        }
    })
}
