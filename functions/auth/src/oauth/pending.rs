//! Makes the changes to existing users that wait until an authorization code is redeemed
//! ([`PendingAccount`]). Also links a provider account after the second factor.

use errors::{Error, KnownError};
use flows::context::Scope;
use flows::email::notice;
use model::provider::tokens::NewTokens;
use model::sign_in::provider::Refusal;
use model::sign_in::second_factor::{Attach, MfaAttempt};
use model::user::User;
use model::user::provider_accounts::AccountRefusal;
use store::provider::authorization::{PendingAccount, PendingChange};
use store::provider::tokens::keep_tokens;
use store::user::UserRow;
use store::{Contention as _, Write, optimistic};

use crate::oauth::account::{SignUpAccount, sign_up};
use crate::oauth::kept_tokens;
use crate::oauth::owners::{attached, refused, taken_over};

/// The user of `row` after the pending change, and the writes of the change. Fails if the change is
/// no longer possible.
pub(super) async fn made(scope: Scope<'_>, pending: &PendingAccount, row: &UserRow) -> Result<(User, Vec<Write>), Error> {
    let PendingAccount { change, account, tokens, profile } = pending;
    let (user, mut writes) = match change {
        PendingChange::Link => linked(scope, pending, row)?,
        PendingChange::Upgrade { email_signs_in } => upgraded(scope, pending, row, *email_signs_in).await?,
        PendingChange::Attach => match row.user.provider_accounts.iter().find(|own| own.is_same(account)) {
            // Another request has linked the account since the callback.
            Some(own) if own.allow_sign_in => {
                let new = tokens.clone().map(|tokens| NewTokens { account: account.clone(), tokens, replaces_wider: false });
                let Some(new) = new else { return Ok((row.user.clone(), Vec::new())) };
                return Ok((row.user.clone(), kept_tokens::renewal_writes(scope, row, &new).await?));
            }
            Some(_) => return Err(refused(Refusal::NotForSignIn, None).into()),
            None => attached(scope, row, account).map_err(outdated)?,
        },
        PendingChange::TakeOver => taken_over(scope, row, account, profile).await.map_err(outdated)?,
    };
    if let Some(tokens) = tokens {
        writes.push(keep_tokens(&scope.project.id, user.id, account, tokens)?);
    }
    Ok((user, writes))
}

/// Links the provider account of a completed sign-in to the user, in a separate transaction. The
/// sign-in has already succeeded, so a failure is only logged. The next sign-in with the account
/// tries again.
pub(crate) async fn attach(scope: Scope<'_>, attempt: &MfaAttempt) {
    let Some(Attach { account, tokens }) = &attempt.to_attach else { return };
    let Scope { app, project, .. } = scope;
    let attached: Result<(), Error> = optimistic!(|_| {
        let row = app.store.user(&project.id, attempt.user_id).await?.filter(|row| attempt.is_of_epoch(&row.user));
        let Some(row) = row.filter(|row| !row.user.provider_accounts.iter().any(|own| own.is_same(account))) else { return Ok(()) };
        let (user, mut writes) = attached(scope, &row, account)?;
        if let Some(tokens) = tokens {
            writes.push(keep_tokens(&project.id, user.id, account, tokens)?);
        }
        Ok(app.store.change_account(&project.id, &row, &user, writes).await?.done()?)
    });
    if let Err(error) = attached {
        tracing::warn!(%error, project = %project.id, "the provider account of a sign-in was not linked");
    }
}

/// A conflict means that the change is no longer possible for this user, so the code is invalid.
fn outdated(error: Error) -> Error {
    if error.is_conflict() { KnownError::InvalidAuthorizationCode.into() } else { error }
}

/// Links the account to the user who began the flow.
fn linked(Scope { app, project, place }: Scope<'_>, pending: &PendingAccount, row: &UserRow) -> Result<(User, Vec<Write>), Error> {
    let mut user = row.user.clone();
    user.add_account(pending.account.clone()).map_err(|reason| match reason {
        AccountRefusal::Duplicate => refused(Refusal::OfAnother, None),
        _ => KnownError::InvalidAuthorizationCode,
    })?;
    let notices = notice::about_change(app, project, Some(place), &row.user, &mut user)?;
    Ok((user, notices))
}

/// Turns the anonymous user who began the flow into an ordinary user.
async fn upgraded(scope: Scope<'_>, pending: &PendingAccount, row: &UserRow, email_signs_in: bool) -> Result<(User, Vec<Write>), Error> {
    let Scope { app, project, place } = scope;
    if !row.user.is_anonymous {
        return Err(KnownError::InvalidAuthorizationCode.into());
    }
    let mut user = row.user.clone();
    user.sign_up(app.clock.now());
    let account = SignUpAccount { profile: &pending.profile, account: &pending.account, email_signs_in };
    let mut user = sign_up(scope, user, &account).await?;
    let notices = notice::about_change(app, project, Some(place), &row.user, &mut user)?;
    Ok((user, notices))
}
