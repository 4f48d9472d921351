//! Creates new users, and signs up anonymous users.

use api::product::Access;
use flows::teams::welcome;
use jiff::Timestamp;
use model::metrics::tally::Tally;
use model::trail::account::events;
use model::user::User;
use store::Write;
use store::user::account::sign_up_claims;
use store::user::by_word::words;
use store::user::{self, EmailClaim};

/// The user who signs up: a new user without a version, or the signed-in anonymous user with the
/// version of the user's item. An impersonated anonymous user does not sign up.
pub(crate) fn new_user<L>(access: &Access<L>, now: Timestamp) -> (User, Option<u64>) {
    match access.user.as_ref().filter(|user| user.is_upgraded_by_sign_up()) {
        Some(current) => {
            let mut user = current.row.user.clone();
            user.sign_up(now);
            (user, Some(current.row.version))
        }
        None => (User::new(&access.app.entropy, now), None),
    }
}

/// The writes that create an account. The first write is the claim of the primary email address, if
/// there is one. The next writes release an anonymous user's claims, and the user's item is written
/// later. A new user also gets the project's defaults.
pub(crate) fn account_writes<L>(access: &Access<L>, user: &mut User, version: Option<u64>) -> Result<Vec<Write>, store::Error> {
    let project = &access.project.id;
    let Some(version) = version else {
        let claim = user.primary().map(|channel| user::claim_email(project, &channel.value, &EmailClaim::of(user, channel))).transpose()?;
        let gifts = welcome(&access.app, &access.project, user)?;
        let words = words(project, None, user)?;
        return Ok(claim.into_iter().chain([user::create(project, user)?]).chain(words).chain(gifts).collect());
    };
    let before = access.user.as_ref().map(|before| &before.row.user);
    let claims = before.map(|before| sign_up_claims(project, before, user)).transpose()?;
    let told = before.map(|before| events(before, user)).unwrap_or_default();
    let upgrade = user::replace(project, user, version)?.tells(told).tallies(&Tally::change(before, Some(user)));
    Ok(claims.into_iter().flatten().chain([upgrade]).chain(words(project, before, user)?).collect())
}
