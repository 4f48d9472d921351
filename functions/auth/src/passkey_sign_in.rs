//! `POST /api/v1/auth/passkey/sign-in`: signs in with a passkey, which also identifies the user.
//!
//! The request names the challenge and the user, so the items are read in the round trip that
//! authenticates the request. One transaction writes the use of the passkey, the challenge and the
//! session.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, Query, UpdateItem};
use api::http::{Admission, Json, NamedItem, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use crypto::webauthn::client_data::Ceremony;
use deserr::Deserr;
use errors::{CODE_ERRORS, Error, ErrorCode};
use flows::App;
use model::code::Code;
use model::limit::Limit;
use model::session::Amr;
use model::trail::Event;
use serde_json::Value;
use store::optimistic;
use utoipa::ToSchema;

use crate::passkeys::proof::{PasskeyProof, PasskeyUse};
use crate::sign_in::tokens::{NewSession, SignInOrUpTokens};
use crate::sign_in::{notice, remembered, required_teams, second_factor};

pub const ROUTE: Route = Route::post("auth-passkey-sign-in", "/api/v1/auth/passkey/sign-in")
    .summary("Signs in with a passkey")
    .limit(Limit::SignIn)
    .admits(Admission::Restricted)
    .table(&[BatchGetItem, GetItem, PutItem, Query, UpdateItem])
    .reads(&[NamedItem::Challenge(Ceremony::Authentication), NamedItem::PasskeyUser])
    .errors(CODE_ERRORS)
    .errors(&[
        ErrorCode::PasskeyAuthenticationNotEnabled,
        ErrorCode::PasskeyAuthenticationFailed,
        ErrorCode::MultiFactorAuthenticationRequired,
    ]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct PasskeySignIn {
    /// The code that was returned with the options.
    code: Code,
    /// The browser's `AuthenticationResponseJSON`.
    #[schema(value_type = Object)]
    authentication_response: Value,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, .. }: Input<PasskeySignIn>,
) -> Result<Json<SignInOrUpTokens>, Error> {
    let proof = PasskeyProof {
        access: &access,
        code: &body.code,
        response: &body.authentication_response,
        attempt: None,
        failed: Event::SignInFailed,
    };
    optimistic!(|attempt| {
        let proved = proof.check(attempt, None).await?;
        sign_in(&app, &proof, proved).await.map(Json)
    })
}

async fn sign_in(app: &App, proof: &PasskeyProof<'_>, proved: PasskeyUse) -> Result<SignInOrUpTokens, Error> {
    let (project, place) = (&proof.access.project, &proof.access.place);
    let mut user = proved.user.clone();
    user.forget_wrong_passwords();
    let amr = proved.amr(project);
    let is_two_factors = amr.contains(&Amr::Mfa);
    let device = if is_two_factors { None } else { remembered::read(app, project, &user, proof.access.device.as_ref()).await? };
    if !is_two_factors
        && device.is_none()
        && let Some((attempt, required)) = second_factor::required(app, project, &user, false, Amr::Pop)?
    {
        proof.redeem(&proved, &user, vec![attempt]).await?;
        return Err(required.into());
    }
    let session = NewSession::start(app, project, &user, place, amr).on(device);
    let mut writes = session.writes(project)?;
    writes.extend(notice::write(app, project, &user, place).await?);
    proof.redeem(&proved, &user, writes).await?;
    required_teams::renew(app, project, &mut user).await?;
    Ok(SignInOrUpTokens { signed_in: session.signed_in(app, project, &user).await?, is_new_user: false })
}
