//! Access tokens of connected accounts (OpenID Connect Core §12, RFC 6749 §6): the one that is kept, or a new one from the provider
//! when that is over.

use api::product::{Access, Client};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::{App, accounts};
use jiff::SignedDuration;
use model::project::OAuthProvider;
use model::user::reference::UserRef;
use model::user::{ProviderAccount, User};
use net::outgoing::{Fault, Outgoing};
use oauth::exchange::Peer;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use store::provider::authorization::{self, ProviderTokens};
use utoipa::ToSchema;
use wire::clock::after;
use wire::id::UserId;

/// A token that ends sooner is exchanged for a new one.
const LEAST_LEFT: SignedDuration = SignedDuration::from_secs(60);

#[derive(Serialize, ToSchema)]
pub struct ProviderAccessToken {
    /// The provider's.
    access_token: String,
}

/// The user that a request names.
pub(crate) async fn user(access: &Access<Client>, named: UserRef) -> Result<Option<User>, Error> {
    Ok(accounts::read(access, access.user_id(named)?).await?.map(|row| row.user))
}

/// An access token for an account of the user at a provider: the account that is named, or the first.
pub(crate) async fn access_token(
    app: &App,
    access: &Access<Client>,
    named: UserRef,
    provider_id: &str,
    account_id: Option<&str>,
    scope: Option<&str>,
) -> Result<ProviderAccessToken, Error> {
    let provider = access.project.config.oauth_provider(provider_id).ok_or(KnownError::OauthProviderNotFoundOrNotEnabled)?;
    let user = user(access, named).await?.ok_or(KnownError::UserNotFound)?;
    let fits = |account: &&ProviderAccount| {
        account.allow_connected_accounts && account.provider_id == provider_id && account_id.is_none_or(|id| account.account_id == id)
    };
    let account = user.provider_accounts.iter().find(fits).ok_or(KnownError::OauthConnectionNotConnectedToUser)?;
    let tokens = app.store.provider_tokens(&access.project.id, user.id, account).await?;
    let tokens = tokens.ok_or_else(|| unavailable(account, "the provider gave no token for this account"))?;
    if !covers(&tokens.scope, scope.unwrap_or_default()) {
        return Err(KnownError::OauthConnectionDoesNotHaveRequiredScope.into());
    }
    let soon = after(app.clock.now(), LEAST_LEFT);
    let owner = authorization::owner(&access.project.id, account);
    let access_token = if tokens.expires_at.is_none_or(|end| end > soon) {
        app.sealer.open(&owner, &tokens.access)?
    } else {
        refreshed(app, access, provider, user.id, account, &tokens).await?
    };
    Ok(ProviderAccessToken { access_token: access_token.expose_secret().to_owned() })
}

fn unavailable(account: &ProviderAccount, details: &str) -> KnownError {
    KnownError::OauthAccessTokenNotAvailable { provider: account.provider_id.clone(), details: details.to_owned() }
}

/// Whether each scope that is asked for was given. Some providers separate scopes by commas.
fn covers(given: &str, wanted: &str) -> bool {
    let given: Vec<&str> = given.split([' ', ',']).collect();
    wanted.split(' ').filter(|scope| !scope.is_empty()).all(|scope| given.contains(&scope))
}

/// A new token of the provider, which is kept before it is given away.
async fn refreshed(
    app: &App,
    access: &Access<Client>,
    provider: &OAuthProvider,
    user: UserId,
    account: &ProviderAccount,
    old: &ProviderTokens,
) -> Result<SecretString, Error> {
    let project = &access.project;
    let owner = authorization::owner(&project.id, account);
    let refresh = old.refresh.as_ref().ok_or_else(|| unavailable(account, "the token is over, and the provider gave none to renew it"))?;
    let refresh = app.sealer.open(&owner, refresh)?;
    let new = Peer::new(Outgoing::new(&app.settings), &app.sealer, project, provider, app.clock.now())?.refresh(&refresh).await.map_err(
        |fault| {
            tracing::warn!(%fault, provider = provider.id, project = %project.id, "a provider renewed no token");
            match fault {
                Fault::Refused(_) => unavailable(account, "the provider does not renew the token"),
                _ => KnownError::OauthProviderTemporarilyUnavailable,
            }
        },
    )?;
    let tokens = ProviderTokens {
        access: app.sealer.seal(&app.entropy, &owner, &new.access_token)?,
        // A provider that does not rotate gives none (RFC 6749 §6): the old one stays, and is sealed with the secret of today.
        refresh: Some(app.sealer.seal(&app.entropy, &owner, new.refresh_token.as_ref().unwrap_or(&refresh))?),
        expires_at: new.expires_at,
        scope: new.scope.unwrap_or_else(|| old.scope.clone()),
    };
    app.store.write_unrecorded(authorization::keep_tokens(&project.id, user, account, &tokens)?).await?;
    Ok(new.access_token)
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn every_scope_that_is_asked_for_was_given() {
        assert!(covers("openid email", "") && covers("openid email", "email openid") && covers("user:email,repo", "repo"));
        assert!(!covers("openid email", "email profile") && !covers("", "email"));
    }
}

/// What both ways of naming an account may answer.
pub(crate) const ERRORS: &[ErrorCode] = &[
    ErrorCode::CannotGetOwnUserWithoutUser,
    ErrorCode::Forbidden,
    ErrorCode::UserNotFound,
    ErrorCode::OauthProviderNotFoundOrNotEnabled,
    ErrorCode::OauthConnectionNotConnectedToUser,
    ErrorCode::OauthConnectionDoesNotHaveRequiredScope,
    ErrorCode::OauthAccessTokenNotAvailable,
    ErrorCode::OauthProviderTemporarilyUnavailable,
];

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct TokenScope {
    /// What the token must be good for, separated by spaces.
    #[deserr(default)]
    pub(crate) scope: Option<String>,
}
