//! `PATCH /api/v1/contact-channels/{user_id}/{contact_channel_id}`: updates a contact channel. A
//! new email address must be verified, unless a server sets `is_verified`.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::input::Nothing;
use api::product::{Access, Client, Input};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError, SIGN_IN_CHANGE_ERRORS};
use flows::accounts::read;
use flows::bot_challenge::Check;
use flows::limits::like_sign_up;
use flows::{App, guarded_body};
use model::email::any::AnyEmail;
use model::user::channel::{ChannelPatch, ChannelType, ContactChannel, Refusal};
use wire::level::Level;

use crate::channels::change::{ChannelPath, change, check_address, check_verified};

pub const ROUTE: Route = Route::patch("users-contact-channel-update", "/api/v1/contact-channels/{user_id}/{contact_channel_id}")
    .summary("Updates a contact channel")
    .table(&[BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::User])
    .errors(SIGN_IN_CHANGE_ERRORS)
    .errors(&[
        ErrorCode::ContactChannelNotFound,
        ErrorCode::ContactChannelAlreadyExists,
        ErrorCode::ContactChannelAlreadyUsedForAuthBySomeoneElse,
        ErrorCode::LastSignInMethod,
        ErrorCode::BotChallengeRequired,
        ErrorCode::BotChallengeFailed,
    ]);

guarded_body! {
    pub struct UpdateContactChannel {
        /// A new email address is unverified until the code sent to it is redeemed, unless a server
        /// sets `is_verified`. If a server sets the address, its domain can be any host name, such
        /// as `localhost`.
        value: Option<AnyEmail>,
        #[deserr(rename = "type")]
        #[schema(rename = "type")]
        _type: Option<ChannelType>,
        used_for_auth: Option<bool>,
        /// With `true`, the channel becomes the primary channel. With `false`, the channel becomes
        /// or stays an ordinary channel.
        is_primary: Option<bool>,
        /// Whether the address is verified, which only servers can set.
        is_verified: Option<bool>,
    }
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, path, .. }: Input<UpdateContactChannel, Nothing, ChannelPath>,
) -> Result<Json<ContactChannel>, Error> {
    check_verified(&access, body.is_verified, &ROUTE)?;
    body.value.iter().try_for_each(|value| check_address(&access, value, &ROUTE))?;
    let (user_id, id) = (access.user_id(path.user_id)?, path.contact_channel_id);
    let missing = KnownError::ContactChannelNotFound;
    let row = read(&access, user_id).await?.ok_or_else(|| missing.clone())?;
    // Replacing an unverified sign-in address is limited like a sign-up, and requires a bot
    // challenge. If the old address was the user's only address, the response reveals whether the
    // new address has an account. The user can also sign in with the new address immediately, and
    // anyone can then have password resets emailed to it.
    let channel = row.user.channel(id).ok_or(KnownError::ContactChannelNotFound)?;
    let is_new = body.value.as_ref().is_some_and(|value| value.0 != channel.value) && channel.signs_in() && !channel.is_verified;
    if is_new {
        access.check_fresh()?;
        like_sign_up(&access).await?;
    }
    let check = if is_new { Check::for_email(&access, &row.user) } else { Check::none(&app, &access.project, &access.place) };
    let admitted = check.admit(body.presented()).await?;
    let patch = ChannelPatch {
        value: body.value.map(|value| value.0),
        used_for_auth: body.used_for_auth,
        is_verified: body.is_verified,
        is_primary: body.is_primary,
    };
    let by_sender = admitted.by_sender();
    // A client must not disable its user's last way to sign in.
    let stops = patch.used_for_auth == Some(false) && access.level < Level::Server;
    let changed = change(&access, row, missing, None, |user| {
        let before = user.clone();
        user.change_channel(id, patch.clone(), access.author())?;
        if stops {
            user.keeps_way_to_sign_in(&before, &access.project.config).map_err(|_| Refusal::LastWay)?;
        }
        Ok(by_sender.clone().into_iter().collect())
    });
    let user = admitted.counted_with(Box::pin(changed)).await?;
    let channel = user.channel(id).ok_or(KnownError::ContactChannelNotFound)?;
    Ok(Json(ContactChannel::of(user_id, channel)))
}
