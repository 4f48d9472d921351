//! Access tokens of connected accounts (OpenID Connect Core §12, RFC 6749 §6). The caller gets the
//! stored token or a new token from the provider. A new token is requested if the stored token has
//! expired, is about to expire, or has failed according to the caller (`refresh=true`).
//!
//! A provider may revoke a token at any time. If the provider has not issued or accepted the stored
//! token within the last five minutes, the operation therefore first asks the provider whether the
//! token is still valid. If the caller reports a failed token, the provider's response is reused
//! for 30 seconds, so that repeated reports do not burden the provider.
//!
//! Only one request at a time refreshes the tokens of an account. Meanwhile, other requests return
//! the stored token or, if that token has expired or failed, wait for the new one. Tokens are
//! marked as revoked only if the provider permanently refuses the refresh token, or no longer
//! accepts an access token that came without a refresh token. After any other failure, the tokens
//! are kept.

use std::time::Duration;

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Need, Route};
use api::product::header_family::is_of_older_sdk;
use api::product::input::Flag;
use api::product::{Access, Client};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::accounts;
use http::HeaderMap;
use jiff::SignedDuration;
use model::project::OAuthProvider;
use model::provider::account::ProviderAccount;
use model::user::User;
use model::user::reference::UserRef;
use net::outgoing::{AnswerError, Outgoing};
use oauth::exchange::{ExchangeError, Peer, Tokens};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use store::provider::tokens::{self, ProviderTokens, Report};
use tokio::time::sleep;
use utoipa::ToSchema;
use wire::clock::after;
use wire::id::UserId;

use crate::oauth::flow::misconfigured;
use crate::oauth::provider_client;
use crate::oauth::sealed_tokens::TokenSealer;

/// The time during which only one request may refresh the tokens, which is longer than its calls to
/// the provider can take.
const LEASE: SignedDuration = SignedDuration::from_secs(25);
/// How often a request reads the tokens while another request refreshes them, and the interval
/// between the reads.
const LOOKS: u32 = 40;
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
    ErrorCode::OauthProviderMisconfigured,
];

/// The route of an operation that returns a token.
pub(crate) const fn returns_token(route: Route) -> Route {
    route
        .needs(&[Need::Providers])
        .leaves_no_trail("refreshing a provider's token does not change the account")
        .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
        .errors(ERRORS)
}

#[derive(Serialize, ToSchema)]
pub struct ProviderAccessToken {
    /// The provider's access token.
    access_token: String,
}

/// The account whose token is requested.
pub(crate) struct RequestedAccount<'a> {
    pub(crate) user: UserRef,
    pub(crate) provider_id: &'a str,
    /// The account's id at the provider. `None` stands for the user's first connected account at
    /// the provider.
    pub(crate) account_id: Option<&'a str>,
    /// The scopes that the token must have, separated by spaces. `None` if no particular scopes are
    /// needed.
    pub(crate) scope: Option<&'a str>,
    /// Whether the caller reports that the last token failed.
    pub(crate) has_failed: bool,
}

/// The user whom the request names, or `None` if the user does not exist.
pub(crate) async fn user(access: &Access<Client>, named: UserRef) -> Result<Option<User>, Error> {
    Ok(accounts::read(access, access.user_id(named)?).await?.map(|row| row.user))
}

/// An access token for the connected account that the request names. If the request names no
/// account, the token is for the user's first account at the provider.
pub(crate) async fn access_token(
    access: &Access<Client>,
    headers: &HeaderMap,
    wanted: RequestedAccount<'_>,
) -> Result<ProviderAccessToken, Error> {
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
    let config = &access.project.config;
    let mut accounts = user.provider_accounts.iter().filter(fits);
    let present = accounts.clone().find(|account| config.identifies(account));
    let account = present.or_else(|| accounts.next()).ok_or(KnownError::OauthConnectionNotConnectedToUser)?;
    let outgoing = Outgoing::new(&access.app.settings, &access.project.id);
    let connection = Connection { access, outgoing, provider, user: user.id, account, is_for_older_sdk: is_of_older_sdk(headers) };
    if present.is_none() {
        return Err(connection.unavailable("the provider's issuer has changed").into());
    }
    let token = connection.token(wanted.scope.unwrap_or_default(), wanted.has_failed).await?;
    Ok(ProviderAccessToken { access_token: token.expose_secret().to_owned() })
}

/// A user's account at a provider of the project.
struct Connection<'a> {
    access: &'a Access<Client>,
    /// Limits the total time of the request's calls to the provider, because a function killed
    /// during a refresh would lose the new refresh token.
    outgoing: Outgoing<'a>,
    provider: &'a OAuthProvider,
    user: UserId,
    account: &'a ProviderAccount,
    is_for_older_sdk: bool,
}

impl Connection<'_> {
    async fn token(&self, scope: &str, has_failed: bool) -> Result<SecretString, Error> {
        let (store, clock) = (&self.access.app.store, &self.access.app.clock);
        let (mut first, mut refused) = (None, None);
        for _ in 0..LOOKS {
            let tokens = store.provider_tokens(self.token_key()).await?;
            let tokens = tokens.ok_or_else(|| self.unavailable("the provider issued no token for this account"))?;
            self.check(&tokens, scope)?;
            let now = clock.now();
            let lives = tokens.lives(SignedDuration::ZERO, now);
            // If another request has obtained a new token in the meantime, the caller's report is
            // about an older token.
            let was_named = has_failed && first.get_or_insert_with(|| tokens.access.clone()) == &tokens.access;
            let last = tokens.recent_report(now).filter(|_| was_named);
            let report = was_named.then_some(Report { at: now, is_settled: last.is_some() });
            // A refused token is not checked again while another request is refreshing it.
            let mut fails = (was_named && last.is_none()) || refused.as_ref() == Some(&tokens.access);
            let is_fresh = tokens.is_fresh(now) && !fails;
            if is_fresh && last.map_or(!tokens.is_unconfirmed(now), |last| last.is_settled) {
                return self.open(&tokens);
            }
            if is_fresh || tokens.refresh.is_none() {
                if !lives {
                    return Err(self.unavailable("the token has expired and the provider issued no refresh token").into());
                }
                match self.accepts(&tokens, was_named).await? {
                    Some(true) => return self.open(&tokens),
                    Some(false) if tokens.refresh.is_none() => return Err(self.revoked(&tokens).await?.into()),
                    Some(false) => {
                        fails = true;
                        refused = Some(tokens.access.clone());
                    }
                    None if last.is_some() => return self.open(&tokens),
                    None => {}
                }
            }
            let Some(refresh) = &tokens.refresh else { return self.open(&tokens) };
            let may_use = lives && !fails;
            if self.outgoing.has_time() && store.begin_refresh(self.token_key(), &tokens, now, after(now, LEASE)).await? {
                let refresh = self.sealer().open(&tokens, refresh)?;
                return match self.refreshed(&tokens, &refresh, report).await {
                    // The stored token has not expired yet.
                    Err(Error::Known(KnownError::OauthProviderTemporarilyUnavailable)) if may_use => self.open(&tokens),
                    refreshed => refreshed,
                };
            }
            if may_use {
                return self.open(&tokens);
            }
            sleep(INTERVAL).await;
        }
        Err(KnownError::OauthProviderTemporarilyUnavailable.into())
    }

    /// Rejects tokens that lack a requested scope, were revoked, or were issued by another issuer
    /// or to another client.
    fn check(&self, tokens: &ProviderTokens, scope: &str) -> Result<(), KnownError> {
        if !self.access.project.config.issued(self.provider, tokens) {
            return Err(self.unavailable("the provider's issuer or client has changed"));
        }
        if !tokens.covers(&self.account.provider_id, scope) {
            return Err(self.unavailable("the user has not granted the requested scope"));
        }
        if tokens.is_revoked {
            return Err(self.unavailable("the provider has revoked the access"));
        }
        Ok(())
    }

    /// Whether the provider still accepts the access token. `None` if the provider has no endpoint
    /// for checking it. Without a clear response, the token counts as accepted.
    async fn accepts(&self, tokens: &ProviderTokens, was_named: bool) -> Result<Option<bool>, Error> {
        let accepts = self.peer()?.accepts(&self.open(tokens)?).await;
        if matches!(accepts, Ok(Some(true))) && (was_named || tokens.expires_at.is_some()) {
            let (store, now) = (&self.access.app.store, self.access.app.clock.now());
            let report = was_named.then_some(Report { at: now, is_settled: true });
            store.confirm_tokens(self.token_key(), tokens, now, report).await?;
        }
        Ok(accepts.unwrap_or(Some(true)))
    }

    fn token_key(&self) -> tokens::TokenOwner<'_> {
        tokens::TokenOwner { project: &self.access.project.id, user: self.user, account: self.account }
    }

    fn sealer(&self) -> TokenSealer<'_> {
        TokenSealer { app: &self.access.app, project: &self.access.project, provider: self.provider, account: self.account }
    }

    fn open(&self, tokens: &ProviderTokens) -> Result<SecretString, Error> {
        self.sealer().open(tokens, &tokens.access)
    }

    fn peer(&self) -> Result<Peer<'_>, Error> {
        provider_client::peer(self.outgoing, &self.access.app, &self.access.project, self.provider)
    }

    /// The error for an account without a usable token. The user must then link the account again.
    /// Older SDKs get a different error code, because they throw an exception for
    /// `OAUTH_ACCESS_TOKEN_NOT_AVAILABLE`.
    fn unavailable(&self, reason: &str) -> KnownError {
        if self.is_for_older_sdk {
            return KnownError::OauthConnectionDoesNotHaveRequiredScope;
        }
        KnownError::OauthAccessTokenNotAvailable {
            provider: self.account.provider_id.clone(),
            details: format!("{reason}: the user must link the account again"),
        }
    }

    /// Marks tokens that the provider no longer accepts, unless another flow has replaced the
    /// tokens.
    async fn revoked(&self, old: &ProviderTokens) -> Result<KnownError, Error> {
        let flagged = ProviderTokens { is_revoked: true, refreshing_until: None, ..old.clone() };
        self.access.app.store.replace_tokens(self.token_key(), old, &flagged).await?;
        Ok(self.unavailable("the provider has revoked the access"))
    }

    /// Gets a new token from the provider. Unless another flow has replaced the tokens in the
    /// meantime, stores the new token with `report` before returning it.
    async fn refreshed(&self, old: &ProviderTokens, refresh: &SecretString, report: Option<Report>) -> Result<SecretString, Error> {
        let (project, store) = (&self.access.project, &self.access.app.store);
        let scope = old.refresh_scope.as_ref().unwrap_or(&old.scope);
        let failed = match self.peer()?.refresh(refresh, scope).await {
            Ok(new) => return self.keep(old, refresh, new, report).await,
            Err(failed) => failed,
        };
        tracing::warn!(%failed, provider = self.provider.id, project = %project.id, "a provider did not refresh a token");
        if let ExchangeError::Grant(_) = failed {
            return Err(self.revoked(old).await?.into());
        }
        store.end_refresh(self.token_key(), old).await?;
        Err(match failed {
            ExchangeError::Client(_) => KnownError::OauthProviderRefusesClient,
            ExchangeError::Fault(AnswerError::Misconfigured(_) | AnswerError::Private(_)) => misconfigured(&self.provider.id),
            _ => KnownError::OauthProviderTemporarilyUnavailable,
        }
        .into())
    }

    async fn keep(
        &self,
        old: &ProviderTokens,
        refresh: &SecretString,
        new: Tokens,
        last_report: Option<Report>,
    ) -> Result<SecretString, Error> {
        // A provider that does not rotate refresh tokens may omit the refresh token (RFC 6749 §6).
        // The old refresh token is then kept and sealed with the current secret.
        let refresh = new.refresh_token.as_ref().unwrap_or(refresh);
        // If the response does not name a scope, the refresh token's scope applies (RFC 6749 §6).
        let scope = old.refresh_scope.as_ref().unwrap_or(&old.scope).clone();
        let tokens = ProviderTokens { last_report, ..self.sealer().seal(&new, Some(refresh), scope)? };
        self.access.app.store.replace_tokens(self.token_key(), old, &tokens).await?;
        Ok(new.access_token)
    }
}

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct TokenQuery {
    /// Whether to report that the last token failed at the provider. A report makes the operation
    /// request a new token or, if there is no refresh token, ask the provider whether it still
    /// accepts the stored token. For the next 30 seconds, further reports about the new token cause
    /// only one more request to the provider, whose result is reused.
    refresh: Flag,
}

impl TokenQuery {
    pub(crate) fn has_failed(&self) -> bool {
        self.refresh.is_set()
    }
}

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct TokenScope {
    /// The scopes that the token must have, separated by spaces.
    pub(crate) scope: Option<String>,
}
