//! Every environment variable of a function, in one table.
#![doc = include_str!("settings.md")]

use std::time::Duration;

use crypto::deployment_secret::DeploymentSecret;
use model::email::Email;
use model::limit::{Limits, Rule};
use model::project::senders::Senders;
use secrecy::SecretString;
use url::Url;
use wire::environment::{Error, required, variable};

/// The table above as text, in Markdown.
pub const TABLE: &str = include_str!("settings.md");

/// Values that nobody may run a deployment with.
const KNOWN_SECRETS: [&str; 2] = ["change-me-change-me-change-me-change-me", "00000000000000000000000000000000"];

/// What the operator decides for a deployment.
#[derive(Clone)]
pub struct Settings {
    /// Base of interface B and issuer of tokens, without a trailing slash.
    pub api_url: String,
    /// Base of interface A, without a trailing slash.
    pub site_url: String,
    pub secret: DeploymentSecret,
    pub origin_secret: Option<SecretString>,
    pub access_token_life: Duration,
    pub limits: Limits,
    /// Name of the deployment; without one there are no metrics.
    pub stage: Option<String>,
    /// Addresses in the `From` of emails that go by the deployment's mail server.
    pub senders: Senders,
    /// Mails that any project may send in an hour, before its history counts; none: mails are sent as fast as they come.
    pub mails_per_hour: Option<u32>,
    /// Believe the viewer headers of a distribution without a secret: for the gateway in tests.
    pub trust_viewer_headers: bool,
    /// Localhost and plain HTTP are fine: the cookie of OAuth may be sent without TLS.
    pub development: bool,
    /// OAuth issuers and mail servers may be at loopback, private and link-local addresses, issuers and servers of this machine without TLS.
    pub allow_private_issuers: bool,
    /// Base URL of what answers for all providers, without a trailing slash: for tests, and to try a sign-in without an account there.
    pub provider_stand_in: Option<String>,
}

impl Settings {
    /// Settings of a function with this secret: [`secret_from_env`], or none.
    pub fn from_env(secret: DeploymentSecret) -> Result<Self, Error> {
        let api_url = base_url("GATELET_API_URL", &required("GATELET_API_URL")?)?;
        let site_url = match variable("GATELET_SITE_URL") {
            Some(url) => base_url("GATELET_SITE_URL", &url)?,
            None => api_url.clone(),
        };
        let settings = Self {
            senders: senders(&api_url, "")?,
            mails_per_hour: mails_per_hour(variable("GATELET_MAILS_PER_HOUR").as_deref().unwrap_or("200"))?,
            trust_viewer_headers: false,
            development: api_url.starts_with("http:"),
            allow_private_issuers: allow_private_issuers(),
            provider_stand_in: provider_stand_in()?,
            api_url,
            site_url,
            secret,
            origin_secret: variable("GATELET_ORIGIN_SECRET").map(Into::into),
            access_token_life: access_token_life()?,
            stage: variable("GATELET_STAGE"),
            limits: limits(variable("GATELET_LIMITS").as_deref().unwrap_or("standard"), variable)?,
        };
        Ok(settings)
    }
}

/// Whether OAuth issuers and mail servers may be at private addresses.
pub fn allow_private_issuers() -> bool {
    variable("GATELET_ALLOW_PRIVATE_ISSUERS").is_some_and(|value| value == "1")
}

/// The deployment secret of the environment.
pub fn secret_from_env() -> Result<DeploymentSecret, Error> {
    deployment_secret(required("GATELET_SECRET")?)
}

/// The deployment secret, with the one before it when the environment names it.
pub fn deployment_secret(current: String) -> Result<DeploymentSecret, Error> {
    let current = DeploymentSecret::new(strong("GATELET_SECRET", current)?);
    match variable("GATELET_SECRET_PREVIOUS") {
        Some(previous) => Ok(current.with_previous(strong("GATELET_SECRET_PREVIOUS", previous)?)),
        None => Ok(current),
    }
}

/// What answers for all providers, where private addresses are allowed.
pub fn provider_stand_in() -> Result<Option<String>, Error> {
    let url = variable("GATELET_PROVIDER_STAND_IN").filter(|_| allow_private_issuers());
    url.map(|url| base_url("GATELET_PROVIDER_STAND_IN", &url)).transpose()
}

/// Refuses a secret that is short or known.
fn strong(name: &'static str, secret: String) -> Result<SecretString, Error> {
    if secret.len() < 32 || KNOWN_SECRETS.contains(&secret.as_str()) { Err(Error::WeakSecret(name)) } else { Ok(secret.into()) }
}

/// The life of an access token from the environment.
pub fn access_token_life() -> Result<Duration, Error> {
    let Some(text) = variable("GATELET_ACCESS_TOKEN_SECONDS") else { return Ok(Duration::from_secs(600)) };
    let seconds = text.parse().ok().filter(|seconds| (20..=3600).contains(seconds));
    seconds.map(Duration::from_secs).ok_or(Error::InvalidTokenLife)
}

/// Mails an hour from a number, or none from `off`.
pub fn mails_per_hour(text: &str) -> Result<Option<u32>, Error> {
    if text == "off" {
        return Ok(None);
    }
    text.parse().ok().filter(|number| *number > 0).map(Some).ok_or(Error::InvalidMailRate)
}

/// The limits of a mode, changed by what `variable` gives for each rule.
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

/// An absolute http or https URL without its trailing slash.
pub fn base_url(name: &'static str, text: &str) -> Result<String, Error> {
    let url = Url::parse(text).map_err(|_| Error::InvalidUrl(name))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() || url.query().is_some() || url.fragment().is_some() {
        return Err(Error::InvalidUrl(name));
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// Who emails come from: the environment's address, or `noreply@` the host of the API; and what projects may take instead.
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
    fn a_variable_changes_one_rule_and_leaves_the_others() {
        let of = |name: &'static str, value: &'static str| move |asked: &str| (asked == name).then(|| value.to_owned());
        let changed = limits("standard", of("GATELET_LIMIT_SIGN_IN_FAILURES", "3/60")).expect("valid");
        assert_eq!(changed, Limits::standard().with(Rule::SignInFailures, Some(Rate::new(3, 60))));
        let switched_off = limits("generous", of("GATELET_LIMIT_WRITE", "off")).expect("valid");
        assert_eq!(switched_off, Limits::generous().with(Rule::Write, None));
        assert_eq!(limits("off", |_| None).expect("valid"), Limits::off());
    }

    #[test]
    fn a_wrong_setting_is_refused_by_its_name() {
        assert!(matches!(limits("on", |_| None), Err(Error::InvalidLimits)));
        assert!(matches!((mails_per_hour("0"), mails_per_hour("many")), (Err(Error::InvalidMailRate), Err(Error::InvalidMailRate))));
        assert!(matches!((mails_per_hour("14"), mails_per_hour("off")), (Ok(Some(14)), Ok(None))));
        let wrong = limits("standard", |name| (name == "GATELET_LIMIT_CODE").then(|| "many".to_owned()));
        assert!(matches!(wrong, Err(Error::InvalidLimit(name)) if name == "GATELET_LIMIT_CODE"));
    }
}
