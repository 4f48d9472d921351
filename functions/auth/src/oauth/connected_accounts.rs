//! Access tokens of connected accounts (OpenID Connect Core §12, RFC 6749 §6): the stored token,
//! or a new one from the provider if the stored one has expired or is about to expire.

use api::product::{Access, Client};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::accounts;
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

/// Minimum remaining lifetime of a returned token; a token that expires earlier is refreshed first.
const LEAST_LEFT: SignedDuration = SignedDuration::from_secs(60);

#[derive(Serialize, ToSchema)]
pub struct ProviderAccessToken {
    /// The provider's access token.
    access_token: String,
}

/// The user that a request names.
pub(crate) async fn user(access: &Access<Client>, named: UserRef) -> Result<Option<User>, Error> {
    Ok(accounts::read(access, access.user_id(named)?).await?.map(|row| row.user))
}

/// An access token for the user's account at a provider: the named account, or the first one.
pub(crate) async fn access_token(
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
    let tokens = access.app.store.provider_tokens(&access.project.id, user.id, account).await?;
    let tokens = tokens.ok_or_else(|| {
        unavailable(account, "the provider issued no token for this account: the user has to sign in with the account again")
    })?;
    if !covers(&tokens.scope, scope.unwrap_or_default()) {
        return Err(KnownError::OauthConnectionDoesNotHaveRequiredScope.into());
    }
    let soon = after(access.app.clock.now(), LEAST_LEFT);
    let owner = authorization::owner(&access.project.id, account);
    let access_token = if tokens.expires_at.is_none_or(|end| end > soon) {
        access.app.sealer.open(&owner, &tokens.access)?
    } else {
        refreshed(access, provider, user.id, account, &tokens).await?
    };
    Ok(ProviderAccessToken { access_token: access_token.expose_secret().to_owned() })
}

fn unavailable(account: &ProviderAccount, details: &str) -> KnownError {
    KnownError::OauthAccessTokenNotAvailable { provider: account.provider_id.clone(), details: details.to_owned() }
}

/// Whether every wanted scope was granted. Some providers separate scopes by commas.
fn covers(given: &str, wanted: &str) -> bool {
    let given: Vec<&str> = given.split([' ', ',']).collect();
    wanted.split(' ').filter(|scope| !scope.is_empty()).all(|scope| given.contains(&scope))
}

/// Gets a new token from the provider and stores it before it is returned.
async fn refreshed(
    access: &Access<Client>,
    provider: &OAuthProvider,
    user: UserId,
    account: &ProviderAccount,
    old: &ProviderTokens,
) -> Result<SecretString, Error> {
    let project = &access.project;
    let owner = authorization::owner(&project.id, account);
    let refresh = old.refresh.as_ref().ok_or_else(|| {
        unavailable(
            account,
            "the token has expired and the provider issued no refresh token: the user has to sign in with the account again",
        )
    })?;
    let refresh = access.app.sealer.open(&owner, refresh)?;
    let new = Peer::new(Outgoing::new(&access.app.settings), &access.app.sealer, project, provider, access.app.clock.now())?
        .refresh(&refresh)
        .await
        .map_err(|fault| {
            tracing::warn!(%fault, provider = provider.id, project = %project.id, "a provider did not refresh a token");
            match fault {
                Fault::Refused(_) => {
                    unavailable(account, "the provider refused to refresh the token: the user has to sign in with the account again")
                }
                _ => KnownError::OauthProviderTemporarilyUnavailable,
            }
        })?;
    let tokens = ProviderTokens {
        access: access.app.sealer.seal(&access.app.entropy, &owner, &new.access_token)?,
        // A provider that does not rotate refresh tokens sends none (RFC 6749 §6). The old one
        // stays and is sealed again with the current secret.
        refresh: Some(access.app.sealer.seal(&access.app.entropy, &owner, new.refresh_token.as_ref().unwrap_or(&refresh))?),
        expires_at: new.expires_at,
        scope: new.scope.unwrap_or_else(|| old.scope.clone()),
    };
    access.app.store.write_unrecorded(authorization::keep_tokens(&project.id, user, account, &tokens)?).await?;
    Ok(new.access_token)
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn requires_every_wanted_scope() {
        assert!(covers("openid email", "") && covers("openid email", "email openid") && covers("user:email,repo", "repo"));
        assert!(!covers("openid email", "email profile") && !covers("", "email"));
    }
}

/// The errors of both operations that return a token.
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
    /// The scopes that the token must have, separated by spaces.
    #[deserr(default)]
    pub(crate) scope: Option<String>,
}
