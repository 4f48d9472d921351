//! `POST /api/v1/integrations/credential-scanning/revoke`: revokes an API key of a user or team
//! that was found in public. Secret scanners call this operation, but anyone who has the key may
//! use it to revoke the key.
//!
//! The owner is notified by email, unless the project has disabled notices about API keys. For a
//! team's key, the members who may manage its keys and whose primary address is verified are
//! notified. The number of these emails is limited, but every reported key is revoked.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, Query, UpdateItem};
use api::http::client::Caller;
use api::http::{Json, Route};
use api::product::Input;
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::limits::unproved;
use flows::literal::{SUCCESS, Success};
use model::limit::Limit;
use model::owned_key::text::KeyText;
use model::trail::TargetKind;
use store::{optimistic, record};

use crate::owners::change::write;
use crate::owners::check::KeyBody;

pub const ROUTE: Route = Route::post("keys-exposed-key-revoke", "/api/v1/integrations/credential-scanning/revoke")
    .summary("Revokes an API key that was found in public")
    .limit(Limit::Unproved)
    .table(&[BatchGetItem, GetItem, PutItem, Query, UpdateItem])
    .errors(&[ErrorCode::ApiKeyNotFound, ErrorCode::PublicApiKeyCannotBeRevoked, ErrorCode::ApiKeyExpired]);

pub async fn handle(State(app): State<App>, caller: Caller, Input { body, .. }: Input<KeyBody>) -> Result<Json<Success>, Error> {
    unproved(&app, None, &caller.place).await?;
    let text = KeyText::parse(&body.api_key).map_err(|_| KnownError::ApiKeyNotFound)?;
    let now = app.clock.now();
    optimistic!(|_| {
        let (project, owner) = tokio::try_join!(app.store.project(&text.project), app.store.key_owner(&text.project, text.owner))?;
        let found = project.zip(owner).and_then(|(project, owner)| Some((project, owner.keys().by_text(&text)?.id, owner)));
        let Some((project, id, owner)) = found else { return Err(KnownError::ApiKeyNotFound.into()) };
        let mut keys = owner.keys().clone();
        let Some(key) = keys.get_mut(id) else { return Err(KnownError::ApiKeyNotFound.into()) };
        if key.revoked_at.is_some() {
            return Ok(Json(SUCCESS));
        }
        if key.is_public {
            return Err(KnownError::PublicApiKeyCannotBeRevoked.into());
        }
        if key.has_expired(now) {
            return Err(KnownError::ApiKeyExpired.into());
        }
        key.revoke(now);
        key.was_exposed = true;
        record::on(&project.project);
        record::target(TargetKind::ApiKey, id);
        // The request comes from a scanner, so its place would not help the owner.
        write(&app, &project.project, None, owner, keys).await?;
        Ok(Json(SUCCESS))
    })
}
