//! `POST /api/v1/emails/send-email`: puts a mail to each of some users, or to all, into the outbox.

use std::collections::HashSet;

use axum::extract::State;
use deserr::Deserr;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Map;
use shared::App;
use shared::http::TableAction::{BatchGetItem, PutItem, Query};
use shared::http::{Json, Route};
use shared::model::id::{EmailId, UserId};
use shared::model::outbox::{Category, CreatedWith, DEFAULT_THEME, NewEntry, OutboxEntry, Recipients, Source};
use shared::model::outbox_patch::{AtMillis, Theme, ThemeId};
use shared::product_api::input::{Problems, rejected};
use shared::product_api::literal::True;
use shared::product_api::{Access, Error, Input, KnownError, Server};
use shared::store::outbox;
use shared::store::users::user_key;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("emails-send", "/api/v1/emails/send-email")
    .summary("Sends a mail to users of the project")
    .table(&[BatchGetItem, PutItem, Query])
    .errors(&["USER_ID_DOES_NOT_EXIST"]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct SendEmail {
    /// The recipients; either these or `all_users`.
    #[deserr(default)]
    user_ids: Option<Vec<UserId>>,
    /// All users of the project, anonymous and restricted ones too.
    #[schema(value_type = Option<bool>)]
    #[deserr(default)]
    all_users: Option<True>,
    /// MiniJinja source of the subject.
    #[deserr(default)]
    subject: Option<String>,
    /// MiniJinja source of the HTML body, or of MJML when its first element is `<mjml>`.
    html: String,
    /// `Transactional`, the default, or `Marketing`.
    #[schema(value_type = Option<String>)]
    #[deserr(default)]
    notification_category_name: Option<CategoryName>,
    /// `false` for no theme; absent or `null` for the project's.
    #[deserr(default)]
    theme_id: Option<Theme>,
    #[deserr(default)]
    is_high_priority: Option<bool>,
    /// Milliseconds since the epoch; absent or 0 for now.
    #[schema(value_type = Option<i64>)]
    #[deserr(default)]
    scheduled_at_millis: Option<AtMillis>,
}

/// A category by its name.
#[derive(Clone, Copy)]
pub struct CategoryName(Category);

impl<E: deserr::DeserializeError> Deserr<E> for CategoryName {
    fn deserialize_from_value<V: deserr::IntoValue>(value: deserr::Value<V>, location: deserr::ValuePointerRef<'_>) -> Result<Self, E> {
        let name = String::deserialize_from_value(value, location)?;
        Category::parse(&name).map(Self).ok_or_else(|| rejected("must be Transactional or Marketing", location))
    }
}

#[derive(Serialize, ToSchema)]
pub struct Accepted {
    /// In the order of the request.
    results: Vec<Recipient>,
}

#[derive(Serialize, ToSchema)]
pub struct Recipient {
    user_id: UserId,
}

/// Items of one transaction, and keys of one batch of reads.
const CHUNK: usize = 100;
/// Bytes of one transaction: DynamoDB takes 4 MB.
const CHUNK_BYTES: usize = 3_000_000;

pub async fn handle(State(app): State<App>, access: Access<Server>, Input { body, .. }: Input<SendEmail>) -> Result<Json<Accepted>, Error> {
    let project = &access.project.id;
    let user_ids = match (&body.user_ids, body.all_users) {
        (Some(ids), None) => {
            check_users(&app, &access, ids).await?;
            ids.clone()
        }
        (None, Some(_)) => app.store.user_ids(project).await?,
        _ => return Err(Problems::one("body", "must have either user_ids or all_users").into_error("POST", ROUTE.path).into()),
    };
    let now = app.clock.now();
    for chunk in user_ids.chunks(CHUNK.min(CHUNK_BYTES / body.entry_bytes())) {
        let entries = chunk.iter().map(|user_id| OutboxEntry::new(EmailId::from(app.entropy.uuid()), body.entry(*user_id), now));
        let writes = entries.map(|entry| outbox::create(project, &entry)).collect::<Result<Vec<_>, _>>()?;
        app.store.transact(writes).await?;
    }
    Ok(Json(Accepted { results: user_ids.into_iter().map(|user_id| Recipient { user_id }).collect() }))
}

/// Nothing is sent to anybody when one of them does not exist.
async fn check_users(app: &App, access: &Access<Server>, ids: &[UserId]) -> Result<(), Error> {
    let mut seen = HashSet::new();
    let distinct: Vec<UserId> = ids.iter().copied().filter(|id| seen.insert(*id)).collect();
    for chunk in distinct.chunks(CHUNK) {
        let mut items = app.store.get_many(chunk.iter().map(|id| user_key(&access.project.id, *id))).await?;
        let missing = chunk.iter().find(|id| items.take(&user_key(&access.project.id, **id)).is_none());
        if let Some(id) = missing {
            return Err(KnownError::UserIdDoesNotExist { user_id: id.to_string() }.into());
        }
    }
    Ok(())
}

impl SendEmail {
    /// About the size of an entry in the table; a body has 256 KiB at most, so some fit into a transaction.
    fn entry_bytes(&self) -> usize {
        2048 + self.html.len() + self.subject.as_ref().map_or(0, String::len)
    }

    fn entry(&self, user_id: UserId) -> NewEntry {
        let theme_id = match self.theme_id {
            Some(Theme::None) => None,
            Some(Theme::Id(ThemeId(id))) => Some(id),
            None => Some(DEFAULT_THEME),
        };
        NewEntry {
            to: Recipients::UserPrimaryEmail { user_id },
            source: Source { builtin: None, subject: self.subject.clone(), html: Some(self.html.clone()), text: None, theme_id },
            variables: Map::new(),
            category: self.notification_category_name.map_or(Category::Transactional, |name| name.0),
            is_high_priority: self.is_high_priority.unwrap_or(false),
            created_with: CreatedWith::ProgrammaticCall,
            scheduled_at: self.scheduled_at_millis.map(|time| time.0).filter(|time| *time != Timestamp::UNIX_EPOCH),
        }
    }
}
