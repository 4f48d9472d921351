//! `POST /api/v1/team-api-keys`: creates an API key of a team. Only this operation returns the key.
//! A client needs `$manage_api_keys` in the team.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::Error;
use flows::teams::refuse_anonymous;
use model::outbox::patch::AtMillis;
use model::owned_key::Owner;
use model::owned_key::view::OwnedKeyView;
use utoipa::ToSchema;
use wire::change::Change;
use wire::id::TeamId;

use crate::owners::input::{Description, Scopes, new_key};
use crate::owners::manage::{NEW_KEY_ERRORS, TEAM_ERRORS, create};

pub const ROUTE: Route = Route::post("keys-team-key-create", "/api/v1/team-api-keys")
    .summary("Creates an API key of a team and returns it once")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::Team])
    .errors(TEAM_ERRORS)
    .errors(NEW_KEY_ERRORS);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct CreateTeamKey {
    /// The owner.
    team_id: TeamId,
    /// One line of 1 to 256 characters.
    #[schema(value_type = String, min_length = 1, max_length = 256)]
    description: Description,
    /// When the key expires, in milliseconds since the Unix epoch. `null`, 0 or absent if it never
    /// expires.
    expires_at_millis: Change<AtMillis>,
    /// Whether the key may be published, for example in an app. Default: `false`.
    is_public: Option<bool>,
    /// What the key may do in your app: at most 32 words, each of 1 to 64 visible ASCII characters.
    /// The operation that checks the key returns the words.
    scopes: Option<Scopes>,
}

pub async fn handle(access: Access<Client>, Input { body, .. }: Input<CreateTeamKey>) -> Result<Json<OwnedKeyView>, Error> {
    refuse_anonymous(&access)?;
    let owner = Owner::Team(body.team_id);
    create(&access, owner, new_key(body.description, body.scopes, body.is_public, body.expires_at_millis)).await.map(Json)
}
