//! `DELETE /api/v1/contact-channels/{user_id}/{contact_channel_id}`: removes a contact channel.
//! Another user can then use its email address.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Client, Input};
use errors::{Error, ErrorCode, KnownError, SIGN_IN_CHANGE_ERRORS};
use flows::accounts::read;
use flows::literal::{SUCCESS, Success};

use crate::channels::change::{ChannelPath, change};
use model::limit::Limit;

pub const ROUTE: Route = Route::delete("users-contact-channel-delete", "/api/v1/contact-channels/{user_id}/{contact_channel_id}")
    .summary("Removes a contact channel")
    .limit(Limit::SecureAccount)
    .table(&[BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::User])
    .errors(SIGN_IN_CHANGE_ERRORS)
    .errors(&[ErrorCode::ContactChannelNotFound]);

pub async fn handle(access: Access<Client>, Input { path, .. }: Input<IgnoredBody, Nothing, ChannelPath>) -> Result<Json<Success>, Error> {
    let (user_id, missing) = (access.user_id(path.user_id)?, KnownError::ContactChannelNotFound);
    let row = read(&access, user_id).await?.ok_or_else(|| missing.clone())?;
    change(&access, row, missing, None, |user| user.remove_channel(path.contact_channel_id).map(|()| Vec::new())).await?;
    Ok(Json(SUCCESS))
}
