//! `POST /api/v1/projects/{project_id}/oauth2/revoke`: ends the session of a token (RFC 7009). The
//! response is the same if the token is unknown or no longer valid.

use api::http::TableAction::{BatchGetItem, DeleteItem, UpdateItem};
use api::http::client::Caller;
use api::http::{BodyRule, Json, Route};
use api::product::client_input::ClientInput;
use api::product::input::ProjectPath;
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;
use flows::literal::{SUCCESS, Success};
use model::limit::Limit;
use model::trail::Event;
use store::record;

use crate::client_tokens::lookup::ClientToken;
use crate::client_tokens::proof::{self, TokenOfClient};

pub const ROUTE: Route = Route::post("auth-oauth-client-revoke", "/api/v1/projects/{project_id}/oauth2/revoke")
    .summary("Ends the session of an OAuth client's token")
    .limit(Limit::OauthClient)
    .body(BodyRule::OauthForm)
    .table(&[BatchGetItem, DeleteItem, UpdateItem])
    .errors(&[ErrorCode::InvalidOauthClientIdOrSecret]);

pub async fn handle(
    State(app): State<App>,
    caller: Caller,
    ClientInput { body, path }: ClientInput<TokenOfClient, ProjectPath>,
) -> Result<Json<Success>, Error> {
    let proved = proof::prove_client(&app, &caller, &path, &body.client_id, body.client_secret.as_deref()).await?;
    record::on(&proved.project);
    let token = ClientToken::find(&app, &proved.project, &proved.client, &body.token).await?;
    if let Some(ClientToken { session, .. }) = token {
        app.store.end_session(&proved.project.id, session.user_id, session.id, Event::SessionsEnded).await?;
    }
    Ok(Json(SUCCESS))
}
