//! Clients that describe themselves: in a document at the URL that is their `client_id` (Client ID
//! Metadata Document), or in a registration (RFC 7591). Anybody can be such a client, so it is
//! public, belongs to a third party, and can request only what users then consent to.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use wire::clock::after;
use wire::id::OauthClientId;

use crate::openid::client::{ClientType, Eligibility, OauthClient, Origin};
use crate::openid::client_input::{MAX_URIS, NAME};
use crate::openid::redirect_uri::{self, Kind};
use crate::project::signing_key::TokenAlgorithm;
use crate::session::client_name::{ClientName, DocumentUrl};
use crate::session::scope::Scopes;
use crate::setting::check_url;
use crate::text::line;

/// The shortest time for which a document is used before it is fetched again.
pub const MIN_FRESH: SignedDuration = SignedDuration::from_mins(1);
/// The longest time for which a document is used before it is fetched again.
pub const MAX_FRESH: SignedDuration = SignedDuration::from_hours(1);
/// How long a registered client is kept if nobody signs in to it.
pub const UNUSED_LIFE: SignedDuration = SignedDuration::from_hours(30 * 24);
/// How long a client with a document is kept if nobody signs in to it. The document can be fetched
/// again.
const UNUSED_DOCUMENT_LIFE: SignedDuration = SignedDuration::from_hours(24);
/// The maximum length of all redirect URIs of a client that describes itself, in bytes.
const MAX_URI_BYTES: usize = 5 * 1024;
/// The maximum number of registered clients of a project that nobody has signed in to.
pub const MAX_UNUSED: usize = 1000;

/// The metadata with which a client describes itself (RFC 7591 §2). Fields that are not listed here
/// are ignored.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ClientMetadata {
    /// The client's name, in a document.
    pub client_id: Option<String>,
    /// The name that users see.
    pub client_name: Option<String>,
    /// A page about the client.
    pub client_uri: Option<String>,
    /// The client's privacy policy.
    pub policy_uri: Option<String>,
    /// The client's terms of service.
    pub tos_uri: Option<String>,
    /// Where users may return.
    pub redirect_uris: Option<Vec<String>>,
    /// Where users may go after signing out.
    pub post_logout_redirect_uris: Option<Vec<String>>,
    /// How the client authenticates; must be `none`.
    pub token_endpoint_auth_method: Option<String>,
    /// Must contain `authorization_code`.
    pub grant_types: Option<Vec<String>>,
    /// Must contain `code`.
    pub response_types: Option<Vec<String>>,
    /// `native` or `web`.
    pub application_type: Option<String>,
    /// Must be absent in a document.
    pub client_secret: Option<serde::de::IgnoredAny>,
    /// Must be absent in a document.
    pub client_secret_expires_at: Option<serde::de::IgnoredAny>,
}

/// Why a client's description of itself cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetadataRefusal {
    /// A redirect URI is missing or wrong (RFC 7591 §3.2.2).
    #[error("{0}")]
    RedirectUri(String),
    /// Another field is missing or wrong.
    #[error("{0}")]
    Metadata(String),
}

impl MetadataRefusal {
    fn metadata(text: impl Into<String>) -> Self {
        Self::Metadata(text.into())
    }
}

impl ClientMetadata {
    /// The client whose document this is. Settings of an administrator are kept from `before`, the
    /// client as the document's previous version described it.
    pub fn documented(
        self,
        url: &DocumentUrl,
        before: Option<&OauthClient>,
        (fresh, now): (SignedDuration, Timestamp),
    ) -> Result<OauthClient, MetadataRefusal> {
        if self.client_id.as_deref() != Some(url.as_str()) {
            return Err(MetadataRefusal::metadata("client_id must be the URL of the document, character by character"));
        }
        if self.client_secret.is_some() || self.client_secret_expires_at.is_some() {
            return Err(MetadataRefusal::metadata("client_secret must be absent, because anybody can read the document"));
        }
        let origin = Origin::Document { url: url.clone(), fresh_until: after(now, fresh.clamp(MIN_FRESH, MAX_FRESH)) };
        let mut client = before.cloned().unwrap_or_else(|| blank(ClientName::Document(url.clone()).id(), UNUSED_DOCUMENT_LIFE, now));
        client.origin = Some(origin);
        self.describe(client, now)
    }

    /// The new client that registers itself.
    pub fn registered(self, id: OauthClientId, now: Timestamp) -> Result<OauthClient, MetadataRefusal> {
        let is_native = match self.application_type.as_deref() {
            None => None,
            Some("native") => Some(true),
            Some("web") => Some(false),
            Some(_) => return Err(MetadataRefusal::metadata("application_type must be native or web")),
        };
        for uri in self.redirect_uris.iter().flatten() {
            let is_web = redirect_uri::check(uri).is_ok_and(|kind| kind == Kind::Web);
            if is_native.is_some_and(|is_native| is_native == is_web) {
                let text = "with application_type native, redirect_uris must be URLs of localhost or have a private scheme; with web, they \
                            must be https URLs";
                return Err(MetadataRefusal::RedirectUri(text.to_owned()));
            }
        }
        let mut client = blank(id, UNUSED_LIFE, now);
        client.origin = Some(Origin::Registration);
        self.describe(client, now)
    }

    /// The client with this description.
    fn describe(self, mut client: OauthClient, now: Timestamp) -> Result<OauthClient, MetadataRefusal> {
        match self.token_endpoint_auth_method.as_deref() {
            None | Some("none") => {}
            Some(_) => return Err(MetadataRefusal::metadata("token_endpoint_auth_method must be none: only PKCE is supported")),
        }
        let has = |list: &Option<Vec<String>>, name: &str| list.as_ref().is_none_or(|list| list.iter().any(|one| one == name));
        if !has(&self.grant_types, "authorization_code") {
            return Err(MetadataRefusal::metadata("grant_types must contain authorization_code"));
        }
        if !has(&self.response_types, "code") {
            return Err(MetadataRefusal::metadata("response_types must contain code"));
        }
        let name = self.client_name.ok_or_else(|| MetadataRefusal::metadata("client_name is missing"))?;
        line::check(&name, NAME).map_err(|error| MetadataRefusal::metadata(format!("client_name {error}")))?;
        client.name = name;
        client.client_uri = page("client_uri", self.client_uri)?;
        client.policy_uri = page("policy_uri", self.policy_uri)?;
        client.tos_uri = page("tos_uri", self.tos_uri)?;
        client.redirect_uris = uris("redirect_uris", self.redirect_uris)?;
        if client.redirect_uris.is_empty() {
            return Err(MetadataRefusal::RedirectUri("redirect_uris is missing".to_owned()));
        }
        client.post_logout_redirect_uris = uris("post_logout_redirect_uris", self.post_logout_redirect_uris)?;
        client.updated_at = now;
        Ok(client)
    }
}

/// A client of which nothing is known yet. A logo is never taken from a description, because the
/// consent page would load it from a server that anybody can choose.
fn blank(id: OauthClientId, unused_life: SignedDuration, now: Timestamp) -> OauthClient {
    OauthClient {
        id,
        name: String::new(),
        logo_url: None,
        client_uri: None,
        policy_uri: None,
        tos_uri: None,
        client_type: ClientType::Public,
        is_first_party: false,
        pkce_optional: false,
        redirect_uris: Vec::new(),
        post_logout_redirect_uris: Vec::new(),
        scopes: Scopes::standard(),
        signing_algorithm: TokenAlgorithm::default(),
        access_token_seconds: None,
        session_seconds: None,
        admitted: Eligibility::Everyone,
        secrets: Vec::new(),
        is_disabled: false,
        origin: None,
        expires_at: Some(after(now, unused_life)),
        created_at: now,
        updated_at: now,
    }
}

/// The URL of a page about the client, for users.
fn page(field: &str, url: Option<String>) -> Result<Option<String>, MetadataRefusal> {
    let is_page = url.as_ref().is_none_or(|url| check_url(field, url).is_ok() && url.starts_with("https://"));
    if is_page { Ok(url) } else { Err(MetadataRefusal::metadata(format!("{field} must be an https URL of at most 2048 bytes"))) }
}

fn uris(field: &str, uris: Option<Vec<String>>) -> Result<Vec<String>, MetadataRefusal> {
    let uris = uris.unwrap_or_default();
    if uris.len() > MAX_URIS {
        return Err(MetadataRefusal::RedirectUri(format!("{field} must have at most {MAX_URIS} elements")));
    }
    if uris.iter().map(String::len).sum::<usize>() > MAX_URI_BYTES {
        return Err(MetadataRefusal::RedirectUri(format!("{field} must have at most {MAX_URI_BYTES} bytes in total")));
    }
    for (number, uri) in uris.iter().enumerate() {
        redirect_uri::check(uri).map_err(|error| MetadataRefusal::RedirectUri(format!("{field}[{number}] {error}")))?;
    }
    let mut seen = BTreeSet::new();
    Ok(uris.into_iter().filter(|uri| seen.insert(uri.clone())).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const URL: &str = "https://notes.example.com/client.json";

    fn document(changes: &Value) -> ClientMetadata {
        let mut document = json!({ "client_id": URL, "client_name": "Notes", "redirect_uris": ["https://notes.example.com/cb"] });
        let fields = changes.as_object().expect("an object").clone();
        document.as_object_mut().expect("an object").extend(fields);
        serde_json::from_value(document).expect("metadata")
    }

    fn documented(changes: &Value, before: Option<&OauthClient>) -> Result<OauthClient, MetadataRefusal> {
        let url = DocumentUrl::parse(URL).expect("a URL");
        document(changes).documented(&url, before, (SignedDuration::ZERO, Timestamp::UNIX_EPOCH))
    }

    #[test]
    fn a_document_describes_a_public_client_of_a_third_party() {
        let client = documented(&json!({ "logo_uri": "https://evil.example/track", "is_first_party": true }), None).expect("a client");
        assert!(!client.is_confidential() && !client.is_first_party && client.logo_url.is_none());
        assert_eq!(client.name(), ClientName::parse(URL).expect("a name"));
        let fresh = after(Timestamp::UNIX_EPOCH, MIN_FRESH);
        assert!(matches!(client.origin, Some(Origin::Document { fresh_until, .. }) if fresh_until == fresh));
    }

    #[test]
    fn an_administrators_settings_survive_the_next_version_of_the_document() {
        let blocked = OauthClient { is_disabled: true, is_first_party: true, ..documented(&json!({}), None).expect("a client") };
        let next = documented(&json!({ "client_name": "New notes" }), Some(&blocked)).expect("a client");
        assert!(next.is_disabled && next.is_first_party);
        assert_eq!(next.name, "New notes");
    }

    #[test]
    fn other_documents_are_refused() {
        for changes in [
            json!({ "client_id": "https://notes.example.com/client.json/" }),
            json!({ "client_id": null }),
            json!({ "client_secret": "x" }),
            json!({ "client_secret_expires_at": 0 }),
            json!({ "token_endpoint_auth_method": "client_secret_post" }),
            json!({ "token_endpoint_auth_method": "private_key_jwt" }),
            json!({ "client_name": null }),
            json!({ "client_name": "a\nb" }),
            json!({ "redirect_uris": [] }),
            json!({ "redirect_uris": ["javascript:alert(1)"] }),
            json!({ "redirect_uris": vec!["https://notes.example.com/cb"; 51] }),
            json!({ "client_uri": "javascript:alert(1)" }),
            json!({ "grant_types": ["implicit"] }),
            json!({ "response_types": ["token"] }),
        ] {
            assert!(documented(&changes, None).is_err(), "{changes}");
        }
    }

    #[test]
    fn the_type_of_a_registering_application_must_fit_its_redirect_uris() {
        let registered = |kind: &str, uri: &str| {
            document(&json!({ "application_type": kind, "redirect_uris": [uri] }))
                .registered(OauthClientId::from(uuid::Uuid::from_u128(1)), Timestamp::UNIX_EPOCH)
        };
        for (kind, uri) in [("web", "https://a.example/cb"), ("native", "http://127.0.0.1/cb"), ("native", "com.example.app:/cb")] {
            assert!(registered(kind, uri).is_ok(), "{kind} {uri}");
        }
        for (kind, uri) in [("native", "https://a.example/cb"), ("web", "http://localhost/cb")] {
            assert!(matches!(registered(kind, uri), Err(MetadataRefusal::RedirectUri(_))), "{kind} {uri}");
        }
        assert!(matches!(registered("phone", "https://a.example/cb"), Err(MetadataRefusal::Metadata(_))));
    }
}
