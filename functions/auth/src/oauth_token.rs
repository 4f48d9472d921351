//! `POST /api/v1/auth/oauth/token`: the token endpoint (RFC 6749 §3.2). Exchanges an authorization
//! code, a refresh token, a device code (RFC 8628) or a server key for an access token.
//!
//! The client id and the client secret are in the body or in the header. The body is JSON or a
//! form, and the header uses HTTP Basic. Access headers are optional, but must be valid if they are
//! sent. Errors have the form of RFC 6749 §5.2, plus Gatelet's `code` and `details`. A layer writes
//! the errors, because some of them occur before the handler runs.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem};
use api::http::client::Caller;
use api::http::{BodyRule, Route};
use api::product::client_input::ClientInput;
use api::product::{Access, Client};
use axum::extract::State;
use errors::ErrorCode;
use flows::App;
use model::limit::Limit;

use crate::oauth::exchange::{TokenError, TokenRequest, exchange};
use crate::oauth::tokens::Tokens;

pub const ROUTE: Route = Route::post("auth-oauth-token", "/api/v1/auth/oauth/token")
    .summary("Exchanges a code, a refresh token or a server key for an access token")
    .limit(Limit::Token)
    .body(BodyRule::OauthForm)
    .table(&[BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem])
    .errors(&[
        ErrorCode::InvalidOauthClientIdOrSecret,
        ErrorCode::PublishableClientKeyRequiredForProject,
        ErrorCode::RefreshTokenNotFoundOrExpired,
        ErrorCode::InvalidAuthorizationCode,
        ErrorCode::InvalidPollingCode,
        ErrorCode::AuthorizationPending,
        ErrorCode::SlowDown,
        ErrorCode::DeviceCodeExpired,
        ErrorCode::DeviceDenied,
        ErrorCode::MultiFactorAuthenticationRequired,
        ErrorCode::RestrictedUserNotAllowed,
        ErrorCode::OauthConnectionAlreadyConnectedToAnotherUser,
        ErrorCode::ContactChannelAlreadyUsedForAuthBySomeoneElse,
    ]);

pub async fn handle(
    State(app): State<App>,
    caller: Caller,
    _: Option<Access<Client>>,
    ClientInput { body, .. }: ClientInput<TokenRequest>,
) -> Result<Tokens, TokenError> {
    exchange(&app, &caller, body, ROUTE).await
}
