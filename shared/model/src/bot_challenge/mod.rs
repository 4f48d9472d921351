//! Bot challenges: which operations of a project require a challenge, and who provides the
//! challenges.
//!
//! The secret key of Turnstile can be set but is never returned. The secret key is sealed for its
//! project and site key, so a new site key must come with its secret key.

pub mod altcha;
pub mod rate;
pub mod turnstile;

use crypto::seal::SealedText;
use deserr::Deserr;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::change::Change;

use crate::setting::{Deployment, HIDDEN_SECRET, SettingRefusal, invalid};

/// The longest Turnstile key, in characters. Current site keys have 24 characters, and current
/// secret keys have 35.
const MAX_KEY: usize = 128;
/// The range of a project's usual number of requests per hour.
const USUAL: std::ops::RangeInclusive<u32> = 1..=1_000_000;

/// Who provides the challenges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "lowercase")]
#[deserr(rename_all = lowercase)]
pub enum ChallengeProvider {
    /// Nobody: no operation requires a challenge.
    #[default]
    Off,
    /// Cloudflare Turnstile.
    Turnstile,
    /// This service, as proof of work for the ALTCHA widget.
    Altcha,
}

/// When clients need a challenge for an operation; servers never need one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Never.
    #[deserr(rename = "off")]
    Off,
    /// For requests while the client's IP address, its network or the project exceeds its usual
    /// rate.
    #[default]
    #[deserr(rename = "when-suspicious")]
    WhenSuspicious,
    /// For every request.
    #[deserr(rename = "always")]
    Always,
}

/// An operation that can require a challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardedOperation {
    /// Signing up with a password.
    SignUp,
    /// Requesting a sign-in code.
    SendSignInCode,
    /// Starting an OAuth flow to sign in.
    OAuth,
    /// Operations that cause emails, now or later, to an address that may be unverified: verifying
    /// an address (except the account's first), replacing an unverified sign-in address, and
    /// inviting people. Projects cannot set a separate policy for these operations. Suspicious
    /// requests and all requests of anonymous users require a challenge, unless the provider is off
    /// or the policies of `SignUp` and `SendSignInCode` are both off. Otherwise, these operations
    /// could be used to bypass the two policies.
    Email,
}

impl GuardedOperation {
    /// The `action` of the Turnstile widget for this operation. The published SDK uses the same
    /// names for the first three operations, and does not have a name for the fourth.
    pub fn action(self) -> &'static str {
        match self {
            Self::SignUp => "sign_up_with_credential",
            Self::SendSignInCode => "send_magic_link_email",
            Self::OAuth => "oauth_authenticate",
            Self::Email => "send_email",
        }
    }
}

/// A project's settings for bot challenges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BotChallenge {
    /// Who provides the challenges.
    pub provider: ChallengeProvider,
    /// The keys of the Turnstile widget, which are kept while another provider is selected. Absent
    /// if no keys are stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turnstile: Option<Turnstile>,
    /// When signing up with a password requires a challenge.
    pub sign_up: Policy,
    /// When requesting a sign-in code requires a challenge.
    pub send_sign_in_code: Policy,
    /// When starting an OAuth flow requires a challenge.
    pub oauth: Policy,
    /// The usual number of requests per hour for the entire project, counted separately for OAuth
    /// flows and for all other guarded operations.
    pub usual_requests_per_hour: u32,
}

/// A Cloudflare Turnstile widget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turnstile {
    /// The public key, used to render the widget.
    pub site_key: String,
    /// The key for checking tokens.
    pub secret_key: SealedText,
}

impl Default for BotChallenge {
    fn default() -> Self {
        Self {
            provider: ChallengeProvider::default(),
            turnstile: None,
            sign_up: Policy::default(),
            send_sign_in_code: Policy::default(),
            oauth: Policy::default(),
            usual_requests_per_hour: 100,
        }
    }
}

impl BotChallenge {
    /// Whether these are the default settings, which are omitted when a project is stored.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// When an operation requires a challenge.
    pub fn policy(&self, operation: GuardedOperation) -> Policy {
        match (self.provider, operation) {
            (ChallengeProvider::Off, _) => Policy::Off,
            (_, GuardedOperation::SignUp) => self.sign_up,
            (_, GuardedOperation::SendSignInCode) => self.send_sign_in_code,
            (_, GuardedOperation::OAuth) => self.oauth,
            (_, GuardedOperation::Email) if self.sign_up == Policy::Off && self.send_sign_in_code == Policy::Off => Policy::Off,
            // Not `Always`, because most users who verify addresses or invite people have already
            // signed up. Anonymous users have not signed up, so the caller applies `Always` to
            // them.
            (_, GuardedOperation::Email) => Policy::WhenSuspicious,
        }
    }
}

impl Turnstile {
    /// The owner under which a Turnstile secret key is sealed. A sealed key that is copied to
    /// another project or site key cannot be opened.
    pub fn secret_owner(project: &str, site_key: &str) -> String {
        format!("{project}/bot challenge {site_key}")
    }
}

/// The settings that a client needs to solve a challenge.
#[derive(Debug, Serialize, ToSchema)]
pub struct BotChallengeView {
    /// Who provides the challenges; `off` means that no operation requires a challenge.
    pub provider: ChallengeProvider,
    /// The Turnstile site key; `null` if no keys are stored.
    pub site_key: Option<String>,
    /// When signing up with a password requires a solved challenge.
    pub sign_up: Policy,
    /// When requesting a sign-in code requires a solved challenge.
    pub send_sign_in_code: Policy,
    /// When starting an OAuth flow requires a solved challenge; linking a provider account never
    /// requires a challenge.
    pub oauth: Policy,
}

impl BotChallengeView {
    /// The public part of the settings.
    pub fn of(settings: &BotChallenge) -> Self {
        let BotChallenge { provider, turnstile, sign_up, send_sign_in_code, oauth, .. } = settings;
        let site_key = turnstile.as_ref().map(|turnstile| turnstile.site_key.clone());
        Self { provider: *provider, site_key, sign_up: *sign_up, send_sign_in_code: *send_sign_in_code, oauth: *oauth }
    }
}

/// The settings in a request of an administrator; absent fields keep their values.
#[wire::optional]
#[derive(Default, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct BotChallengeInput {
    /// Who provides the challenges; `off` means that no operation requires a challenge.
    #[schema(value_type = ChallengeProvider, required = false)]
    pub provider: Option<ChallengeProvider>,
    /// The Turnstile site key; `null` removes both keys.
    pub site_key: Change<String>,
    /// The Turnstile secret key, which is never returned. If absent, the stored key is kept.
    /// Required when the site key changes.
    pub secret_key: Option<String>,
    /// When signing up with a password requires a solved challenge.
    #[schema(value_type = Policy, required = false)]
    pub sign_up: Option<Policy>,
    /// When requesting a sign-in code requires a solved challenge.
    #[schema(value_type = Policy, required = false)]
    pub send_sign_in_code: Option<Policy>,
    /// When starting an OAuth flow requires a solved challenge; linking a provider account never
    /// requires a challenge.
    #[schema(value_type = Policy, required = false)]
    pub oauth: Option<Policy>,
}

impl BotChallengeInput {
    /// The settings with these changes applied, or the first problem found.
    pub fn check(self, old: &BotChallenge, project: &str, deployment: &Deployment<'_>) -> Result<BotChallenge, SettingRefusal> {
        let mut site_key = old.turnstile.as_ref().map(|turnstile| turnstile.site_key.clone());
        self.site_key.apply(&mut site_key);
        let site_key = site_key.filter(|key| !key.is_empty());
        let secret_key = self.secret_key.filter(|key| !key.is_empty() && key != HIDDEN_SECRET);
        let turnstile = match (site_key, secret_key) {
            (None, None) => None,
            (None, Some(_)) => return Err(wrong("site_key", "is required together with secret_key")),
            (Some(site_key), Some(secret_key)) => Some(sealed(site_key, secret_key, project, deployment)?),
            (Some(site_key), None) => {
                let kept = old.turnstile.clone().filter(|old| old.site_key == site_key);
                Some(kept.ok_or_else(|| wrong("secret_key", "is required when the site key changes: Cloudflare's dashboard shows both"))?)
            }
        };
        let provider = self.provider.unwrap_or(old.provider);
        if provider == ChallengeProvider::Turnstile && turnstile.is_none() {
            return Err(wrong("site_key", "is required for the provider turnstile, together with the secret_key of the same widget"));
        }
        Ok(BotChallenge {
            provider,
            turnstile,
            sign_up: self.sign_up.unwrap_or(old.sign_up),
            send_sign_in_code: self.send_sign_in_code.unwrap_or(old.send_sign_in_code),
            oauth: self.oauth.unwrap_or(old.oauth),
            usual_requests_per_hour: old.usual_requests_per_hour,
        })
    }
}

/// Checks a project's usual number of requests per hour.
pub(crate) fn check_usual(requests: u32) -> Result<u32, SettingRefusal> {
    let wrong = || invalid("config.bot_challenge_usual_requests_per_hour", "must be from 1 to 1000000");
    Some(requests).filter(|requests| USUAL.contains(requests)).ok_or_else(wrong)
}

fn sealed(site_key: String, secret_key: String, project: &str, deployment: &Deployment<'_>) -> Result<Turnstile, SettingRefusal> {
    for (field, key) in [("site_key", &site_key), ("secret_key", &secret_key)] {
        if key.len() > MAX_KEY || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong(field, "must be a Turnstile key: at most 128 ASCII letters, digits and punctuation characters"));
        }
    }
    let owner = Turnstile::secret_owner(project, &site_key);
    let secret_key = deployment.sealer.seal(deployment.entropy, &owner, &SecretString::from(secret_key));
    Ok(Turnstile {
        site_key,
        secret_key: secret_key.map_err(|_| wrong("secret_key", "cannot be encrypted, because this function has no GATELET_SECRET"))?,
    })
}

fn wrong(field: &str, message: &'static str) -> SettingRefusal {
    invalid(format!("config.bot_challenge.{field}"), message)
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;
    use crate::setting::testing::{in_deployment, sealer};

    fn checked(old: &BotChallenge, input: BotChallengeInput) -> Result<BotChallenge, String> {
        in_deployment(|deployment| input.check(old, "project", deployment)).map_err(|error| error.to_string())
    }

    fn turnstile(site_key: &str, secret_key: Option<&str>) -> BotChallengeInput {
        BotChallengeInput {
            provider: Some(ChallengeProvider::Turnstile),
            site_key: Change::Set(site_key.to_owned()),
            secret_key: secret_key.map(str::to_owned),
            ..BotChallengeInput::default()
        }
    }

    #[test]
    fn a_secret_key_stays_with_its_site_key() {
        let first = checked(&BotChallenge::default(), turnstile("site", Some("secret"))).expect("valid");
        let kept = checked(&first, turnstile("site", None)).expect("the same site key");
        assert_eq!(kept, first);
        let refused = checked(&first, turnstile("another", None)).expect_err("another site key");
        assert!(refused.starts_with("config.bot_challenge.secret_key is required"), "{refused}");
        let opened = first.turnstile.map(|it| sealer().open(&Turnstile::secret_owner("project", "site"), &it.secret_key));
        assert!(matches!(opened, Some(Ok(secret)) if secret.expose_secret() == "secret"));
    }

    #[test]
    fn turnstile_requires_keys_but_proof_of_work_does_not() {
        let only = |provider| BotChallengeInput { provider: Some(provider), ..BotChallengeInput::default() };
        let refused = checked(&BotChallenge::default(), only(ChallengeProvider::Turnstile)).expect_err("no keys");
        assert!(refused.starts_with("config.bot_challenge.site_key is required"), "{refused}");
        let altcha = checked(&BotChallenge::default(), only(ChallengeProvider::Altcha)).expect("valid");
        assert_eq!((altcha.policy(GuardedOperation::SignUp), altcha.turnstile), (Policy::WhenSuspicious, None));
        for key in ["two words", "ä", &"x".repeat(129)] {
            assert!(checked(&BotChallenge::default(), turnstile(key, Some("secret"))).is_err(), "{key}");
        }
    }

    #[test]
    fn no_challenge_is_required_while_the_provider_is_off() {
        let always = BotChallenge { sign_up: Policy::Always, ..BotChallenge::default() };
        assert_eq!(always.policy(GuardedOperation::SignUp), Policy::Off);
    }
}
