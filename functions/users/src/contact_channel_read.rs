//! `GET /api/v1/contact-channels/{user_id}/{contact_channel_id}`: returns a contact channel.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, NamedItem, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Client, Input};
use errors::{Error, ErrorCode, KnownError, USER_REFERENCE_ERRORS};
use flows::accounts::read;
use model::user::channel::ContactChannel;

use crate::channels::change::ChannelPath;

pub const ROUTE: Route = Route::get("users-contact-channel-read", "/api/v1/contact-channels/{user_id}/{contact_channel_id}")
    .summary("Returns a contact channel")
    .table(&[BatchGetItem])
    .reads(&[NamedItem::User])
    .errors(USER_REFERENCE_ERRORS)
    .errors(&[ErrorCode::ContactChannelNotFound]);

pub async fn handle(
    access: Access<Client>,
    Input { path, .. }: Input<IgnoredBody, Nothing, ChannelPath>,
) -> Result<Json<ContactChannel>, Error> {
    let user_id = access.user_id(path.user_id)?;
    let row = read(&access, user_id).await?.ok_or(KnownError::ContactChannelNotFound)?;
    let channel = row.user.channel(path.contact_channel_id).ok_or(KnownError::ContactChannelNotFound)?;
    Ok(Json(ContactChannel::of(user_id, channel)))
}
