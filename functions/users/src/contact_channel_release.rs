//! `POST /api/v1/contact-channels/release-link`: removes an email address from an account that
//! another person created with it. Receives the form on the page behind the "This wasn't me" link
//! of a verification email.
//!
//! The link works even if the address was verified or the account has changed in the meantime. The
//! address is not removed if the account no longer exists, no longer has the address, or now
//! belongs to the recipient.

use api::http::TableAction::{DeleteItem, GetItem, PutItem, UpdateItem};
use api::http::client::Caller;
use api::http::{BodyRule, Route};
use api::product::Input;
use api::product::input::IgnoredBody;
use api::product::link_page::{LinkPage, LinkQuery};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::accounts::{ExtraWrites, change_read, redeemed};
use flows::email::code::RELEASE_PATH;
use flows::email::notice;
use flows::limits::by_secret;
use model::limit::{Limit, Rule};
use store::link::{self, Release};
use store::record;

use crate::channels::release_page::{done, find, nothing_to_release, used};

pub const ROUTE: Route = Route::post("users-contact-channel-release", RELEASE_PATH)
    .summary("Removes an email address from an account that somebody else created")
    .limit(Limit::Code)
    .body(BodyRule::Ignored)
    .table(&[DeleteItem, GetItem, PutItem, UpdateItem])
    .errors(&[ErrorCode::VerificationCodeNotFound, ErrorCode::VerificationCodeExpired]);

pub async fn handle(State(app): State<App>, caller: Caller, Input { query, .. }: Input<IgnoredBody, LinkQuery>) -> Result<LinkPage, Error> {
    let link = match find(&app, &caller, &query.code).await? {
        Ok(link) => link,
        Err(page) => return Ok(page),
    };
    let (secret, user) = (query.code.text().to_owned().into(), app.store.user(&link.project_id, link.user_id));
    let count = by_secret(&app, &link.project_id, Rule::Code, &secret);
    let ((), row, project) = tokio::try_join!(count, user, app.store.project(&link.project_id))?;
    if link.used {
        return Ok(used());
    }
    let (gone, Release { channel_id, email }) = (KnownError::ContactChannelNotFound, &link.purpose);
    let (Some(row), Some(project)) = (row, project) else { return Ok(nothing_to_release()) };
    record::on(&project.project);
    let released = change_read(&app, &link.project_id, row, gone.clone(), |user| {
        // The user may have replaced the email address since the email was sent.
        let before = user.clone();
        if user.channel(*channel_id).is_none_or(|channel| channel.value != *email) || !user.release(*channel_id) {
            return Err(gone.clone().into());
        }
        let mut writes = vec![link::redeem::<Release>(&query.code)];
        // If all of the user's addresses were unverified, the notice would go to only one of them,
        // usually to the address that is removed. The notice omits the place, because the account's
        // creator must not learn where the link was followed.
        if user.channels.iter().any(|channel| channel.is_verified) {
            writes.extend(notice::about_change(&app, &project.project, None, &before, user)?);
        }
        Ok(ExtraWrites(writes))
    });
    match redeemed(released.await) {
        Ok(_) => Ok(done(email.as_str())),
        Err(Error::Known(KnownError::ContactChannelNotFound)) => Ok(nothing_to_release()),
        Err(Error::Known(KnownError::VerificationCodeAlreadyUsed)) => Ok(used()),
        Err(error) => Err(error),
    }
}
