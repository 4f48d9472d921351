//! `POST /api/v1/internal/api-keys`: creates a set of API keys. Only this operation returns the
//! keys. If the project has the maximum number of sets, the set that ended first is deleted.

use std::collections::BTreeSet;

use api::http::TableAction::{BatchGetItem, DeleteItem, PutItem, Query};
use api::http::{Json, Route};
use api::product::{Access, Admin, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use model::project::KeyKind;
use model::project::key_permission::KeyPermission;
use model::project::key_set::{self as sets, Expiry, KeySetBase, KeySetCountRefusal, MAX_SETS, NewKeys};
use secrecy::ExposeSecret as _;
use serde::Serialize;
use store::project::key_set;
use utoipa::ToSchema;
use wire::problem::Problems;

use crate::api_keys::input::check_description;

pub const ROUTE: Route = Route::post("projects-api-key-create", "/api/v1/internal/api-keys")
    .summary("Creates a set of API keys and returns them once")
    .table(&[BatchGetItem, DeleteItem, PutItem, Query])
    .errors(&[ErrorCode::TooManyApiKeySets]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct CreateApiKey {
    /// One line of at most 256 characters.
    description: String,
    /// When the keys expire, in milliseconds since the epoch. The time must be in the future.
    /// 253402300799000 means never, as in responses.
    #[schema(value_type = i64)]
    expires_at_millis: Expiry,
    has_publishable_client_key: bool,
    has_secret_server_key: bool,
    has_super_secret_admin_key: bool,
    /// The operations that the server key may call. The default is every operation with server
    /// access. The field is permitted only for a set that contains no other keys.
    #[schema(value_type = Option<Vec<String>>, example = json!(["users:read"]))]
    permissions: Option<Vec<KeyPermission>>,
}

impl CreateApiKey {
    /// Checks the permissions of the server key, if it is limited.
    fn checked_permissions(&self) -> Result<Option<BTreeSet<KeyPermission>>, KnownError> {
        let Some(permissions) = &self.permissions else { return Ok(None) };
        let problem = |message: &str| Err(ROUTE.schema_error(&Problems::one("body.permissions", message)));
        if self.has_publishable_client_key || self.has_super_secret_admin_key {
            return problem("can be set only if the set has a server key and no other keys");
        }
        if permissions.is_empty() {
            return problem("must have at least one permission");
        }
        Ok(Some(permissions.iter().copied().collect()))
    }
}

#[wire::sparse]
#[derive(Serialize, ToSchema)]
pub struct CreatedApiKey {
    #[serde(flatten)]
    base: KeySetBase,
    #[schema(example = "pck_…")]
    publishable_client_key: Option<String>,
    #[schema(example = "ssk_…")]
    secret_server_key: Option<String>,
    #[schema(example = "sak_…")]
    super_secret_admin_key: Option<String>,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { body, .. }: Input<CreateApiKey>,
) -> Result<Json<CreatedApiKey>, Error> {
    let now = app.clock.now();
    check_description(&body.description, &ROUTE)?;
    let problem = |field: &str, message: &str| ROUTE.schema_error(&Problems::one(field, message));
    let Expiry(expires_at) = body.expires_at_millis;
    if expires_at.is_some_and(|time| time <= now) {
        return Err(problem("body.expires_at_millis", "must be in the future").into());
    }
    let requested = [
        (body.has_publishable_client_key, KeyKind::PublishableClient),
        (body.has_secret_server_key, KeyKind::SecretServer),
        (body.has_super_secret_admin_key, KeyKind::SuperSecretAdmin),
    ];
    let kinds: Vec<KeyKind> = requested.into_iter().filter(|(is_requested, _)| *is_requested).map(|(_, kind)| kind).collect();
    if kinds.is_empty() {
        return Err(problem("body", "must request at least one key").into());
    }
    let permissions = body.checked_permissions()?;
    let mut new = NewKeys::random(&app.entropy, kinds, body.description, now);
    new.set.expires_at = expires_at;
    new.set.permissions = permissions;
    let project = &access.project.id;
    let existing = app.store.key_sets(project).await?;
    let too_many = |KeySetCountRefusal| KnownError::TooManyApiKeySets { max: MAX_SETS };
    let superfluous = sets::superfluous(&existing, now).map_err(too_many)?;
    let mut writes = key_set::create(project, &new)?;
    writes.extend(superfluous.into_iter().flat_map(|set| key_set::delete(project, set)));
    app.store.transact(writes).await?;
    let shown = |kind: KeyKind| new.secret(kind).map(|secret| secret.expose_secret().to_owned());
    Ok(Json(CreatedApiKey {
        base: KeySetBase::of(&new.set),
        publishable_client_key: shown(KeyKind::PublishableClient),
        secret_server_key: shown(KeyKind::SecretServer),
        super_secret_admin_key: shown(KeyKind::SuperSecretAdmin),
    }))
}
