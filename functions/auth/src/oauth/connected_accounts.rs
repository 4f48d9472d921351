//! Access tokens of connected accounts (OpenID Connect Core §12, RFC 6749 §6): the stored token,
//! or a new one from the provider if the stored one has expired or is about to expire.
//!
//! One request at a time refreshes the tokens of an account. Meanwhile, others return the stored
//! token or, if it has expired, wait for the new one. Tokens are given up only if the provider
//! refuses the refresh token for good, or no longer accepts an access token of unknown expiry. Any
//! other failure leaves them as they are.

use std::time::Duration;

use api::http::Route;
use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::product::header_family::is_of_older_sdk;
use api::product::{Access, Client};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::accounts;
use http::HeaderMap;
use jiff::SignedDuration;
use model::project::OAuthProvider;
use model::user::reference::UserRef;
use model::user::{ProviderAccount, User};
use oauth::exchange::{NotIssued, Peer, Tokens};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use store::provider::tokens::{self, ProviderTokens};
use tokio::time::sleep;
use utoipa::ToSchema;
use wire::clock::after;
use wire::id::UserId;

use crate::oauth::provider_client;

/// A token that expires within this time is due for a refresh.
const LEAST_LEFT: SignedDuration = SignedDuration::from_mins(5);
/// How long a request has the sole right to refresh: longer than its calls to the provider take.
const LEASE: SignedDuration = SignedDuration::from_secs(10);
/// How many times, and at which interval, a request reads the tokens while another one refreshes
/// them.
const LOOKS: u32 = 25;
const INTERVAL: Duration = Duration::from_millis(200);
/// The errors of the operations that return a token.
const ERRORS: &[ErrorCode] = &[
    ErrorCode::CannotGetOwnUserWithoutUser,
    ErrorCode::Forbidden,
    ErrorCode::UserNotFound,
    ErrorCode::OauthProviderNotFoundOrNotEnabled,
    ErrorCode::OauthConnectionNotConnectedToUser,
    ErrorCode::OauthConnectionDoesNotHaveRequiredScope,
    ErrorCode::OauthAccessTokenNotAvailable,
    ErrorCode::OauthAccessTokenNotAvailableWithSharedOauthKeys,
    ErrorCode::OauthProviderRefusesClient,
    ErrorCode::OauthProviderTemporarilyUnavailable,
];

/// The route of an operation that returns a token.
pub(crate) const fn returns_token(route: Route) -> Route {
    route
        .calls_providers()
        .leaves_no_trail("refreshing a provider's token changes nothing about the account")
        .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
        .errors(ERRORS)
}

#[derive(Serialize, ToSchema)]
pub struct ProviderAccessToken {
    /// The provider's access token.
    access_token: String,
}

/// The account for which a request wants a token.
pub(crate) struct Wanted<'a> {
    pub(crate) user: UserRef,
    pub(crate) provider_id: &'a str,
    /// The account's id at the provider; absent for the user's first connected account there.
    pub(crate) account_id: Option<&'a str>,
    /// The scopes that the token must have, separated by spaces; absent if it need not have any.
    pub(crate) scope: Option<&'a str>,
}

/// The user that a request names; `None` if there is no such user.
pub(crate) async fn user(access: &Access<Client>, named: UserRef) -> Result<Option<User>, Error> {
    Ok(accounts::read(access, access.user_id(named)?).await?.map(|row| row.user))
}

/// An access token for a connected account of the user: the named one, or the first one at the
/// provider.
pub(crate) async fn access_token(access: &Access<Client>, headers: &HeaderMap, wanted: Wanted<'_>) -> Result<ProviderAccessToken, Error> {
    let provider = access.project.config.oauth_provider(wanted.provider_id).ok_or(KnownError::OauthProviderNotFoundOrNotEnabled)?;
    if provider.is_shared() {
        return Err(KnownError::OauthAccessTokenNotAvailableWithSharedOauthKeys.into());
    }
    let user = user(access, wanted.user).await?.ok_or(KnownError::UserNotFound)?;
    let fits = |account: &&ProviderAccount| {
        account.allow_connected_accounts
            && account.provider_id == wanted.provider_id
            && wanted.account_id.is_none_or(|id| account.account_id == id)
    };
    let account = user.provider_accounts.iter().find(fits).ok_or(KnownError::OauthConnectionNotConnectedToUser)?;
    let connection = Connection { access, provider, user: user.id, account, is_for_older_sdk: is_of_older_sdk(headers) };
    let token = connection.token(wanted.scope.unwrap_or_default()).await?;
    Ok(ProviderAccessToken { access_token: token.expose_secret().to_owned() })
}

/// A user's account at a provider of the project.
struct Connection<'a> {
    access: &'a Access<Client>,
    provider: &'a OAuthProvider,
    user: UserId,
    account: &'a ProviderAccount,
    is_for_older_sdk: bool,
}

impl Connection<'_> {
    async fn token(&self, scope: &str) -> Result<SecretString, Error> {
        let (store, clock) = (&self.access.app.store, &self.access.app.clock);
        for _ in 0..LOOKS {
            let tokens = store.provider_tokens(self.of()).await?;
            let tokens = tokens.ok_or_else(|| self.unavailable("the provider issued no token for this account"))?;
            if !tokens.covers(scope) {
                return Err(self.unavailable("the user has not granted the requested scope").into());
            }
            if tokens.is_revoked {
                return Err(self.unavailable("the provider has revoked the access").into());
            }
            let now = clock.now();
            let lives = |least: SignedDuration| tokens.expires_at.is_none_or(|end| end > after(now, least));
            if lives(LEAST_LEFT) {
                return self.checked(&tokens).await;
            }
            let Some(refresh) = &tokens.refresh else {
                let expired = || self.unavailable("the token has expired and the provider issued no refresh token").into();
                return if lives(SignedDuration::ZERO) { self.open(&tokens) } else { Err(expired()) };
            };
            if store.begin_refresh(self.of(), &tokens, now, after(now, LEASE)).await? {
                let refresh = self.access.app.sealer.open(&self.owner(), refresh)?;
                return match self.refreshed(&tokens, &refresh).await {
                    // The stored token has not expired yet.
                    Err(Error::Known(KnownError::OauthProviderTemporarilyUnavailable)) if lives(SignedDuration::ZERO) => self.open(&tokens),
                    refreshed => refreshed,
                };
            }
            if lives(SignedDuration::ZERO) {
                return self.open(&tokens);
            }
            sleep(INTERVAL).await;
        }
        Err(KnownError::OauthProviderTemporarilyUnavailable.into())
    }

    fn of(&self) -> tokens::Of<'_> {
        tokens::Of { project: &self.access.project.id, user: self.user, account: self.account }
    }

    fn owner(&self) -> String {
        tokens::owner(&self.access.project.id, &self.account.provider_id, &self.account.account_id)
    }

    fn open(&self, tokens: &ProviderTokens) -> Result<SecretString, Error> {
        Ok(self.access.app.sealer.open(&self.owner(), &tokens.access)?)
    }

    fn peer(&self) -> Result<Peer<'_>, Error> {
        provider_client::peer(&self.access.app, &self.access.project, self.provider)
    }

    /// The error for an account without a usable token. Older SDKs get a different code, because
    /// they throw an exception for `OAUTH_ACCESS_TOKEN_NOT_AVAILABLE`. Both codes mean that the
    /// user has to link the account again.
    fn unavailable(&self, reason: &str) -> KnownError {
        if self.is_for_older_sdk {
            return KnownError::OauthConnectionDoesNotHaveRequiredScope;
        }
        KnownError::OauthAccessTokenNotAvailable {
            provider: self.account.provider_id.clone(),
            details: format!("{reason}: the user has to link the account again"),
        }
    }

    /// The stored access token. If its expiry is unknown, only the provider can tell whether the
    /// token is still valid. A provider that has an API for this question is asked. Otherwise, and
    /// if the provider gives no clear answer, the token is returned.
    async fn checked(&self, tokens: &ProviderTokens) -> Result<SecretString, Error> {
        let token = self.open(tokens)?;
        if tokens.expires_at.is_none() && matches!(self.peer()?.accepts(&token).await, Ok(false)) {
            return Err(self.revoked(tokens).await?.into());
        }
        Ok(token)
    }

    /// Flags tokens that the provider no longer accepts, unless a new flow has replaced them.
    async fn revoked(&self, old: &ProviderTokens) -> Result<KnownError, Error> {
        let flagged = ProviderTokens { is_revoked: true, refreshing_until: None, ..old.clone() };
        self.access.app.store.replace_tokens(self.of(), old, &flagged).await?;
        Ok(self.unavailable("the provider has revoked the access"))
    }

    /// Gets a new token from the provider. It is stored before it is returned, unless a new flow
    /// has replaced the tokens in the meantime.
    async fn refreshed(&self, old: &ProviderTokens, refresh: &SecretString) -> Result<SecretString, Error> {
        let (project, store) = (&self.access.project, &self.access.app.store);
        let failed = match self.peer()?.refresh(refresh).await {
            Ok(new) => return self.keep(old, refresh, new).await,
            Err(failed) => failed,
        };
        tracing::warn!(%failed, provider = self.provider.id, project = %project.id, "a provider did not refresh a token");
        if let NotIssued::Grant(_) = failed {
            return Err(self.revoked(old).await?.into());
        }
        store.end_refresh(self.of(), old).await?;
        Err(match failed {
            NotIssued::Client(_) => KnownError::OauthProviderRefusesClient,
            _ => KnownError::OauthProviderTemporarilyUnavailable,
        }
        .into())
    }

    async fn keep(&self, old: &ProviderTokens, refresh: &SecretString, new: Tokens) -> Result<SecretString, Error> {
        let app = &self.access.app;
        let seal = |token: &SecretString| app.sealer.seal(&app.entropy, &self.owner(), token);
        let tokens = ProviderTokens {
            access: seal(&new.access_token)?,
            // A provider that does not rotate refresh tokens may send none (RFC 6749 §6). The old
            // one then stays and is sealed again with the current secret.
            refresh: Some(seal(new.refresh_token.as_ref().unwrap_or(refresh))?),
            refresh_scope: None,
            expires_at: new.expires_at,
            // Without a scope in the answer, the scope is that of the refresh token (RFC 6749 §6).
            scope: new.scope.unwrap_or_else(|| old.refresh_scope.as_ref().unwrap_or(&old.scope).clone()),
            is_revoked: false,
            refreshing_until: None,
        };
        app.store.replace_tokens(self.of(), old, &tokens).await?;
        Ok(new.access_token)
    }
}

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct TokenScope {
    /// The scopes that the token must have, separated by spaces.
    #[deserr(default)]
    pub(crate) scope: Option<String>,
}
