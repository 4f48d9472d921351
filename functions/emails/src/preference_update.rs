//! `PATCH /api/v1/emails/notification-preference/{user_id}/{notification_category_id}`: sets
//! whether a user wants emails of a category. A client can set only the preferences of its user.

use api::http::TableAction::{BatchGetItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::Nothing;
use api::product::{Access, Client, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError, USER_REFERENCE_ERRORS};
use flows::App;
use model::email::category::Category;
use model::user::reference::UserRef;
use store::user;
use utoipa::ToSchema;
use wire::id::CategoryId;
use wire::problem::Problems;

use crate::preferences::categories::Preference;

pub const ROUTE: Route =
    Route::patch("emails-preference-update", "/api/v1/emails/notification-preference/{user_id}/{notification_category_id}")
        .summary("Sets whether a user wants emails of a category")
        .table(&[BatchGetItem, UpdateItem])
        .errors(USER_REFERENCE_ERRORS)
        .errors(&[ErrorCode::UserNotFound, ErrorCode::NotificationCategoryNotFound]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct PreferencePath {
    /// A UUID, or `me`.
    user_id: UserRef,
    notification_category_id: CategoryId,
}

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct PreferencePatch {
    enabled: bool,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, path, .. }: Input<PreferencePatch, Nothing, PreferencePath>,
) -> Result<Json<Preference>, Error> {
    let user = access.user_id(path.user_id)?;
    let wanted = path.notification_category_id.uuid();
    let category = Category::ALL.into_iter().find(|category| category.id() == wanted).ok_or(KnownError::NotificationCategoryNotFound)?;
    if !body.enabled && !category.can_be_refused() {
        let problem =
            Problems::one("body.enabled", "must be true: emails of this category are needed to use the account and cannot be switched off");
        return Err(ROUTE.schema_error(&problem).into());
    }
    match app.store.write(user::set_refused(&access.project.id, user, category, !body.enabled)?).await {
        Ok(()) => Ok(Json(Preference::new(category, body.enabled))),
        Err(store::Error::Conflict(_)) => Err(KnownError::UserNotFound.into()),
        Err(error) => Err(error.into()),
    }
}
