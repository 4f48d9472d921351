//! `POST /api/v1/auth/anonymous/sign-up`: creates an anonymous user, who has no email address and
//! no credentials. If the user later signs up with the access token, the account keeps its data and
//! its id.
//!
//! Anonymous sign-up is unavailable if the project has disabled sign-up. In the project `internal`,
//! anonymous sign-up is always unavailable. The id of `internal` is public and its users are the
//! owners of projects, so it needs no anonymous users.

use api::http::TableAction::{BatchGetItem, PutItem};
use api::http::{Admission, Json, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::teams::welcome;
use model::limit::Limit;
use model::user::User;
use store::user;

use crate::sign_in::tokens::{NewSession, SignInTokens};

pub const ROUTE: Route = Route::post("auth-anonymous-sign-up", "/api/v1/auth/anonymous/sign-up")
    .summary("Creates an anonymous user")
    .limit(Limit::AnonymousSignUp)
    .admits(Admission::Restricted)
    .table(&[BatchGetItem, PutItem])
    .errors(&[ErrorCode::SignUpNotEnabled]);

pub async fn handle(State(app): State<App>, access: Access<Client>, _: Input) -> Result<Json<SignInTokens>, Error> {
    let project = &access.project;
    if !project.config.sign_up_enabled || project.id.is_internal() {
        return Err(KnownError::SignUpNotEnabled.into());
    }
    let mut user = User { is_anonymous: true, ..User::new(&app.entropy, app.clock.now()) };
    let gifts = welcome(&app, project, &mut user)?;
    let session = NewSession::start(&app, project, &user, &access.place, Vec::new());
    let mut writes = vec![user::create(&project.id, &user)?];
    writes.extend(session.writes(project)?);
    writes.extend(gifts);
    app.store.transact(writes).await?;
    Ok(Json(session.signed_in(&app, project, &user).await?))
}
