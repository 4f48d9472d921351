//! `GET /api/v1/contact-channels`: the contact channels of a user, in the order in which they were added.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, Named, Route};
use api::product::input::Ignored;
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode};
use flows::accounts::read;
use model::user::channel::ContactChannel;
use model::user::reference::UserRef;
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::ChannelId;

pub const ROUTE: Route = Route::get("users-contact-channel-list", "/api/v1/contact-channels")
    .summary("Lists the contact channels of a user")
    .table(&[BatchGetItem])
    .reads(&[Named::User])
    .errors(&[ErrorCode::CannotGetOwnUserWithoutUser, ErrorCode::Forbidden]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ChannelsQuery {
    /// A user's id, or `me`. A client names itself: without this it would ask for everybody's.
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    user_id: Option<UserRef>,
    /// Only the channel with this id.
    #[deserr(default)]
    contact_channel_id: Option<ChannelId>,
}

#[derive(Serialize, ToSchema)]
pub struct ContactChannels {
    items: Vec<ContactChannel>,
    /// Always false: a user has few.
    is_paginated: bool,
}

pub async fn handle(access: Access<Client>, Input { query, .. }: Input<Ignored, ChannelsQuery>) -> Result<Json<ContactChannels>, Error> {
    let user_id = access.listed_user(query.user_id, &ROUTE)?;
    let channels = read(&access, user_id).await?.map(|row| row.user.channels).unwrap_or_default();
    let wanted = channels.iter().filter(|channel| query.contact_channel_id.is_none_or(|id| channel.id == id));
    Ok(Json(ContactChannels { items: wanted.map(|channel| ContactChannel::of(user_id, channel)).collect(), is_paginated: false }))
}
