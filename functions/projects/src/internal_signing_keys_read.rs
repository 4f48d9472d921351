//! `GET /api/v1/internal/signing-keys`: returns the RSA keys that can sign access tokens of the
//! project.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, Route};
use api::product::{Access, Admin, Input};
use errors::Error;
use model::project::signing_key::SigningKeysView;

pub const ROUTE: Route = Route::get("projects-internal-signing-keys-read", "/api/v1/internal/signing-keys")
    .summary("Returns the RSA keys that can sign access tokens")
    .table(&[BatchGetItem]);

pub async fn handle(access: Access<Admin>, _: Input) -> Result<Json<SigningKeysView>, Error> {
    let (app, project) = (&access.app, &access.project);
    let row = app.store.rsa_keys(&project.id).await?;
    Ok(Json(row.keys.view(project.access_token_algorithm, app.clock.now())))
}
