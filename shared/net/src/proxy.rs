//! The proxy for HTTPS calls out of the operator's network (`HTTPS_PROXY`, and `NO_PROXY` for hosts
//! to call directly). The proxy opens a tunnel (CONNECT, RFC 9110 §9.3.6), so the TLS connection is
//! still with the host. Plain HTTP, which is allowed only for private hosts, is never sent to the
//! proxy.

use std::sync::Arc;

use http::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use url::Url;
use wire::environment::{Error, variable};

/// A proxy, and the hosts to call without it.
#[derive(Debug, Clone)]
pub struct Proxy(Arc<Matcher>);

impl Proxy {
    /// A proxy by its URL, `http://[user:password@]host[:port]`, and the hosts to call without it:
    /// domains with their subdomains, IP addresses, networks, or `*`, separated by commas. Fails if
    /// the URL has another scheme.
    pub fn new(url: &str, without: &str) -> Result<Self, Error> {
        // A URL without a scheme is accepted, as in most programs.
        let whole = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        let parsed = Url::parse(&whole).ok().filter(|parsed| parsed.scheme() == "http" && parsed.has_host());
        parsed.ok_or(Error::InvalidProxy)?;
        // The matcher ignores a URL that it cannot use.
        let matcher = |without: &str| Matcher::builder().https(whole.clone()).no(without.to_owned()).build();
        let is_usable = matcher("").intercept(&Uri::from_static("https://a.test")).is_some();
        if is_usable { Ok(Self(Arc::new(matcher(without)))) } else { Err(Error::InvalidProxy) }
    }

    /// The proxy that the environment names; `None` if it does not name one. Variables with capital
    /// names take precedence.
    pub fn from_env() -> Result<Option<Self>, Error> {
        let either = |name: &str| variable(name).or_else(|| variable(&name.to_ascii_lowercase()));
        either("HTTPS_PROXY").map(|url| Self::new(url.trim(), &either("NO_PROXY").unwrap_or_default())).transpose()
    }

    /// How to reach a URL through the proxy; `None` for a direct call.
    pub(crate) fn intercept(&self, uri: &Uri) -> Option<Intercept> {
        self.0.intercept(uri)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn https_goes_through_the_proxy_except_to_listed_hosts() {
        let proxy = Proxy::new("http://ada:secret@proxy.internal:3128", "internal.example, 10.0.0.0/8").expect("a proxy");
        let intercepted = |url: &str| proxy.intercept(&url.parse().expect("a URL"));
        let through = intercepted("https://accounts.google.com/x").expect("through the proxy");
        assert_eq!(through.uri().authority().map(http::uri::Authority::host), Some("proxy.internal"));
        assert!(through.basic_auth().is_some());
        for direct in ["http://accounts.google.com/", "https://internal.example/", "https://id.internal.example/", "https://10.1.2.3/"] {
            assert!(intercepted(direct).is_none(), "{direct}");
        }
        assert!(intercepted("https://notinternal.example/").is_some());
        assert!(Proxy::new("proxy.internal:3128", "*").is_ok_and(|proxy| proxy.intercept(&Uri::from_static("https://a.test")).is_none()));
    }

    #[test]
    fn a_proxy_that_cannot_be_used_is_refused() {
        for url in ["https://proxy.internal", "socks5://proxy.internal:1080", "http://", "", "http://a b"] {
            assert!(matches!(Proxy::new(url, ""), Err(Error::InvalidProxy)), "{url}");
        }
    }
}
