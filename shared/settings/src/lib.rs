//! The operator's settings: a single table lists every environment variable of a function.

#![doc = include_str!("settings.md")]
#![warn(missing_docs)]

pub mod mail_relays;

use std::time::Duration;

use crypto::deployment_secret::DeploymentSecret;
use crypto::password::cost::Cost;
use crypto::password::hash::Hasher;
use model::email::Email;
use model::limit::{Limits, Rule};
use model::project::own_pages::OwnPages;
use model::provider::shared::{SHARED, ShareableProvider, SharedClient, SharedClients};
use model::security_contact::{ContactError, SecurityContact};
use model::setting::senders::Senders;
use secrecy::SecretString;
use url::Url;
use wire::environment::{Error, required, variable};

use crate::mail_relays::MailRelays;

/// The table above as Markdown text.
pub const TABLE: &str = include_str!("settings.md");

/// Secrets from published examples, which deployments must not use.
const KNOWN_SECRETS: [&str; 2] = ["change-me-change-me-change-me-change-me", "00000000000000000000000000000000"];

/// The operator's settings of a deployment.
#[derive(Clone)]
pub struct Settings {
    /// The base URL of the product API and of the token issuers, without a trailing slash.
    pub api_url: String,
    /// Where the service's own pages for users are.
    pub own_pages: OwnPages,
    /// The base URL of the public content, without a trailing slash.
    pub site_url: String,
    /// The deployment secret, from which the deployment's keys are derived.
    pub secret: DeploymentSecret,
    /// The secret that proves that a request came through the deployment's distribution. If absent,
    /// [`Self::trust_viewer_headers`] applies.
    pub origin_secret: Option<SecretString>,
    /// Whether functions with an [`Self::origin_secret`] also serve requests that did not come
    /// through the distribution.
    pub allows_direct: bool,
    /// The lifetime of an access token, from 20 seconds to one hour.
    pub access_token_life: Duration,
    /// How long each process caches a project and its key, in seconds, from 0 to 10. Revoked keys,
    /// old settings and deleted projects stay in effect for that time. With 0, each request reads
    /// the project and the key.
    pub project_cache_seconds: u8,
    /// The rate limits.
    pub limits: Limits,
    /// The name of the deployment; absent for a deployment without metrics.
    pub stage: Option<String>,
    /// The addresses for the `From` header of the deployment's emails.
    pub senders: Senders,
    /// The number of emails per hour for a project without a sending history; absent for no limit.
    pub mails_per_hour: Option<u32>,
    /// Whether viewer headers (`cloudfront-viewer-…`) are trusted if there is no origin secret. The
    /// setting is intended for tests.
    pub trust_viewer_headers: bool,
    /// Whether this is a development environment, whose API URL uses plain HTTP. In development,
    /// the OAuth cookie may be sent without TLS.
    pub development: bool,
    /// Whether OAuth issuers, mail servers and webhook endpoints may have loopback, private and
    /// link-local IP addresses. If so, issuers may also use plain HTTP, mail servers and webhook
    /// endpoints on this machine do not need TLS, and test emails may use any port.
    pub allow_private_issuers: bool,
    /// The mail servers in the operator's own network.
    pub mail_relays: MailRelays,
    /// The base URL, without a trailing slash, of a server that stands in for all providers. The
    /// server is intended for tests, and for trying a sign-in without an account at a provider.
    pub provider_stand_in: Option<String>,
    /// The deployment's clients at OAuth providers.
    pub shared_clients: SharedClients,
    /// The contacts for reporting vulnerabilities; absent for a site without `security.txt`, and in
    /// functions that do not show it ([`Self::with_security_contact`]).
    pub security_contact: Option<SecurityContact>,
    /// The name of the S3 bucket with the content's images; absent if the images are in the table.
    pub images_bucket: Option<String>,
}

impl Settings {
    /// The settings of a function with this secret, which comes from [`secret_from_env`], or is
    /// [`DeploymentSecret::absent`] for functions without a secret. Fails at the first missing or
    /// invalid variable.
    pub fn from_env(secret: DeploymentSecret) -> Result<Self, Error> {
        let api_url = base_url("GATELET_API_URL", &required("GATELET_API_URL")?)?;
        let site_url = match variable("GATELET_SITE_URL") {
            Some(url) => base_url("GATELET_SITE_URL", &url)?,
            None => api_url.clone(),
        };
        let settings = Self {
            own_pages: own_pages(&api_url)?,
            senders: senders(&api_url, "")?,
            mails_per_hour: mails_per_hour(variable("GATELET_MAILS_PER_HOUR").as_deref().unwrap_or("200"))?,
            trust_viewer_headers: false,
            development: api_url.starts_with("http:"),
            allow_private_issuers: allow_private_issuers(),
            mail_relays: mail_relays()?,
            provider_stand_in: provider_stand_in()?,
            shared_clients: shared_clients(variable),
            security_contact: None,
            images_bucket: variable("GATELET_IMAGES"),
            api_url,
            site_url,
            secret,
            origin_secret: variable("GATELET_ORIGIN_SECRET").map(Into::into),
            allows_direct: variable("GATELET_ALLOWS_DIRECT").as_deref() == Some("on"),
            access_token_life: access_token_life()?,
            project_cache_seconds: project_cache_seconds(variable("GATELET_PROJECT_CACHE_SECONDS").as_deref().unwrap_or("0"))?,
            stage: variable("GATELET_STAGE"),
            limits: limits(variable("GATELET_LIMITS").as_deref().unwrap_or("standard"), variable)?,
        };
        Ok(settings)
    }

    /// Adds the security contact from the environment. Only functions without a deployment secret
    /// show the contact. [`Self::from_env`] omits the contact, because the code that parses the
    /// contact's expiry date would make every function larger.
    pub fn with_security_contact(self) -> Result<Self, Error> {
        Ok(Self { security_contact: security_contact(variable)?, ..self })
    }
}

/// Where the service's own pages for users are (`GATELET_HOSTED_DOMAIN`).
pub fn own_pages(api_url: &str) -> Result<OwnPages, Error> {
    let domain = variable("GATELET_HOSTED_DOMAIN");
    OwnPages::new(api_url, domain.as_deref()).map_err(|_| Error::InvalidHostedDomain)
}

/// Whether OAuth issuers, mail servers and webhook endpoints may have private IP addresses
/// (`GATELET_ALLOW_PRIVATE_ISSUERS=1`). [`Settings::allow_private_issuers`] describes what else the
/// variable permits.
pub fn allow_private_issuers() -> bool {
    variable("GATELET_ALLOW_PRIVATE_ISSUERS").is_some_and(|value| value == "1")
}

/// The mail servers in the operator's own network (`GATELET_MAIL_RELAYS`).
pub fn mail_relays() -> Result<MailRelays, Error> {
    MailRelays::parse(variable("GATELET_MAIL_RELAYS").as_deref().unwrap_or_default()).map_err(|_| Error::InvalidMailRelays)
}

/// Whether the deployment serves the console (`GATELET_CONSOLE=on` or `1`). Anyone can open the
/// console, but has to sign in to see anything.
pub fn has_console() -> bool {
    variable("GATELET_CONSOLE").is_some_and(|value| value == "on" || value == "1")
}

/// The deployment secret from the environment (`GATELET_SECRET`).
pub fn secret_from_env() -> Result<DeploymentSecret, Error> {
    deployment_secret(required("GATELET_SECRET")?)
}

/// The deployment secret and, if the environment contains it, the previous secret. Fails if one of
/// the secrets is shorter than 32 bytes or is a published example.
pub fn deployment_secret(current: String) -> Result<DeploymentSecret, Error> {
    let current = DeploymentSecret::new(strong("GATELET_SECRET", current)?);
    match variable("GATELET_SECRET_PREVIOUS") {
        Some(previous) => Ok(current.with_previous(strong("GATELET_SECRET_PREVIOUS", previous)?)),
        None => Ok(current),
    }
}

/// The server that stands in for all providers (`GATELET_PROVIDER_STAND_IN`); `None` if the
/// variable is not set, or if private IP addresses are not allowed.
pub fn provider_stand_in() -> Result<Option<String>, Error> {
    let url = variable("GATELET_PROVIDER_STAND_IN").filter(|_| allow_private_issuers());
    url.map(|url| base_url("GATELET_PROVIDER_STAND_IN", &url)).transpose()
}

/// The deployment's clients at OAuth providers (`GATELET_SHARED_GOOGLE_CLIENT_ID` and others).
/// Functions that do not call providers have only the ids of the clients.
pub fn shared_clients(variable: impl Fn(&str) -> Option<String>) -> SharedClients {
    let client = |shared: ShareableProvider| {
        let (id, secret) = (variable(shared.id_variable)?, variable(shared.secret_variable).map(Into::into));
        Some((shared.id, SharedClient { id, secret }))
    };
    SHARED.into_iter().filter_map(client).collect()
}

/// Like [`shared_clients`]. Fails if only the id or only the secret of a client is set.
pub fn whole_shared_clients(variable: impl Fn(&str) -> Option<String>) -> Result<SharedClients, Error> {
    for shared in SHARED {
        match (variable(shared.id_variable), variable(shared.secret_variable)) {
            (Some(_), None) => return Err(Error::Missing(shared.secret_variable)),
            (None, Some(_)) => return Err(Error::Missing(shared.id_variable)),
            _ => {}
        }
    }
    Ok(shared_clients(variable))
}

/// The contacts for reporting vulnerabilities (`GATELET_SECURITY_CONTACT` and
/// `GATELET_SECURITY_EXPIRES`); `None` if neither variable is set. Fails if only one of the
/// variables is set, or if one is malformed.
pub fn security_contact(variable: impl Fn(&str) -> Option<String>) -> Result<Option<SecurityContact>, Error> {
    const CONTACT: &str = "GATELET_SECURITY_CONTACT";
    const EXPIRES: &str = "GATELET_SECURITY_EXPIRES";
    let (contacts, expires) = match (variable(CONTACT), variable(EXPIRES)) {
        (Some(contacts), Some(expires)) => (contacts, expires),
        (None, None) => return Ok(None),
        (Some(_), None) => return Err(Error::Missing(EXPIRES)),
        (None, Some(_)) => return Err(Error::Missing(CONTACT)),
    };
    SecurityContact::parse(&contacts, &expires).map(Some).map_err(|invalid| {
        let name = if matches!(invalid, ContactError::Contact(_)) { CONTACT } else { EXPIRES };
        Error::InvalidSecurityText(name, invalid.to_string())
    })
}

/// Refuses short secrets and published examples.
fn strong(name: &'static str, secret: String) -> Result<SecretString, Error> {
    if secret.len() < 32 || KNOWN_SECRETS.contains(&secret.as_str()) { Err(Error::WeakSecret(name)) } else { Ok(secret.into()) }
}

/// The lifetime of an access token (`GATELET_ACCESS_TOKEN_SECONDS`): 20 to 3600 seconds, 600 by
/// default.
pub fn access_token_life() -> Result<Duration, Error> {
    let Some(text) = variable("GATELET_ACCESS_TOKEN_SECONDS") else { return Ok(Duration::from_secs(600)) };
    let seconds = text.parse().ok().filter(|seconds| (20..=3600).contains(seconds));
    seconds.map(Duration::from_secs).ok_or(Error::InvalidTokenLife)
}

/// A hasher that creates new hashes with the cost in `GATELET_PASSWORD_HASH` (see [`Cost::parse`]).
/// The default is [`Cost::STANDARD`].
pub fn hasher() -> Result<Hasher, Error> {
    let Some(text) = variable("GATELET_PASSWORD_HASH") else { return Ok(Hasher::default()) };
    Cost::parse(&text).map(Hasher::at).ok_or(Error::InvalidPasswordHash)
}

/// Parses the time for which a project and its key are cached, in seconds, from 0 to 10.
pub fn project_cache_seconds(text: &str) -> Result<u8, Error> {
    text.parse().ok().filter(|seconds| *seconds <= 10).ok_or(Error::InvalidProjectCache)
}

/// Parses a positive number of emails per hour, or `off` for no limit.
pub fn mails_per_hour(text: &str) -> Result<Option<u32>, Error> {
    if text == "off" {
        return Ok(None);
    }
    text.parse().ok().filter(|number| *number > 0).map(Some).ok_or(Error::InvalidMailRate)
}

/// The limits of a mode (`standard`, `generous` or `off`). Each rule has an environment variable
/// ([`Rule::variable`]) that overrides its limit. `variable` returns the value of an environment
/// variable.
pub fn limits(mode: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Limits, Error> {
    let mut limits = match mode {
        "standard" => Limits::standard(),
        "generous" => Limits::generous(),
        "off" => Limits::off(),
        _ => return Err(Error::InvalidLimits),
    };
    for rule in Rule::ALL {
        let name = rule.variable();
        limits = match variable(&name).as_deref() {
            None => limits,
            Some("off") => limits.with(rule, None),
            Some(text) => limits.with(rule, Some(text.parse().map_err(|_| Error::InvalidLimit(name))?)),
        };
    }
    Ok(limits)
}

/// Parses an absolute http or https URL without a query or fragment, and removes trailing slashes.
/// The error names the variable `name`.
pub fn base_url(name: &'static str, text: &str) -> Result<String, Error> {
    let url = Url::parse(text).map_err(|_| Error::InvalidUrl(name))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() || url.query().is_some() || url.fragment().is_some() {
        return Err(Error::InvalidUrl(name));
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// The allowed sender addresses. The deployment's sender address is `GATELET_SENDER` or, if that is
/// not set, `noreply@` followed by the API's host. Projects can use the domains and email addresses
/// in `GATELET_SENDER_DOMAINS` or, if that is not set, in `default_domains`.
pub fn senders(api_url: &str, default_domains: &str) -> Result<Senders, Error> {
    let own = match variable("GATELET_SENDER") {
        Some(text) => Email::parse(&text).map_err(|_| Error::InvalidSender)?.to_string(),
        None => {
            let host = Url::parse(api_url).ok().and_then(|url| url.host_str().map(str::to_owned));
            format!("noreply@{}", host.unwrap_or_else(|| "localhost".to_owned()))
        }
    };
    let domains = variable("GATELET_SENDER_DOMAINS");
    Senders::new(own, domains.as_deref().unwrap_or(default_domains)).map_err(|_| Error::InvalidSenderDomains)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::limit::Rate;

    #[test]
    fn a_variable_changes_only_its_own_rule() {
        let of = |name: &'static str, value: &'static str| move |asked: &str| (asked == name).then(|| value.to_owned());
        let changed = limits("standard", of("GATELET_LIMIT_SIGN_IN_FAILURES", "3/60")).expect("valid");
        assert_eq!(changed, Limits::standard().with(Rule::SignInFailures, Some(Rate::new(3, 60))));
        let switched_off = limits("generous", of("GATELET_LIMIT_WRITE", "off")).expect("valid");
        assert_eq!(switched_off, Limits::generous().with(Rule::Write, None));
        assert_eq!(limits("off", |_| None).expect("valid"), Limits::off());
    }

    #[test]
    fn a_shared_client_has_an_id_and_a_secret() {
        let both = |name: &str| name.contains("_GITHUB_").then(|| "x".to_owned());
        let clients = whole_shared_clients(both).expect("valid");
        assert!(clients.get("github").is_some_and(|client| client.id == "x" && client.secret.is_some()) && clients.get("google").is_none());
        for half in [SHARED[0].id_variable, SHARED[0].secret_variable] {
            let one = |name: &str| (name == half).then(|| "x".to_owned());
            assert!(matches!(whole_shared_clients(one), Err(Error::Missing(missing)) if missing != half));
        }
    }

    #[test]
    fn a_security_contact_has_an_expiry() {
        let of = |contact: &'static str, expires: &'static str| {
            security_contact(move |name: &str| {
                let value = if name.ends_with("_CONTACT") { contact } else { expires };
                Some(value.to_owned()).filter(|value| !value.is_empty())
            })
        };
        let time = "2027-01-31T00:00:00Z";
        assert!(matches!(of("", ""), Ok(None)));
        assert!(of("tel:+1", time).is_ok_and(|contact| contact.is_some()));
        assert!(matches!(of("tel:+1", ""), Err(Error::Missing("GATELET_SECURITY_EXPIRES"))));
        assert!(matches!(of("", time), Err(Error::Missing("GATELET_SECURITY_CONTACT"))));
        assert!(matches!(of("a@example.com", time), Err(Error::InvalidSecurityText("GATELET_SECURITY_CONTACT", _))));
        assert!(matches!(of("tel:+1", "soon"), Err(Error::InvalidSecurityText("GATELET_SECURITY_EXPIRES", _))));
    }

    #[test]
    fn an_invalid_setting_is_refused_with_its_name() {
        assert!(matches!(limits("on", |_| None), Err(Error::InvalidLimits)));
        assert!(matches!((mails_per_hour("0"), mails_per_hour("many")), (Err(Error::InvalidMailRate), Err(Error::InvalidMailRate))));
        assert!(matches!((mails_per_hour("14"), mails_per_hour("off")), (Ok(Some(14)), Ok(None))));
        let wrong = limits("standard", |name| (name == "GATELET_LIMIT_CODE").then(|| "many".to_owned()));
        assert!(matches!(wrong, Err(Error::InvalidLimit(name)) if name == "GATELET_LIMIT_CODE"));
    }
}
