//! Sends a verification code to an email address.

use api::http::Json;
use api::product::Access;
use errors::{Error, KnownError};
use flows::bot_challenge::{ChallengeFields, Check};
use flows::email::code::CodeEmail;
use flows::email::gate::{self, Address};
use flows::literal::{SUCCESS, Success};
use model::project::redirect::RedirectUrl;
use model::user::{Channel, User};
use wire::level::Level;

/// Writes the code and its email. The address from the sign-up needs no bot challenge here, because
/// the sign-up has required a challenge. While sign-up is disabled, a client's anonymous user gets
/// no emails, because anyone can create an anonymous user, and the address could not become an
/// account.
pub(crate) async fn send<L>(
    access: &Access<L>,
    user: &User,
    channel: &Channel,
    callback: &RedirectUrl,
    presented: ChallengeFields,
) -> Result<Json<Success>, Error> {
    if channel.is_verified {
        return Err(KnownError::EmailAlreadyVerified.into());
    }
    if access.level == Level::Client && user.is_anonymous && !access.project.config.sign_up_enabled {
        return Err(KnownError::SignUpNotEnabled.into());
    }
    access.redirects().check(callback)?;
    let began = user.began_with(channel);
    let check = if began { Check::none(&access.app, &access.project, &access.place) } else { Check::for_email(access, user) };
    let admitted = check.admit(presented).await?;
    let recipient = gate::recipient(access, &channel.value, Address::Unproved).await?;
    let email = CodeEmail { app: &access.app, project: &access.project.id, callback, now: access.app.clock.now() };
    let mut writes = email.verification(recipient, user, channel)?;
    writes.extend(admitted.by_sender());
    admitted.counted_with(access.app.store.transact(writes)).await?;
    Ok(Json(SUCCESS))
}
