//! Redirect URIs of clients: the URIs to which users return with a code.
//!
//! Redirect URIs are compared character by character (RFC 9700 §2.1), except for the port of a
//! loopback URI, which a native app chooses when it starts (RFC 8252 §7.3).

use std::net::{Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// The maximum length of a redirect URI, in bytes.
const MAX_LENGTH: usize = 2048;

/// The text cannot be a redirect URI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be an https URL, an http URL of localhost, 127.0.0.1 or [::1], or a URI with a private scheme such as com.example.app:/callback; \
     without fragment, user, wildcard and dot segments; at most 2048 bytes"
)]
pub struct RedirectUriRefusal;

/// The kind of a redirect URI, which determines who can receive the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A web page: its host proves who receives the code.
    Web,
    /// A program on the user's machine: any program on that machine can listen at the URI.
    Loopback,
    /// A native app: any app on the device can claim the scheme.
    PrivateScheme,
}

impl Kind {
    /// Whether the URI proves which program receives the code (RFC 8252 §8.6).
    pub fn proves_client(self) -> bool {
        self == Self::Web
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(domain)) => domain == "localhost",
        Some(Host::Ipv4(address)) => address == Ipv4Addr::LOCALHOST,
        Some(Host::Ipv6(address)) => address == Ipv6Addr::LOCALHOST,
        None => false,
    }
}

/// Checks a redirect URI and returns its kind.
pub fn check(text: &str) -> Result<Kind, RedirectUriRefusal> {
    let is_permitted = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'"' | b'<' | b'>' | b'#' | b'*' | b'`' | b'{' | b'}');
    if text.len() > MAX_LENGTH || !text.bytes().all(is_permitted) {
        return Err(RedirectUriRefusal);
    }
    let url = Url::parse(text).map_err(|_| RedirectUriRefusal)?;
    let kind = match url.scheme() {
        "https" => Kind::Web,
        "http" if is_loopback(&url) => Kind::Loopback,
        // A reversed domain name (RFC 8252 §7.1), which excludes `javascript`, `data` and the like.
        scheme if scheme.contains('.') && text[scheme.len()..].starts_with(":/") => Kind::PrivateScheme,
        _ => return Err(RedirectUriRefusal),
    };
    let is_plain = url.username().is_empty() && url.password().is_none();
    // If a parser rewrites the URI, another parser may read it differently.
    let path = text.split(['?']).next().unwrap_or_default();
    let has_dots =
        path.split('/').any(|segment| matches!(segment.to_ascii_lowercase().as_str(), "." | ".." | "%2e" | "%2e%2e" | ".%2e" | "%2e."));
    let starts_alike =
        kind == Kind::PrivateScheme || url.as_str().starts_with(text.split(['?']).next().unwrap_or_default().trim_end_matches('/'));
    // Hosts may contain these characters (WHATWG URL §3.2), but in a content security policy the
    // characters would end the source.
    let has_plain_host = !url.host_str().is_some_and(|host| host.contains([';', ',', '\'', '%']));
    // The response to the client sets these parameters.
    let is_free = !url.query_pairs().any(|(name, _)| matches!(&*name, "code" | "state" | "iss" | "error" | "error_description"));
    if is_plain && !has_dots && starts_alike && has_plain_host && is_free { Ok(kind) } else { Err(RedirectUriRefusal) }
}

/// The URL without its port if the text is a loopback URI; otherwise, `None`.
fn without_loopback_port(text: &str) -> Option<Url> {
    let mut url = Url::parse(text).ok().filter(|url| url.scheme() == "http" && is_loopback(url))?;
    url.set_port(None).ok()?;
    Some(url)
}

/// Whether the redirect URI `given` in a request matches the URI `registered` for the client.
pub fn matches(registered: &str, given: &str) -> bool {
    if registered == given {
        return true;
    }
    let both = without_loopback_port(registered).zip(without_loopback_port(given));
    check(given).is_ok() && both.is_some_and(|(registered, given)| registered == given)
}

/// The destination of a redirect URI, as shown to people: the host, or the scheme of a native app.
pub fn shown_host(text: &str) -> String {
    let Ok(url) = Url::parse(text) else { return String::new() };
    // A host after a private scheme does not identify anyone, because any app can claim the scheme.
    match (url.scheme(), url.host_str(), url.port()) {
        ("https", Some(host), Some(port)) => format!("{host}:{port}"),
        ("https" | "http", Some(host), _) => host.to_owned(),
        (scheme, _, _) => format!("{scheme}:"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_loopback_and_private_schemes_are_accepted() {
        for (text, kind) in [
            ("https://app.example.com/callback?tenant=1", Kind::Web),
            ("https://app.example.com", Kind::Web),
            ("https://app.example.com:8443/", Kind::Web),
            ("http://localhost:3000/cb", Kind::Loopback),
            ("http://127.0.0.1/cb", Kind::Loopback),
            ("http://[::1]:1234/cb", Kind::Loopback),
            ("com.example.app:/cb", Kind::PrivateScheme),
            ("com.example.app://oauth/cb", Kind::PrivateScheme),
        ] {
            assert_eq!(check(text), Ok(kind), "{text}");
        }
    }

    #[test]
    fn whatever_two_parsers_could_read_in_two_ways_is_refused() {
        for text in [
            "",
            "/callback",
            "http://app.example.com/cb",
            "http://localhost.example.com/cb",
            "http://127.0.0.1.example.com/cb",
            "https://app.example.com/cb#x",
            "https://app.example.com/cb#",
            "https://user@app.example.com/cb",
            "https://app.example.com@evil.example/cb",
            "https://*.example.com/cb",
            "https://app.example.com/a/../cb",
            "https://app.example.com/%2e%2e/cb",
            "https://APP.example.com/cb",
            "https://app.example.com\\@evil.example/cb",
            "https:app.example.com/cb",
            "https:///app.example.com/cb",
            "https://app.example.com/a b",
            "https://app.example.com/é",
            "javascript:alert(1)",
            "data:text/html,x",
            "myapp:/cb",
            "com.example:javascript:alert(1)",
            "http://127.0.0.2/cb",
            "https://a;b.example.com/cb",
            "https://app.example.com/cb?state=x",
            "https://app.example.com/cb?a=1&code=x",
            "file:///etc/passwd",
            &format!("https://app.example.com/{}", "a".repeat(2048)),
        ] {
            assert_eq!(check(text), Err(RedirectUriRefusal), "{text}");
        }
    }

    #[test]
    fn only_the_port_of_a_loopback_uri_may_vary() {
        let web = "https://app.example.com/cb";
        assert!(matches(web, web));
        for other in [
            "https://app.example.com/cb/",
            "https://app.example.com/cb?x=1",
            "https://app.example.com:444/cb",
            "https://APP.example.com/cb",
        ] {
            assert!(!matches(web, other), "{other}");
        }
        let loopback = "http://127.0.0.1/cb";
        assert!(matches(loopback, "http://127.0.0.1:51004/cb") && matches("http://127.0.0.1:80/cb", loopback));
        for other in [
            "http://127.0.0.1:1/other",
            "http://localhost:1/cb",
            "http://127.0.0.2:1/cb",
            "https://127.0.0.1/cb",
            "http://a@127.0.0.1:1/cb",
        ] {
            assert!(!matches(loopback, other), "{other}");
        }
    }

    #[test]
    fn people_see_the_host() {
        for (text, shown) in [
            ("https://app.example.com/cb", "app.example.com"),
            ("https://app.example.com:8443/cb", "app.example.com:8443"),
            ("http://127.0.0.1:51004/cb", "127.0.0.1"),
            ("com.example.app:/cb", "com.example.app:"),
            ("com.example.app://bank.example/cb", "com.example.app:"),
        ] {
            assert_eq!(shown_host(text), shown);
        }
    }
}
