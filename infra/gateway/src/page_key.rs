//! The page key: what opens the start page, the inbox and the outbox, besides being on this machine.
//!
//! A proxy, a relay or an `ssh -R` may say nothing of itself, and then its requests look like those of this machine. So whoever wants a page
//! shows that they read the gateway's terminal or its data folder: a person by the link of the start, which is exchanged for a cookie, a
//! program by `authorization: Bearer`.
//!
//! Browsers send the cookies of `localhost` to every port. So the cookie is named after its port, and has not the key but a digest of it and
//! the port: what another server of this machine receives opens nothing that asks for the header.

use anyhow::bail;
use crypto::digest::Digest;
use http::{HeaderMap, HeaderValue, header};
use secrecy::{ExposeSecret as _, SecretString};
use subtle::ConstantTimeEq as _;
use wire::entropy::Entropy;
use wire::environment::variable;

use crate::saved_keys::Saved;

pub(crate) const NAME: &str = "GATELET_PAGE_KEY";
/// The parameter of the link.
pub(crate) const PARAMETER: &str = "key";
/// As long as browsers keep a cookie at most: 400 days.
const MAX_AGE_SECONDS: u32 = 34_560_000;
const MIN_LENGTH: usize = 20;

/// The page key of a data folder, or of one start of a gateway in memory.
#[derive(Clone)]
pub struct PageKey(SecretString);

impl PageKey {
    /// What the environment fixes, else what was saved, else a new one.
    pub fn choose(saved: &Saved, entropy: &Entropy) -> anyhow::Result<Self> {
        let Some(text) = variable(NAME).or_else(|| saved.value(NAME)) else {
            return Ok(Self(format!("page_{}", entropy.code().expose_secret()).into()));
        };
        if text.len() < MIN_LENGTH || !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) {
            bail!("{NAME} must be {MIN_LENGTH} or more letters, digits, '-' and '_'");
        }
        Ok(Self(text.into()))
    }

    /// The one that a gateway saved.
    pub(crate) fn saved(saved: &Saved) -> Option<Self> {
        saved.value(NAME).map(|text| Self(text.into()))
    }

    /// The link that opens the pages in a browser. `url` is where they answer.
    pub(crate) fn link(&self, url: &str) -> String {
        format!("{url}/?{PARAMETER}={}", self.0.expose_secret())
    }

    /// Its line in `keys.env`.
    pub(crate) fn line(&self) -> String {
        format!("{NAME}={}\n", self.0.expose_secret())
    }

    pub(crate) fn is(&self, given: &str) -> bool {
        self.0.expose_secret().as_bytes().ct_eq(given.as_bytes()).into()
    }

    /// Whether a program shows the key.
    pub(crate) fn is_in_header(&self, headers: &HeaderMap) -> bool {
        let values = headers.get_all(header::AUTHORIZATION).iter().filter_map(|value| value.to_str().ok()?.split_once(' '));
        values.into_iter().any(|(scheme, given)| scheme.eq_ignore_ascii_case("bearer") && self.is(given.trim()))
    }

    /// Whether a browser has the cookie for this host.
    pub(crate) fn is_in_cookie(&self, headers: &HeaderMap, host: &str) -> bool {
        let (name, expected) = self.cookie(host);
        let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut cookies = values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        cookies.any(|(given, value)| given == name && bool::from(expected.as_str().as_bytes().ct_eq(value.as_bytes())))
    }

    /// What gives a browser the cookie for this host.
    pub(crate) fn set_cookie(&self, host: &str) -> Option<HeaderValue> {
        let (name, value) = self.cookie(host);
        let cookie = format!("{name}={}; Path=/; Max-Age={MAX_AGE_SECONDS}; HttpOnly; SameSite=Strict", value.as_str());
        HeaderValue::from_str(&cookie).ok()
    }

    fn cookie(&self, host: &str) -> (String, Digest) {
        // The port that the browser sees: a container or a tunnel may have another.
        let port = host.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok()).unwrap_or(80);
        (format!("gatelet_pages_{port}"), Digest::of(&format!("cookie of port {port}: {}", self.0.expose_secret())))
    }
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
    fn a_program_shows_the_key_as_a_bearer_token() {
        let key = key("page_abc");
        let shows = |value: &str| key.is_in_header(&headers(header::AUTHORIZATION, &[value]));
        assert!(shows("Bearer page_abc") && shows("bearer  page_abc"));
        for wrong in ["Bearer page_abd", "Bearer page_ab", "Bearer page_abcd", "Bearer ", "Bearer", "page_abc", "Basic page_abc"] {
            assert!(!shows(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_cookie_is_for_its_port_and_does_not_tell_the_key() {
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
        assert!(!self::key("page_abd").is_in_cookie(&among, "localhost:8787"));
        assert!(!key.is_in_header(&headers(header::AUTHORIZATION, &[&format!("Bearer {value}")])));
    }
}
