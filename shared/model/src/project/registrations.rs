//! The registrations of a project's providers, and the accounts and tokens that belong to them
//! ([`registration`](crate::provider::registration)).

use crate::project::{OAuthProvider, ProjectConfig};
use crate::provider::account::ProviderAccount;
use crate::provider::catalog;
use crate::provider::registration::Registration;
use crate::provider::tokens::ProviderTokens;
use crate::setting::{SettingRefusal, invalid};

/// The maximum number of recorded first registrations in a project. The registrations are part of
/// the project's item, which every request reads.
const MAX_RECORDED: usize = 200;

impl OAuthProvider {
    /// The registration of the provider.
    pub fn registration(&self) -> Registration {
        let issuer = self.issuer.clone().filter(|_| catalog::find(&self.id).is_none());
        Registration { issuer, client_id: self.client_id.clone() }
    }
}

impl ProjectConfig {
    fn first_registration(&self, provider: &OAuthProvider) -> Registration {
        self.first_registrations.get(&provider.id).cloned().unwrap_or_else(|| provider.registration())
    }

    /// Records the first registrations of providers in `old` that have changed or been removed.
    /// `path` is for errors.
    pub(crate) fn record_registrations(&mut self, path: &str, old: &[OAuthProvider]) -> Result<(), SettingRefusal> {
        for old in old {
            let now = self.oauth_providers.iter().find(|provider| provider.id == old.id);
            if now.is_none_or(|now| now.registration() != old.registration()) {
                self.first_registrations.entry(old.id.clone()).or_insert_with(|| old.registration());
            }
        }
        if self.first_registrations.len() > MAX_RECORDED {
            let message = format!(
                "must not change the issuer or client of another provider: a project can change them for at most {MAX_RECORDED} providers"
            );
            return Err(invalid(path, message));
        }
        Ok(())
    }

    /// The issuer that is stored with a provider's accounts: `None` for the provider's first
    /// issuer.
    pub fn issuer_of_accounts(&self, provider: &OAuthProvider) -> Option<String> {
        let (issuer, first) = (provider.registration().issuer, self.first_registration(provider).issuer);
        issuer.filter(|issuer| first.as_ref() != Some(issuer))
    }

    /// Whether users may sign in with the account's provider, and whether the provider's current
    /// issuer is the one that identified the account.
    pub fn identifies(&self, account: &ProviderAccount) -> bool {
        let provider = self.oauth_provider(&account.provider_id);
        provider.is_some_and(|provider| self.issuer_of_accounts(provider) == account.issuer)
    }

    /// The registration to which a provider's tokens were issued.
    fn registration_of(&self, provider: &OAuthProvider, tokens: &ProviderTokens) -> Registration {
        tokens.registration.clone().unwrap_or_else(|| self.first_registration(provider))
    }

    /// Whether tokens were issued by the provider's current issuer to its current client.
    pub fn issued(&self, provider: &OAuthProvider, tokens: &ProviderTokens) -> bool {
        self.registration_of(provider, tokens) == provider.registration()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provider(id: &str, issuer: &str, client: &str) -> OAuthProvider {
        let json = serde_json::json!({ "id": id, "client_id": client, "issuer": issuer });
        serde_json::from_value(json).expect("a provider")
    }

    fn config(providers: &[OAuthProvider]) -> ProjectConfig {
        ProjectConfig { oauth_providers: providers.to_vec(), ..ProjectConfig::default() }
    }

    /// The configuration with these providers in place of the current providers.
    fn with(mut config: ProjectConfig, providers: &[OAuthProvider]) -> ProjectConfig {
        let old = std::mem::replace(&mut config.oauth_providers, providers.to_vec());
        config.record_registrations("", &old).expect("few");
        config
    }

    fn issuer(config: &ProjectConfig) -> Option<String> {
        config.issuer_of_accounts(config.oauth_providers.first().expect("a provider"))
    }

    #[test]
    fn accounts_name_every_issuer_but_the_first() {
        let (a, b) = (provider("acme", "https://a.test", "1"), provider("acme", "https://b.test", "1"));
        let first = config(std::slice::from_ref(&a));
        assert_eq!((issuer(&first), first.first_registrations.len()), (None, 0));
        let second = with(first, std::slice::from_ref(&b));
        assert_eq!(issuer(&second), Some("https://b.test".to_owned()));
        assert_eq!(issuer(&with(second.clone(), std::slice::from_ref(&a))), None, "the first issuer is remembered");
        // A provider that was removed and added again counts as the same provider only if the
        // issuer is unchanged.
        let gone = with(config(std::slice::from_ref(&a)), &[]);
        assert_eq!(issuer(&with(gone.clone(), std::slice::from_ref(&a))), None);
        assert_eq!(issuer(&with(gone, std::slice::from_ref(&b))), Some("https://b.test".to_owned()));
        // Changing the client or a setting does not change the issuer.
        let client = with(config(std::slice::from_ref(&a)), &[provider("acme", "https://a.test", "2")]);
        assert_eq!((issuer(&client), client.first_registrations["acme"].client_id.as_str()), (None, "1"));
        // The issuer of a catalog provider is fixed.
        let github = with(config(&[provider("github", "https://a.test", "1")]), &[provider("github", "https://b.test", "1")]);
        assert_eq!((issuer(&github), github.first_registrations.len()), (None, 0));
    }

    #[test]
    fn the_record_is_bounded() {
        let mut settings = ProjectConfig::default();
        let of = |number: usize| provider(&format!("acme{number}"), "https://a.test", "1");
        for number in 0..MAX_RECORDED {
            settings.record_registrations("", &[of(number)]).expect("few");
        }
        assert!(settings.record_registrations("", &[of(MAX_RECORDED - 1)]).is_ok());
        assert!(settings.record_registrations("", &[of(MAX_RECORDED)]).is_err());
    }
}
