//! `GET /api/v1/contact-channels`: lists a user's contact channels, oldest first.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, NamedItem, Route};
use api::product::input::IgnoredBody;
use api::product::page::List;
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, USER_REFERENCE_ERRORS};
use flows::accounts::read;
use model::user::channel::ContactChannel;
use model::user::reference::UserRef;
use utoipa::ToSchema;
use wire::id::ChannelId;

pub const ROUTE: Route = Route::get("users-contact-channel-list", "/api/v1/contact-channels")
    .summary("Lists a user's contact channels")
    .table(&[BatchGetItem])
    .reads(&[NamedItem::User])
    .errors(USER_REFERENCE_ERRORS);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ChannelsQuery {
    /// A user's id, or `me`. The parameter is required, because the channels of all users cannot be
    /// listed.
    user_id: Option<UserRef>,
    /// Selects the channel with this id.
    contact_channel_id: Option<ChannelId>,
}

pub async fn handle(
    access: Access<Client>,
    Input { query, .. }: Input<IgnoredBody, ChannelsQuery>,
) -> Result<Json<List<ContactChannel>>, Error> {
    let user_id = access.listed_user(query.user_id, &ROUTE)?;
    let channels = read(&access, user_id).await?.map(|row| row.user.channels).unwrap_or_default();
    let wanted = channels.iter().filter(|channel| query.contact_channel_id.is_none_or(|id| channel.id == id));
    Ok(Json(List::whole(wanted.map(|channel| ContactChannel::of(user_id, channel)).collect())))
}
