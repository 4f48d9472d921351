//! `POST /api/v1/contact-channels`: adds an email address to a user. A sign-in address that a
//! client adds takes effect when it is verified. If several users add the same address, it belongs
//! to the first user who verifies it. An address that a server adds takes effect immediately.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem};
use api::http::{CreatedJson, NamedItem, Route};
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError, SIGN_IN_CHANGE_ERRORS};
use flows::accounts::read;
use flows::quota;
use model::email::any::AnyEmail;
use model::quota::Quota;
use model::user::channel::{ChannelType, ContactChannel, NewChannel};
use model::user::reference::UserRef;
use utoipa::ToSchema;
use wire::id::ChannelId;

use crate::channels::change::{change, check_address, check_verified};

pub const ROUTE: Route = Route::post("users-contact-channel-create", "/api/v1/contact-channels")
    .summary("Adds a contact channel to a user")
    .table(&[BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::User])
    .errors(SIGN_IN_CHANGE_ERRORS)
    .errors(&[
        ErrorCode::UserIdDoesNotExist,
        ErrorCode::ContactChannelAlreadyExists,
        ErrorCode::ContactChannelAlreadyUsedForAuthBySomeoneElse,
        ErrorCode::TooManyContactChannels,
    ]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct CreateContactChannel {
    /// A user's id, or `me`.
    #[schema(value_type = String)]
    user_id: UserRef,
    /// If a server sets the address, its domain can be any host name, such as `localhost`.
    value: AnyEmail,
    #[deserr(rename = "type")]
    #[schema(rename = "type")]
    _type: ChannelType,
    /// Whether the user can sign in with the email address. In a project, only one user can sign in
    /// with an address. If a client sets this field, the setting takes effect once the address is
    /// verified.
    used_for_auth: bool,
    /// Whether the channel becomes the primary channel. The previous primary channel becomes an
    /// ordinary channel.
    is_primary: Option<bool>,
    /// Whether the address is verified, which only servers can set.
    is_verified: Option<bool>,
}

pub async fn handle(access: Access<Client>, Input { body, .. }: Input<CreateContactChannel>) -> Result<CreatedJson<ContactChannel>, Error> {
    check_verified(&access, body.is_verified, &ROUTE)?;
    check_address(&access, &body.value, &ROUTE)?;
    let user_id = access.user_id(body.user_id)?;
    quota::check(&access, Quota::ContactChannels)?;
    let missing = KnownError::UserIdDoesNotExist { user_id: user_id.to_string() };
    let row = read(&access, user_id).await?.ok_or_else(|| missing.clone())?;
    let id = ChannelId::from(access.app.entropy.uuid());
    let new = NewChannel {
        value: body.value.0,
        used_for_auth: body.used_for_auth,
        is_verified: body.is_verified.unwrap_or(false),
        is_primary: body.is_primary.unwrap_or(false),
    };
    let added =
        change(&access, row, missing, Some(&new.value), |user| user.add_channel(id, new.clone(), access.author()).map(|()| Vec::new()));
    let user = added.await?;
    let channel = user.channel(id).ok_or(KnownError::ContactChannelNotFound)?;
    Ok(CreatedJson(ContactChannel::of(user_id, channel)))
}
