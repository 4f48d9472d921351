//! Limits on how much a caller may create ([`model::quota`]).

use errors::KnownError;
use model::quota::Quota;
use wire::level::Level;

use crate::context::Context;

/// The maximum for one owner if the caller is a client; `None` for servers and administrators.
/// Fails for an anonymous user, unless the project lets anonymous users create such objects.
///
/// Compare with the maximum in the conditional write that creates the item: a count read earlier
/// would miss concurrent requests.
pub fn max(context: &Context, quota: Quota) -> Result<Option<usize>, KnownError> {
    anonymous(context)?;
    Ok((context.level < Level::Server).then(|| context.project.config.quotas.max(quota)))
}

/// Fails for a client's anonymous user, unless the project lets anonymous users create objects.
/// Also used for pictures: a user has only one picture, but it can be large.
pub fn anonymous(context: &Context) -> Result<(), KnownError> {
    let is_anonymous = context.user.as_ref().is_some_and(|user| user.row.user.is_anonymous);
    if context.level >= Level::Server || context.project.config.quotas.admits(is_anonymous) {
        return Ok(());
    }
    Err(KnownError::AnonymousAuthenticationNotAllowed)
}

/// Fails for a client's anonymous user, unless the project lets anonymous users create such
/// objects. For objects stored in their owner's item, whose own rules enforce the maximum.
pub fn check(context: &Context, quota: Quota) -> Result<(), KnownError> {
    max(context, quota).map(drop)
}
