//! Which URLs a project's users may be redirected to. Open redirects leak codes, so a URL that is
//! not clearly trusted is rejected.

use serde::{Deserialize, Serialize};
use url::{Host, Origin, Url};
use utoipa::ToSchema;

use crate::project::callback_path;
use crate::project::host_pattern::{MAX_HOST, host_matches};

/// The scheme of native apps, accepted in OAuth flows only.
pub const NATIVE_SCHEME: &str = "stack-auth-mobile-oauth-url";

/// The longest accepted URL, in bytes.
const MAX_LENGTH: usize = 2048;

/// A domain that the project trusts: an origin, whose host may have wildcards, and the path of its
/// handler pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TrustedDomain {
    /// `scheme://host[:port]`. In the host, `*` matches within one label and `**` across labels.
    #[schema(example = "https://*.example.com")]
    pub domain: String,
    /// The path of the pages that emails link to.
    #[schema(example = "/handler")]
    pub handler_path: String,
}

/// An absolute URL from a client. Whether it is trusted depends on the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, format = Uri, example = "https://app.example.com/handler")]
pub struct RedirectUrl(Url);

/// The text is not an absolute URL, is too long, or contains control characters or backslashes; as
/// an error of [`parse_domain`], the text is not an origin of the permitted form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an absolute URL of at most 2048 bytes, without control characters or backslashes")]
pub struct InvalidUrl;

impl RedirectUrl {
    /// Parses an absolute URL of at most 2048 bytes.
    pub fn parse(text: &str) -> Result<Self, InvalidUrl> {
        if text.len() > MAX_LENGTH || text.chars().any(|c| c.is_control() || c == '\\') {
            return Err(InvalidUrl);
        }
        Url::parse(text).map(Self).map_err(|_| InvalidUrl)
    }

    /// The URL.
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// The URL with its query parameter `name` set to `value`; an existing one is replaced.
    pub fn with_query(&self, name: &str, value: &str) -> Url {
        let mut url = self.0.clone();
        let others: Vec<_> = self.0.query_pairs().filter(|(key, _)| key != name).map(|(k, v)| (k.into_owned(), v.into_owned())).collect();
        url.query_pairs_mut().clear().extend_pairs(others).append_pair(name, value);
        url
    }

    /// The URL without its fragment.
    pub fn without_fragment(&self) -> Self {
        let mut url = self.0.clone();
        url.set_fragment(None);
        Self(url)
    }

    /// The URL without its fragment, and with its query encoded as [`Self::with_query`] encodes it:
    /// what remains when an app removes the parameters that a redirect added.
    #[must_use]
    pub fn as_received(&self) -> Self {
        let mut url = self.without_fragment().0;
        let pairs: Vec<_> = self.0.query_pairs().into_owned().collect();
        url.set_query(None);
        if !pairs.is_empty() {
            url.query_pairs_mut().extend_pairs(pairs);
        }
        Self(url)
    }
}

impl<E: deserr::DeserializeError> deserr::Deserr<E> for RedirectUrl {
    fn deserialize_from_value<V: deserr::IntoValue>(value: deserr::Value<V>, location: deserr::ValuePointerRef<'_>) -> Result<Self, E> {
        let text = String::deserialize_from_value(value, location)?;
        Self::parse(&text).map_err(|error| wire::problem::rejected(&error, location))
    }
}

/// The redirects that a project permits.
pub struct Rules<'a> {
    /// Whether localhost is trusted.
    pub allow_localhost: bool,
    /// The trusted domains.
    pub domains: &'a [TrustedDomain],
}

impl Rules<'_> {
    /// Whether users may be redirected to `url`.
    pub fn trust(&self, url: &RedirectUrl) -> bool {
        let url = url.url();
        // People misread the host of `https://trusted.example@evil.example`.
        if !url.username().is_empty() || url.password().is_some() || callback_path::is_of_providers(url) {
            return false;
        }
        (self.allow_localhost && is_localhost(url)) || self.domains.iter().any(|domain| matches(&domain.domain, url))
    }

    /// Whether the project trusts this host with at least one scheme and port.
    pub fn trust_host(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        let is_local = || Url::parse(&format!("http://{name}")).is_ok_and(|url| url.host_str() == Some(&name) && is_localhost(&url));
        let is_of =
            |domain: &TrustedDomain| authority(&domain.domain).is_some_and(|(_, host, _)| host_matches(&host.to_ascii_lowercase(), &name));
        (self.allow_localhost && is_local()) || self.domains.iter().any(is_of)
    }

    /// Like [`Self::trust`], but also accepts the scheme of native apps.
    pub fn trust_for_oauth(&self, url: &RedirectUrl) -> bool {
        url.url().scheme() == NATIVE_SCHEME || self.trust(url)
    }

    /// Like [`Self::trust`], with an error that says how to fix an untrusted URL.
    pub fn check(&self, url: &RedirectUrl) -> Result<(), Untrusted> {
        if self.trust(url) { Ok(()) } else { Err(Untrusted::of(url)) }
    }

    /// Like [`Self::trust_for_oauth`], with an error that says how to fix an untrusted URL.
    pub fn check_for_oauth(&self, url: &RedirectUrl) -> Result<(), Untrusted> {
        if self.trust_for_oauth(url) { Ok(()) } else { Err(Untrusted::of(url)) }
    }
}

/// Why users may not be redirected to a URL. Errors contain at most the origin of the URL, because
/// the rest may contain a code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Untrusted {
    /// None of the project's domains matches the URL.
    #[error("redirect URL {origin} is not trusted: add its domain to the project's trusted domains (`config.domains`){localhost}")]
    Domain {
        /// Scheme, host and port of the URL.
        origin: String,
        /// A hint for localhost URLs; otherwise empty.
        localhost: &'static str,
    },
    /// The scheme is neither http nor https.
    #[error("redirect URL with the scheme {scheme} is not trusted: use an http or https URL")]
    Scheme {
        /// The scheme of the URL.
        scheme: String,
    },
    /// The URL contains credentials.
    #[error("redirect URL {origin} is not trusted: remove the user name and password before the host")]
    Credentials {
        /// Scheme, host and port of the URL.
        origin: String,
    },
    /// OAuth providers send users back to the URL.
    #[error("redirect URL {origin} with this path is not trusted: providers send users back there, so use a page of the app")]
    Callback {
        /// Scheme, host and port of the URL.
        origin: String,
    },
}

impl Untrusted {
    fn of(url: &RedirectUrl) -> Self {
        let url = url.url();
        if !matches!(url.scheme(), "http" | "https") {
            return Self::Scheme { scheme: url.scheme().to_owned() };
        }
        let origin = Origin::ascii_serialization(&url.origin());
        if !url.username().is_empty() || url.password().is_some() {
            return Self::Credentials { origin };
        }
        if callback_path::is_of_providers(url) {
            return Self::Callback { origin };
        }
        let localhost = if is_localhost(url) { ", or turn on `config.allow_localhost` for development" } else { "" };
        Self::Domain { origin, localhost }
    }
}

/// Whether the host is `localhost`, a name below it, or in 127.0.0.0/8; the port does not matter.
/// The scheme must be http or https, because a URL such as `intent://localhost` opens an app.
fn is_localhost(url: &Url) -> bool {
    if !matches!(url.scheme(), "http" | "https") {
        return false;
    }
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(_)) | None => false,
    }
}

fn matches(pattern: &str, url: &Url) -> bool {
    let Some((scheme, host, port)) = authority(pattern) else { return false };
    scheme.eq_ignore_ascii_case(url.scheme())
        && matches!(url.scheme(), "http" | "https")
        && port == url.port_or_known_default()
        && url.host_str().is_some_and(|name| host_matches(&host.to_ascii_lowercase(), name))
}

/// The scheme, host and port of a domain pattern; `None` if the pattern has no scheme.
fn authority(pattern: &str) -> Option<(&str, &str, Option<u16>)> {
    let (scheme, authority) = pattern.split_once("://")?;
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => (host, port.parse().ok()),
        _ => (authority, Some(default_port(scheme))),
    };
    Some((scheme, host, port))
}

fn default_port(scheme: &str) -> u16 {
    if scheme.eq_ignore_ascii_case("https") { 443 } else { 80 }
}

/// Validates a domain setting: an http or https origin, with wildcards only in the host.
pub fn parse_domain(text: &str) -> Result<(), InvalidUrl> {
    let authority = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).ok_or(InvalidUrl)?;
    if authority.is_empty() || authority.contains(['@', '\\', ' ', '?', '#']) {
        return Err(InvalidUrl);
    }
    let plain = text.replace("**", "w").replace('*', "w");
    let url = Url::parse(&plain).map_err(|_| InvalidUrl)?;
    let has_host = url.host_str().is_some_and(|host| host.len() <= MAX_HOST);
    if has_host && matches!(url.path(), "/" | "") { Ok(()) } else { Err(InvalidUrl) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trusts(pattern: &str, url: &str) -> bool {
        let domains = [TrustedDomain { domain: pattern.to_owned(), handler_path: "/handler".to_owned() }];
        RedirectUrl::parse(url).is_ok_and(|url| Rules { allow_localhost: false, domains: &domains }.trust(&url))
    }

    #[test]
    fn an_exact_domain_is_scheme_host_and_port() {
        let pattern = "https://app.example.com";
        for url in ["https://app.example.com", "https://app.example.com:443/a?b#c", "https://APP.example.com/"] {
            assert!(trusts(pattern, url), "{url}");
        }
        for url in [
            "http://app.example.com",
            "https://app.example.com:8443",
            "https://app.example.com.evil.test",
            "https://evil.test/app.example.com",
            "https://app.example.com@evil.test",
            "https://user@app.example.com",
            "https:\\\\evil.test\\app.example.com",
            "https://app.example.com.",
            "https://xapp.example.com",
        ] {
            assert!(!trusts(pattern, url), "{url}");
        }
    }

    #[test]
    fn wildcards_match_only_host_labels() {
        assert!(parse_domain(&format!("https://{}.test", "a".repeat(249))).is_err(), "a name of a host has at most 253 bytes");
        assert!(trusts("https://*.example.com", "https://a.example.com/x"));
        assert!(!trusts("https://*.example.com", "https://a.b.example.com"));
        assert!(!trusts("https://*.example.com", "https://example.com"));
        assert!(!trusts("https://*.example.com", "https://a.example.com:8443"));
        assert!(trusts("https://**.example.com", "https://a.b.example.com"));
        assert!(trusts("https://pr-*.example.com:8443", "https://pr-12.example.com:8443"));
        assert!(!trusts("https://*.example.com", "https://evil.test/.example.com"));
    }

    #[test]
    fn a_host_is_trusted_at_any_port() {
        let domain = |domain: &str| TrustedDomain { domain: domain.to_owned(), handler_path: "/handler".to_owned() };
        let domains = [domain("https://app.example.com:8443"), domain("https://*.preview.example")];
        let rules = Rules { allow_localhost: false, domains: &domains };
        for host in ["app.example.com", "APP.example.com", "one.preview.example"] {
            assert!(rules.trust_host(host), "{host}");
        }
        for host in
            ["", "example.com", "app.example.com.evil.test", "a.b.preview.example", "localhost", "app.example.com:8443", "127.0.0.1"]
        {
            assert!(!rules.trust_host(host), "{host}");
        }
        let local = Rules { allow_localhost: true, domains: &[] };
        assert!(["localhost", "app.localhost", "127.0.0.1"].iter().all(|host| local.trust_host(host)));
        assert!(!["localhost.evil.test", "localhost/x", "evil.test"].iter().any(|host| local.trust_host(host)));
    }

    #[test]
    fn localhost_is_trusted_by_a_setting() {
        let rules = |allow_localhost| Rules { allow_localhost, domains: &[] };
        for url in ["http://localhost:3000/x", "https://app.localhost", "http://127.0.0.1:1", "http://127.9.9.9"] {
            let url = RedirectUrl::parse(url).expect("a URL");
            assert!(rules(true).trust(&url) && !rules(false).trust(&url), "{url:?}");
        }
        for url in ["http://localhost.evil.test", "http://128.0.0.1", "javascript://localhost/%0aalert(1)", "http://localhost@evil.test"] {
            assert!(!rules(true).trust(&RedirectUrl::parse(url).expect("a URL")), "{url}");
        }
    }

    #[test]
    fn localhost_with_a_custom_or_browser_scheme_is_rejected() {
        let rules = Rules { allow_localhost: true, domains: &[] };
        for url in
            ["intent://localhost#Intent;end", "view-source://localhost", "exp://127.0.0.1:19000", "ftp://localhost/", "x://localhost"]
        {
            let url = RedirectUrl::parse(url).expect("a URL");
            assert!(matches!(rules.check(&url), Err(Untrusted::Scheme { .. })), "{url:?}");
        }
    }

    #[test]
    fn a_rejection_names_only_origin_and_setting() {
        let rules = Rules { allow_localhost: false, domains: &[] };
        let refusal = |url: &str| rules.check(&RedirectUrl::parse(url).expect("a URL")).expect_err("a refusal").to_string();
        assert_eq!(
            refusal("https://app.example.com/reset?code=secret#token"),
            "redirect URL https://app.example.com is not trusted: add its domain to the project's trusted domains (`config.domains`)"
        );
        let local = refusal("http://localhost:4000/x");
        assert!(local.contains("http://localhost:4000 is not trusted") && local.ends_with("`config.allow_localhost` for development"));
        assert_eq!(
            refusal("https://ada:secret@app.example.com/"),
            "redirect URL https://app.example.com is not trusted: remove the user name and password before the host"
        );
    }

    #[test]
    fn a_code_replaces_an_existing_code_parameter() {
        let url = RedirectUrl::parse("https://a.test/p?code=old&x=1#f").expect("a URL");
        assert_eq!(url.with_query("code", "new").as_str(), "https://a.test/p?x=1&code=new#f");
    }

    #[test]
    fn a_domain_setting_is_an_origin() {
        for text in ["https://example.com", "http://localhost:3000", "https://*.example.com", "https://**.example.com:8443"] {
            assert!(parse_domain(text).is_ok(), "{text}");
        }
        for text in
            ["example.com", "ftp://example.com", "https://", "https://example.com/path", "https://u@example.com", "javascript:alert(1)"]
        {
            assert!(parse_domain(text).is_err(), "{text}");
        }
    }
}
