//! Where a project's passkeys work: on the project's trusted origins, with the page's host or a
//! configured id as the relying party.
//!
//! A browser lets a page use the passkeys of the page's host and of the host's parent domains. A
//! domain can also list other origins whose pages may use its passkeys (related origins, WebAuthn
//! Level 3, §5.11). Values from the client are checked: the origin must be permitted for redirect
//! URLs, and a relying party id other than the origin's host must be configured.

use url::{Host, Url};

use crate::project::own_pages::OwnPages;
use crate::project::redirect::RedirectUrl;
use crate::project::{Project, ProjectConfig};

/// The project does not trust the origin, or its host is an IP address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the page's origin is not trusted: add it to the project's domains (`config.domains`); if the page's host is an IP address, use a domain instead"
)]
pub struct OriginRefusal;

impl Project {
    /// The relying party ids whose passkeys may be used on this origin: the page's host and the ids
    /// configured in the project. Fails if the origin is not trusted or its host is an IP address.
    pub fn relying_parties<'a>(&'a self, origin: &'a str, own: &OwnPages) -> Result<Vec<&'a str>, OriginRefusal> {
        let url = RedirectUrl::parse(origin).map_err(|_| OriginRefusal)?;
        // Text after the origin, such as a path, is not permitted.
        let is_origin = url.url().origin().ascii_serialization() == origin;
        let host = origin.split_once("://").map(|(_, authority)| authority.split(':').next().unwrap_or_default());
        match (url.url().host(), host) {
            (Some(Host::Domain(_)), Some(host)) if is_origin && self.redirects(own).trust_origin(&url) => {
                Ok([host].into_iter().chain(self.config.passkeys.rp_ids.iter().map(String::as_str)).collect())
            }
            _ => Err(OriginRefusal),
        }
    }
}

impl ProjectConfig {
    /// The https origins of the project's trusted domains without wildcards, for the file
    /// `/.well-known/webauthn` of a relying party (§5.11).
    pub fn related_origins(&self) -> Vec<String> {
        let exact = self.domains.iter().map(|domain| &domain.domain).filter(|domain| !domain.contains('*'));
        let mut origins: Vec<String> = Vec::new();
        for origin in exact.filter_map(|domain| Some(Url::parse(domain).ok()?.origin().ascii_serialization())) {
            if origin.starts_with("https://") && !origins.contains(&origin) {
                origins.push(origin);
            }
        }
        origins
    }
}
