//! Bot challenges: which of a project's operations ask for one, and who makes them.
//!
//! The secret key of Turnstile is written and never read. It is sealed for its project and its site key, so another site key asks for
//! the secret anew.

pub mod altcha;
pub mod rate;
pub mod turnstile;

use crypto::seal::Sealed;
use deserr::Deserr;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::change::Change;

use crate::project::setting::{Deployment, InvalidSetting, invalid};

/// Characters of a key of Turnstile; today's have 24 and 35.
const MAX_KEY: usize = 128;
/// Requests an hour that a project may call usual.
const USUAL: std::ops::RangeInclusive<u32> = 1..=1_000_000;

/// Who makes the challenges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "lowercase")]
#[deserr(rename_all = lowercase)]
pub enum ChallengeProvider {
    /// Nobody: no operation asks for a challenge.
    #[default]
    Off,
    /// Cloudflare Turnstile.
    Turnstile,
    /// This service: proof of work for the widget of ALTCHA.
    Altcha,
}

/// When an operation asks for a challenge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    #[deserr(rename = "off")]
    Off,
    /// While the address, its network or the project is above its usual rate.
    #[default]
    #[deserr(rename = "when-suspicious")]
    WhenSuspicious,
    #[deserr(rename = "always")]
    Always,
}

/// An operation that can ask for a challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guarded {
    SignUp,
    SendSignInCode,
    OAuth,
    /// Whatever else has the project email an address that nobody may have proved: the verification of an address, an invitation. Asks
    /// as long as one of the first two does, which it would be a way round otherwise.
    Email,
}

impl Guarded {
    /// The `action` that its widget is rendered with; those of the published SDK, which has none for the last.
    pub fn action(self) -> &'static str {
        match self {
            Self::SignUp => "sign_up_with_credential",
            Self::SendSignInCode => "send_magic_link_email",
            Self::OAuth => "oauth_authenticate",
            Self::Email => "send_email",
        }
    }
}

/// The settings of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BotChallenge {
    pub provider: ChallengeProvider,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turnstile: Option<Turnstile>,
    pub sign_up: Policy,
    pub send_sign_in_code: Policy,
    pub oauth: Policy,
    /// How many requests an hour are usual for the whole project: OAuth flows, and those of the other operations together.
    pub usual_requests_per_hour: u32,
}

/// A widget of Cloudflare Turnstile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turnstile {
    pub site_key: String,
    pub secret_key: Sealed,
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
    /// For serde: what every project starts with takes no room in its item.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// When an operation asks for a challenge.
    pub fn policy(&self, operation: Guarded) -> Policy {
        match (self.provider, operation) {
            (ChallengeProvider::Off, _) => Policy::Off,
            (_, Guarded::SignUp) => self.sign_up,
            (_, Guarded::SendSignInCode) => self.send_sign_in_code,
            (_, Guarded::OAuth) => self.oauth,
            (_, Guarded::Email) if self.sign_up == Policy::Off && self.send_sign_in_code == Policy::Off => Policy::Off,
            // Whoever asks has signed up.
            (_, Guarded::Email) => Policy::WhenSuspicious,
        }
    }
}

impl Turnstile {
    /// What the secret key of a site key is sealed for: copied to another project or site key it does not open.
    pub fn secret_owner(project: &str, site_key: &str) -> String {
        format!("{project}/bot challenge {site_key}")
    }
}

/// The settings as a client needs them to solve a challenge.
#[derive(Debug, Serialize, ToSchema)]
pub struct BotChallengeView {
    /// Who makes the challenges; `off`: no operation asks for one.
    pub provider: ChallengeProvider,
    /// The site key of Turnstile.
    pub site_key: Option<String>,
    /// When signing up with a password takes a solved challenge.
    pub sign_up: Policy,
    /// When asking for a sign-in code takes a solved challenge.
    pub send_sign_in_code: Policy,
    /// When beginning an OAuth flow takes a solved challenge; linking an account never does.
    pub oauth: Policy,
}

impl BotChallengeView {
    pub fn of(settings: &BotChallenge) -> Self {
        let BotChallenge { provider, turnstile, sign_up, send_sign_in_code, oauth, .. } = settings;
        let site_key = turnstile.as_ref().map(|turnstile| turnstile.site_key.clone());
        Self { provider: *provider, site_key, sign_up: *sign_up, send_sign_in_code: *send_sign_in_code, oauth: *oauth }
    }
}

/// The settings as an administrator sends them; absent fields stay as they are.
#[derive(Default, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct BotChallengeInput {
    /// Who makes the challenges; `off`: no operation asks for one.
    #[deserr(default)]
    #[schema(value_type = ChallengeProvider, required = false)]
    pub provider: Option<ChallengeProvider>,
    /// The site key of Turnstile; `null` for none.
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    pub site_key: Change<String>,
    /// The secret key of Turnstile, which is never read. Absent: the one that there is, for the same site key.
    #[deserr(default)]
    pub secret_key: Option<String>,
    /// When signing up with a password takes a solved challenge.
    #[deserr(default)]
    #[schema(value_type = Policy, required = false)]
    pub sign_up: Option<Policy>,
    /// When asking for a sign-in code takes a solved challenge.
    #[deserr(default)]
    #[schema(value_type = Policy, required = false)]
    pub send_sign_in_code: Option<Policy>,
    /// When beginning an OAuth flow takes a solved challenge; linking an account never does.
    #[deserr(default)]
    #[schema(value_type = Policy, required = false)]
    pub oauth: Option<Policy>,
}

impl BotChallengeInput {
    /// The settings with these changes, or the first thing that is wrong with them.
    pub fn check(self, old: &BotChallenge, project: &str, deployment: &Deployment<'_>) -> Result<BotChallenge, InvalidSetting> {
        let mut site_key = old.turnstile.as_ref().map(|turnstile| turnstile.site_key.clone());
        self.site_key.apply(&mut site_key);
        let site_key = site_key.filter(|key| !key.is_empty());
        let secret_key = self.secret_key.filter(|key| !key.is_empty());
        let turnstile = match (site_key, secret_key) {
            (None, None) => None,
            (None, Some(_)) => return Err(wrong("site_key", "is required with a secret key")),
            (Some(site_key), Some(secret_key)) => Some(sealed(site_key, secret_key, project, deployment)?),
            (Some(site_key), None) => {
                let kept = old.turnstile.clone().filter(|old| old.site_key == site_key);
                Some(kept.ok_or_else(|| wrong("secret_key", "is required for another site key: Cloudflare's dashboard shows both"))?)
            }
        };
        let provider = self.provider.unwrap_or(old.provider);
        if provider == ChallengeProvider::Turnstile && turnstile.is_none() {
            return Err(wrong("site_key", "is required for the provider turnstile, with the secret key of the same widget"));
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

/// A number of requests that can be usual.
pub(crate) fn check_usual(requests: u32) -> Result<u32, InvalidSetting> {
    let wrong = || invalid("config.bot_challenge_usual_requests_per_hour", "must be from 1 to 1000000");
    Some(requests).filter(|requests| USUAL.contains(requests)).ok_or_else(wrong)
}

fn sealed(site_key: String, secret_key: String, project: &str, deployment: &Deployment<'_>) -> Result<Turnstile, InvalidSetting> {
    for (field, key) in [("site_key", &site_key), ("secret_key", &secret_key)] {
        if key.len() > MAX_KEY || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong(field, "must be a key of Turnstile: at most 128 letters, digits and signs"));
        }
    }
    let owner = Turnstile::secret_owner(project, &site_key);
    let secret_key = deployment.sealer.seal(deployment.entropy, &owner, &SecretString::from(secret_key));
    Ok(Turnstile { site_key, secret_key: secret_key.map_err(|_| wrong("secret_key", "cannot be sealed"))? })
}

fn wrong(field: &str, message: &'static str) -> InvalidSetting {
    invalid(format!("config.bot_challenge.{field}"), message)
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;
    use crate::project::senders::Senders;
    use crypto::deployment_secret::DeploymentSecret;
    use crypto::seal::Sealer;
    use wire::entropy::Entropy;

    fn checked(old: &BotChallenge, input: BotChallengeInput) -> Result<BotChallenge, String> {
        let sealer = sealer();
        let senders = Senders::new(String::new(), "*").expect("a list");
        let deployment = Deployment { sealer: &sealer, entropy: &Entropy::system(), senders: &senders };
        input.check(old, "project", &deployment).map_err(|error| error.to_string())
    }

    fn sealer() -> Sealer {
        Sealer::new(&DeploymentSecret::new("a deployment secret for tests alone".to_owned().into()))
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
    fn turnstile_needs_its_keys_and_proof_of_work_needs_none() {
        let only = |provider| BotChallengeInput { provider: Some(provider), ..BotChallengeInput::default() };
        let refused = checked(&BotChallenge::default(), only(ChallengeProvider::Turnstile)).expect_err("no keys");
        assert!(refused.starts_with("config.bot_challenge.site_key is required"), "{refused}");
        let altcha = checked(&BotChallenge::default(), only(ChallengeProvider::Altcha)).expect("valid");
        assert_eq!((altcha.policy(Guarded::SignUp), altcha.turnstile), (Policy::WhenSuspicious, None));
        for key in ["two words", "ä", &"x".repeat(129)] {
            assert!(checked(&BotChallenge::default(), turnstile(key, Some("secret"))).is_err(), "{key}");
        }
    }

    #[test]
    fn nothing_is_asked_for_while_the_provider_is_off() {
        let always = BotChallenge { sign_up: Policy::Always, ..BotChallenge::default() };
        assert_eq!(always.policy(Guarded::SignUp), Policy::Off);
    }
}
