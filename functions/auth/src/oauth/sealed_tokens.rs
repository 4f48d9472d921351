//! Seals the tokens of a provider account for the account, the issuer of the tokens, and the OAuth
//! client ([`registration`](model::provider::registration)).

use crypto::seal::SealedText;
use errors::Error;
use flows::App;
use model::project::{OAuthProvider, Project};
use model::provider::account::ProviderAccount;
use model::provider::tokens::ProviderTokens;
use oauth::exchange::Tokens;
use secrecy::SecretString;
use store::provider::tokens;

/// Seals and opens the tokens of an account.
#[derive(Clone, Copy)]
pub(crate) struct TokenSealer<'a> {
    pub(crate) app: &'a App,
    pub(crate) project: &'a Project,
    pub(crate) provider: &'a OAuthProvider,
    pub(crate) account: &'a ProviderAccount,
}

impl TokenSealer<'_> {
    /// The provider's new tokens. `refresh` is the refresh token to store. `scope` applies if the
    /// provider's response does not name a scope.
    pub(crate) fn seal(&self, new: &Tokens, refresh: Option<&SecretString>, scope: String) -> Result<ProviderTokens, Error> {
        let Self { app, project, provider, account } = self;
        let registration = provider.registration();
        let owner = tokens::owner(&project.id, account, Some(&registration));
        let seal = |token: &SecretString| app.sealer.seal(&app.entropy, &owner, token);
        Ok(ProviderTokens {
            access: seal(&new.access_token)?,
            refresh: refresh.map(seal).transpose()?,
            refresh_scope: None,
            expires_at: new.expires_at,
            scope: new.scope.clone().unwrap_or(scope),
            is_revoked: false,
            refreshing_until: None,
            registration: Some(registration),
            confirmed_at: Some(app.clock.now()),
            last_report: None,
        })
    }

    /// Opens one of the sealed tokens in `tokens`.
    pub(crate) fn open(&self, tokens: &ProviderTokens, sealed: &SealedText) -> Result<SecretString, Error> {
        let owner = tokens::owner(&self.project.id, self.account, tokens.registration.as_ref());
        Ok(self.app.sealer.open(&owner, sealed)?)
    }

    /// The stored tokens, sealed in the form that [`Self::seal`] writes. `None` if the tokens were
    /// issued to another registration. Tokens that were stored by earlier versions do not name a
    /// registration.
    pub(crate) fn current(&self, stored: ProviderTokens) -> Result<Option<ProviderTokens>, Error> {
        let Self { app, project, provider, account } = self;
        if !project.config.issued(provider, &stored) {
            return Ok(None);
        }
        if stored.registration.is_some() {
            return Ok(Some(stored));
        }
        let registration = provider.registration();
        let owner = tokens::owner(&project.id, account, Some(&registration));
        let anew = |sealed: &SealedText| Ok::<_, Error>(app.sealer.seal(&app.entropy, &owner, &self.open(&stored, sealed)?)?);
        let (access, refresh) = (anew(&stored.access)?, stored.refresh.as_ref().map(anew).transpose()?);
        Ok(Some(ProviderTokens { access, refresh, registration: Some(registration), ..stored }))
    }
}
