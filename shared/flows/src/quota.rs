//! How much of something the caller may create ([`model::quota`]).

use errors::KnownError;
use model::quota::Quota;
use wire::level::Level;

use crate::context::Context;

/// The maximum for one owner, if a client creates; `None` for servers and administrators. Fails for
/// an anonymous user, unless the project lets anonymous users create.
///
/// The caller compares the maximum in the conditional write that creates: a count that was read
/// before says nothing of the requests beside this one.
pub fn max(context: &Context, quota: Quota) -> Result<Option<usize>, KnownError> {
    if context.level >= Level::Server {
        return Ok(None);
    }
    let settings = &context.project.config.quotas;
    if !settings.admits(context.user.as_ref().is_some_and(|user| user.row.user.is_anonymous)) {
        return Err(KnownError::AnonymousAuthenticationNotAllowed);
    }
    Ok(Some(settings.max(quota)))
}

/// Fails for a client's anonymous user, unless the project lets anonymous users create. For what is
/// part of its owner's item, whose own rules know the maximum.
pub fn check(context: &Context, quota: Quota) -> Result<(), KnownError> {
    max(context, quota).map(drop)
}
