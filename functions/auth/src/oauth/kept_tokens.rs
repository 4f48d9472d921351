//! Stores the tokens that a provider issued in a flow, for apps that call the provider's API. The
//! tokens are stored when the flow's code is redeemed or, if a second factor is required, after the
//! second factor.

use errors::Error;
use flows::context::Scope;
use model::provider::tokens::NewTokens;
use model::sign_in::second_factor::MfaAttempt;
use store::provider::account::belongs_to;
use store::provider::tokens::{TokenOwner, renew_tokens};
use store::user::{self, UserRow};
use store::{Write, optimistic};

use crate::oauth::sealed_tokens::TokenSealer;

/// The writes that store the provider's tokens for an account of the user of `row`. Empty if the
/// account is no longer linked or the existing tokens are kept. The transaction must also check the
/// user's credential epoch, which increases when an account for signing in is unlinked.
pub(super) async fn renewal_writes(Scope { app, project, .. }: Scope<'_>, row: &UserRow, new: &NewTokens) -> Result<Vec<Write>, Error> {
    let user = row.user.id;
    let Some(account) = row.user.provider_accounts.iter().find(|own| own.is_same(&new.account)) else { return Ok(Vec::new()) };
    let Some(provider) = project.config.oauth_provider(&account.provider_id) else { return Ok(Vec::new()) };
    let (of, now) = (TokenOwner { project: &project.id, user, account }, app.clock.now());
    let stored = app.store.provider_tokens(of).await?;
    let sealer = TokenSealer { app, project, provider, account };
    let old = stored.clone().map(|stored| sealer.current(stored)).transpose()?.flatten();
    let Some(tokens) = new.replacing(old.as_ref(), now) else { return Ok(Vec::new()) };
    let keeps_refresh = tokens.refresh.is_some() && old.is_some_and(|old| old.refresh == tokens.refresh);
    let linked = (!account.allow_sign_in).then(|| belongs_to(&project.id, account, user));
    Ok([renew_tokens(of, stored.as_ref(), (&tokens, keeps_refresh), now)?].into_iter().chain(linked).collect())
}

/// Stores the provider's tokens after the second factor has completed the sign-in. The sign-in has
/// already succeeded, so a failure is only logged. The next sign-in stores the tokens that it gets.
pub(crate) async fn store_completed(scope: Scope<'_>, attempt: &MfaAttempt) {
    let Some(new) = &attempt.new_tokens else { return };
    let Scope { app, project, .. } = scope;
    let stored: Result<(), Error> = optimistic!(|_| {
        let row = app.store.user(&project.id, attempt.user_id).await?.filter(|row| attempt.is_of_epoch(&row.user));
        let Some(row) = row else { return Ok(()) };
        let mut writes = renewal_writes(scope, &row, new).await?;
        if writes.is_empty() {
            return Ok(());
        }
        writes.push(user::at_epoch(&project.id, row.user.id, row.user.credential_epoch));
        Ok(app.store.transact_unrecorded(writes).await?)
    });
    if let Err(error) = stored {
        tracing::warn!(%error, project = %project.id, "the provider's tokens of a sign-in were not stored");
    }
}
