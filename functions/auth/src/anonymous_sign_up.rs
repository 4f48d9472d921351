//! `POST /api/v1/auth/anonymous/sign-up`: creates an anonymous user, who has no email address and
//! no credentials. A later sign-up with the user's access token keeps the user and its id.

use api::http::TableAction::{BatchGetItem, PutItem};
use api::http::{Json, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use errors::Error;
use flows::App;
use flows::teams::welcome;
use model::limit::Limit;
use model::user::User;
use store::user;

use crate::sign_in::tokens::{NewSession, SignedIn};

pub const ROUTE: Route = Route::post("auth-anonymous-sign-up", "/api/v1/auth/anonymous/sign-up")
    .summary("Creates an anonymous user")
    .limit(Limit::AnonymousSignUp)
    .open_to_restricted()
    .table(&[BatchGetItem, PutItem]);

pub async fn handle(State(app): State<App>, access: Access<Client>, _: Input) -> Result<Json<SignedIn>, Error> {
    let mut user = User { is_anonymous: true, ..User::new(&app.entropy, app.clock.now()) };
    let gifts = welcome(&app, &access.project, &mut user)?;
    let session = NewSession::start(&app, &access.project, &user, &access.place, Vec::new());
    let mut writes = vec![user::create(&access.project.id, &user)?];
    writes.extend(session.writes(&access.project)?);
    writes.extend(gifts);
    app.store.transact(writes).await?;
    Ok(Json(session.signed_in(&app, &access.project, &user)))
}
