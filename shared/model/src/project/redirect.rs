//! The URLs to which a project's users may be redirected. Open redirects leak codes, so every URL
//! that is not explicitly trusted is rejected.

use serde::{Deserialize, Serialize};
use url::{Host, Origin, Url};
use utoipa::ToSchema;
use wire::id::ProjectId;

use crate::project::host_pattern::{MAX_HOST, ascii_form, canonical, has_mixed_label, has_too_many_wildcards, host_matches};
use crate::project::own_pages::OwnPages;
use crate::project::{callback_path, native_redirect};

/// The maximum length of a URL, in bytes.
const MAX_LENGTH: usize = 2048;

/// A trusted domain of a project, and the path of its handler pages. The domain is either an
/// origin, whose host may contain wildcards, or a redirect to a native app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TrustedDomain {
    /// `scheme://host[:port]`, or the redirect URL of a native app, such as
    /// `com.example.app:/callback`. In the host, `*` matches within one label and `**` across
    /// labels; the port `*` matches every port.
    #[schema(example = "https://*.example.com")]
    pub domain: String,
    /// The path of the pages that emails link to.
    #[schema(example = "/handler")]
    pub handler_path: String,
}

/// An absolute URL from a client. Whether the URL is trusted depends on the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, format = Uri, example = "https://app.example.com/handler")]
pub struct RedirectUrl(Url);

/// The text is not an absolute URL, is too long, or contains control characters or backslashes. For
/// [`parse_domain`], the text is not a permitted origin or redirect to a native app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an absolute URL of at most 2048 bytes, without control characters or backslashes")]
pub struct UrlRefusal;

impl RedirectUrl {
    /// Parses an absolute URL of at most 2048 bytes.
    pub fn parse(text: &str) -> Result<Self, UrlRefusal> {
        if text.len() > MAX_LENGTH || text.chars().any(|c| c.is_control() || c == '\\') {
            return Err(UrlRefusal);
        }
        Url::parse(text).map(Self).map_err(|_| UrlRefusal)
    }

    /// The URL.
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// The URL with its query parameter `name` set to `value`; existing values of the parameter are
    /// replaced.
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

    /// The URL without its fragment, and with the query encoded as in [`Self::with_query`]. An app
    /// gets this URL when it removes the parameters that a redirect has added.
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

impl From<Url> for RedirectUrl {
    fn from(url: Url) -> Self {
        Self(url)
    }
}

wire::deserr_from!(RedirectUrl, String, |text| Self::parse(&text));

impl TrustedDomain {
    /// Whether this is a domain on the web instead of a redirect to a native app.
    pub fn is_web(&self) -> bool {
        authority(&self.domain).is_some()
    }
}

/// The redirects that a project permits.
pub struct Rules<'a> {
    /// Whether localhost is trusted.
    pub allow_localhost: bool,
    /// The trusted domains.
    pub domains: &'a [TrustedDomain],
    /// The project's pages on this service; `None` for rules that do not include these pages.
    pub own: Option<(&'a OwnPages, &'a ProjectId)>,
}

impl Rules<'_> {
    /// Whether users may be redirected to `url`.
    pub fn trust(&self, url: &RedirectUrl) -> bool {
        let url = url.url();
        // Users could mistake `https://trusted.example@evil.example` for a URL of
        // `trusted.example`.
        if !url.username().is_empty() || url.password().is_some() || callback_path::is_of_providers(url) {
            return false;
        }
        let is_own = || self.own.is_some_and(|(pages, project)| pages.has(project, url));
        (self.allow_localhost && is_localhost(url)) || self.domains.iter().any(|domain| matches(&domain.domain, url)) || is_own()
    }

    /// Whether pages of this origin belong to the project.
    pub fn trust_origin(&self, origin: &RedirectUrl) -> bool {
        let text = origin.url().origin().ascii_serialization();
        self.trust(origin) || self.own.is_some_and(|(pages, project)| pages.is_origin(project, &text))
    }

    /// Whether the project trusts this host with any scheme and port.
    pub fn trust_host(&self, name: &str) -> bool {
        let name = ascii_form(name);
        let is_local = || Url::parse(&format!("http://{name}")).is_ok_and(|url| url.host_str() == Some(&name) && is_localhost(&url));
        let is_of = |domain: &TrustedDomain| authority(&domain.domain).is_some_and(|(_, host, _)| host_matches(&canonical(host), &name));
        let is_own = || self.own.is_some_and(|(pages, project)| pages.has_host(project, &name));
        (self.allow_localhost && is_local()) || self.domains.iter().any(is_of) || is_own()
    }

    /// Like [`Self::trust`], but also accepts the native apps listed in the project.
    pub fn trust_for_oauth(&self, url: &RedirectUrl) -> bool {
        self.trust(url) || self.domains.iter().any(|domain| native_redirect::matches(&domain.domain, url.url()))
    }

    /// Like [`Self::trust`], but returns an error that says how to fix an untrusted URL.
    pub fn check(&self, url: &RedirectUrl) -> Result<(), RedirectRefusal> {
        if self.trust(url) { Ok(()) } else { Err(RedirectRefusal::of(url)) }
    }

    /// Like [`Self::trust_for_oauth`], but returns an error that says how to fix an untrusted URL.
    pub fn check_for_oauth(&self, url: &RedirectUrl) -> Result<(), RedirectRefusal> {
        let scheme = url.url().scheme();
        match self.trust_for_oauth(url) {
            true => Ok(()),
            false if native_redirect::is_scheme(scheme) => Err(RedirectRefusal::App { scheme: scheme.to_owned() }),
            false => Err(RedirectRefusal::of(url)),
        }
    }
}

/// Why users may not be redirected to a URL. Errors contain only the origin of the URL, because the
/// rest may contain a code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedirectRefusal {
    /// The URL does not match any of the project's domains.
    #[error("redirect URL {origin} is not trusted: add its domain to the project's trusted domains (`config.domains`){localhost}")]
    Domain {
        /// The scheme, host and port of the URL.
        origin: String,
        /// A hint for localhost URLs; empty for all other URLs.
        localhost: &'static str,
    },
    /// The scheme can belong to a native app, but the project does not list it.
    #[error(
        "redirect URL with the scheme {scheme} is not trusted: if the scheme is your native app's, add it to the project's trusted domains (`config.domains`), as in com.example.app:/callback"
    )]
    App {
        /// The scheme of the URL.
        scheme: String,
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
        /// The scheme, host and port of the URL.
        origin: String,
    },
    /// OAuth providers send users back to the URL.
    #[error("redirect URL {origin} with this path is not trusted: providers send users to this path, so use a page of the app")]
    Callback {
        /// The scheme, host and port of the URL.
        origin: String,
    },
}

impl RedirectRefusal {
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

/// Whether the host is the user's machine (RFC 8252 §7.3 and §8.3), at any port. The scheme must be
/// http or https, because a URL such as `intent://localhost` opens an app.
fn is_localhost(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && wire::host::is_localhost(url)
}

/// The port of a domain pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Port {
    Any,
    Is(Option<u16>),
    /// The default port of the scheme, because the pattern does not contain a port.
    Unnamed,
}

/// Whether an http URL has a loopback address. If a pattern has such an address but no port, all
/// ports are trusted: a native app listens on any free port (RFC 8252 §7.3).
fn is_of_native_app(url: &Url) -> bool {
    url.scheme() == "http" && matches!(url.host(), Some(Host::Ipv4(_) | Host::Ipv6(_))) && is_localhost(url)
}

fn matches(pattern: &str, url: &Url) -> bool {
    let Some((scheme, host, port)) = authority(pattern) else { return false };
    let is_port = match port {
        Port::Any => true,
        Port::Is(port) => port == url.port_or_known_default(),
        Port::Unnamed => url.port().is_none() || (!host.contains('*') && is_of_native_app(url)),
    };
    is_port && scheme.eq_ignore_ascii_case(url.scheme()) && url.host_str().is_some_and(|name| host_matches(&canonical(host), name))
}

/// The scheme, host and port of a domain pattern; `None` if the scheme is neither http nor https.
fn authority(pattern: &str) -> Option<(&str, &str, Port)> {
    let (scheme, authority) = pattern.split_once("://")?;
    if !["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web)) {
        return None;
    }
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, "*")) => (host, Port::Any),
        Some((host, "")) => (host, Port::Unnamed),
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => (host, Port::Is(port.parse().ok())),
        _ => (authority, Port::Unnamed),
    };
    Some((scheme, host, port))
}

/// Validates a trusted domain: an http or https origin, whose host may contain a few wildcards and
/// whose port may be `*`, or a redirect to a native app.
pub fn parse_domain(text: &str) -> Result<(), UrlRefusal> {
    if text.len() <= MAX_LENGTH && native_redirect::parse(text).is_some() {
        return Ok(());
    }
    let text = text.strip_suffix(":*").unwrap_or(text);
    let authority = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).ok_or(UrlRefusal)?;
    if authority.is_empty() || authority.contains(['@', '\\', ' ', '?', '#']) || authority.contains(char::is_control) {
        return Err(UrlRefusal);
    }
    // A host with wildcards must not contain percent-encoded characters, because only a complete
    // host can be decoded.
    if has_mixed_label(authority) || has_too_many_wildcards(authority) || (authority.contains('*') && authority.contains('%')) {
        return Err(UrlRefusal);
    }
    let plain = text.replace("**", "w").replace('*', "w");
    let url = Url::parse(&plain).map_err(|_| UrlRefusal)?;
    let has_host = url.host_str().is_some_and(|host| host.len() <= MAX_HOST);
    if has_host && matches!(url.path(), "/" | "") { Ok(()) } else { Err(UrlRefusal) }
}
