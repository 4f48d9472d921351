//! The page key. The console, the inbox and the outbox require this key and a local connection.
//! `--remote-pages` also allows other connections.
//!
//! A local connection does not prove enough: requests also look local if a proxy, a relay or
//! `ssh -R` forwards them without identifying itself. The key proves access to the gateway's
//! terminal or data folder. People open a link that contains the key, which the gateway prints when
//! it starts, and their browser gets a cookie. Programs send the key as `authorization: Bearer`.
//!
//! Browsers send cookies of `localhost` to all its ports. The cookie is therefore named after the
//! gateway's port, and contains a digest of the key and the port. Another server on this machine
//! that receives the cookie does not learn the key, but could replay the cookie. For this reason,
//! the cookie does not give access to the project's keys. To get the project's keys, the console
//! sends a token from the browser's storage, which belongs to one port.

use anyhow::bail;
use crypto::digest::Digest;
use http::{HeaderMap, HeaderValue, header};
use secrecy::{ExposeSecret as _, SecretString};
use subtle::ConstantTimeEq as _;
use wire::entropy::Entropy;
use wire::environment::variable;

use crate::saved_keys::SavedKeys;

pub(crate) const NAME: &str = "GATELET_PAGE_KEY";
/// The query parameter of the link to the pages that contains the key.
pub(crate) const PARAMETER: &str = "key";
/// The cookie's lifetime of 400 days, the maximum that browsers allow.
const MAX_AGE_SECONDS: u32 = 34_560_000;
const MIN_LENGTH: usize = 20;

/// The page key of a data folder, or of a gateway that keeps its data in memory.
#[derive(Clone)]
pub struct PageKey(SecretString);

impl PageKey {
    /// Chooses the key: the one in the environment, that of an earlier start, or a new one.
    pub fn choose(saved: &SavedKeys, entropy: &Entropy) -> anyhow::Result<Self> {
        let Some(text) = variable(NAME).or_else(|| saved.value(NAME)) else {
            return Ok(Self(format!("page_{}", entropy.code().expose_secret()).into()));
        };
        if text.len() < MIN_LENGTH || !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) {
            bail!("{NAME} must consist of at least {MIN_LENGTH} letters, digits, '-' or '_'");
        }
        Ok(Self(text.into()))
    }

    /// The saved key of a gateway that has run before; `None` if there is no saved key.
    pub(crate) fn saved(saved: &SavedKeys) -> Option<Self> {
        saved.value(NAME).map(|text| Self(text.into()))
    }

    /// The link that opens the pages in a browser. `url` is the base URL of the pages.
    pub(crate) fn link(&self, url: &str) -> String {
        format!("{url}/?{PARAMETER}={}", self.0.expose_secret())
    }

    /// The line of `keys.env` that contains the key, without `export`.
    pub(crate) fn line(&self) -> String {
        format!("{NAME}={}\n", self.0.expose_secret())
    }

    pub(crate) fn is(&self, given: &str) -> bool {
        self.0.expose_secret().as_bytes().ct_eq(given.as_bytes()).into()
    }

    /// Whether the request contains the key in its `authorization` header, where programs send it.
    pub(crate) fn is_in_header(&self, headers: &HeaderMap) -> bool {
        bearers(headers).any(|given| self.is(given))
    }

    /// The token with which the console at this host can read the project's keys.
    pub(crate) fn console_token(&self, host: &str) -> Digest {
        Digest::of(&format!("console of port {}: {}", port(host), self.0.expose_secret()))
    }

    /// Whether the request contains the console token for this host in its `authorization` header.
    pub(crate) fn is_console_token_in(&self, headers: &HeaderMap, host: &str) -> bool {
        let token = self.console_token(host);
        bearers(headers).any(|given| token.as_str().as_bytes().ct_eq(given.as_bytes()).into())
    }

    /// Whether the request contains the cookie for this host, which browsers send.
    pub(crate) fn is_in_cookie(&self, headers: &HeaderMap, host: &str) -> bool {
        let (name, expected) = self.cookie(host);
        let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut cookies = values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        cookies.any(|(given, value)| given == name && bool::from(expected.as_str().as_bytes().ct_eq(value.as_bytes())))
    }

    /// The `Set-Cookie` header for this host.
    pub(crate) fn set_cookie(&self, host: &str) -> Option<HeaderValue> {
        let (name, value) = self.cookie(host);
        let cookie = format!("{name}={}; Path=/; Max-Age={MAX_AGE_SECONDS}; HttpOnly; SameSite=Strict", value.as_str());
        HeaderValue::from_str(&cookie).ok()
    }

    fn cookie(&self, host: &str) -> (String, Digest) {
        let port = port(host);
        (format!("gatelet_pages_{port}"), Digest::of(&format!("cookie of port {port}: {}", self.0.expose_secret())))
    }
}

/// The port that the browser uses, which a container or tunnel may map to another port.
fn port(host: &str) -> u16 {
    host.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(80)
}

fn bearers(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(header::AUTHORIZATION).iter().filter_map(|value| value.to_str().ok()?.split_once(' '));
    values.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, given)| given.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: header::HeaderName, values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (name.clone(), HeaderValue::from_str(value).unwrap())).collect()
    }

    fn key(text: &str) -> PageKey {
        PageKey(text.to_owned().into())
    }

    #[test]
    fn a_program_sends_the_key_as_a_bearer_token() {
        let key = key("page_abc");
        let shows = |value: &str| key.is_in_header(&headers(header::AUTHORIZATION, &[value]));
        assert!(shows("Bearer page_abc") && shows("bearer  page_abc"));
        for wrong in ["Bearer page_abd", "Bearer page_ab", "Bearer page_abcd", "Bearer ", "Bearer", "page_abc", "Basic page_abc"] {
            assert!(!shows(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_cookie_is_bound_to_its_port_and_does_not_reveal_the_key() {
        let key = key("page_abc");
        let cookie = key.set_cookie("localhost:8787").unwrap();
        let cookie = cookie.to_str().unwrap();
        assert!(cookie.starts_with("gatelet_pages_8787=") && !cookie.contains("page_abc"), "{cookie}");
        assert!(cookie.ends_with("; Path=/; Max-Age=34560000; HttpOnly; SameSite=Strict"), "{cookie}");
        let pair = cookie.split(';').next().unwrap();
        let (_, value) = pair.split_once('=').unwrap();
        let among = headers(header::COOKIE, &["a=b", &format!("theme=dark; gatelet_pages_8787=x; {pair}; c=d")]);
        assert!(key.is_in_cookie(&among, "localhost:8787") && key.is_in_cookie(&among, "[::1]:8787"));
        assert!(!key.is_in_cookie(&among, "localhost:8788") && !key.is_in_cookie(&among, "localhost"));
        let other = headers(header::COOKIE, &[&format!("gatelet_pages_8788={value}")]);
        assert!(!key.is_in_cookie(&other, "localhost:8788"));
        let token = key.console_token("localhost:8787");
        let shows = |token: &str, host| key.is_console_token_in(&headers(header::AUTHORIZATION, &[&format!("Bearer {token}")]), host);
        assert!(shows(token.as_str(), "localhost:8787") && shows(token.as_str(), "[::1]:8787"));
        assert!(!shows(token.as_str(), "localhost:8788") && !shows(value, "localhost:8787"), "the cookie is not the token");
        assert!(!self::key("page_abd").is_in_cookie(&among, "localhost:8787"));
        assert!(!key.is_in_header(&headers(header::AUTHORIZATION, &[&format!("Bearer {value}")])));
    }
}
