//! The names of OAuth clients in requests and tokens: an id that the project has assigned, or the
//! URL of a document that describes the client (Client ID Metadata Document §3).

use std::fmt;

use crypto::digest::Digest;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::Url;
use uuid::Uuid;
use wire::host::is_loopback;
use wire::id::OauthClientId;

/// The maximum length of a URL that names a client, in bytes.
const MAX_URL: usize = 512;

/// An id that is derived from a text, so that an item is found by the text without an index.
pub(crate) fn derived_id(text: &str) -> Uuid {
    let digest = Digest::of(text);
    let bytes: Vec<u8> = digest.as_str().bytes().take(16).collect();
    uuid::Builder::from_custom_bytes(bytes.try_into().unwrap_or_default()).into_uuid()
}

/// The name of a client: the `client_id` of OAuth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientName {
    /// The id of a client that an administrator has created or that has registered itself.
    Id(OauthClientId),
    /// The URL of the client's metadata document.
    Document(DocumentUrl),
}

/// The URL of a client's metadata document. Outside of this machine, the URL is an https URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DocumentUrl(String);

/// The text cannot name a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be the id of a client, or the https URL of a client's metadata document: with a path, without query, fragment, user and dot \
     segments, and with at most {MAX_URL} bytes"
)]
pub struct ClientNameRefusal;

impl DocumentUrl {
    /// Parses a URL. Names are compared character by character, so a URL that a parser would change
    /// is refused.
    pub fn parse(text: &str) -> Result<Self, ClientNameRefusal> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'"' | b'<' | b'>' | b'#' | b'?'));
        let url = Url::parse(text).ok().filter(|url| is_plain && text.len() <= MAX_URL && url.as_str() == text).ok_or(ClientNameRefusal)?;
        let is_web = url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&url));
        let has_user = !url.username().is_empty() || url.password().is_some();
        if is_web && !has_user && !text.to_ascii_lowercase().contains("%2e") { Ok(Self(text.to_owned())) } else { Err(ClientNameRefusal) }
    }

    /// The URL as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The host, with the port if the URL names one. It tells users whose client they sign in to.
    pub fn host(&self) -> &str {
        self.0.split('/').nth(2).unwrap_or_default()
    }

    /// The host without the port, for rules about hosts.
    pub fn domain(&self) -> String {
        Url::parse(&self.0).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
    }
}

impl ClientName {
    /// Parses the `client_id` of a request.
    pub fn parse(text: &str) -> Result<Self, ClientNameRefusal> {
        if text.contains(':') { DocumentUrl::parse(text).map(Self::Document) } else { Self::parse_id(text) }
    }

    fn parse_id(text: &str) -> Result<Self, ClientNameRefusal> {
        OauthClientId::parse(text).map(Self::Id).map_err(|_| ClientNameRefusal)
    }

    /// The id under which the client is stored.
    pub fn id(&self) -> OauthClientId {
        match self {
            Self::Id(id) => *id,
            Self::Document(url) => derived_id(&format!("client {}", url.as_str())).into(),
        }
    }
}

impl fmt::Display for ClientName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Document(url) => f.write_str(url.as_str()),
        }
    }
}

impl Serialize for ClientName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ClientName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_a_client_if_no_parser_changes_it() {
        for text in ["https://notes.example.com/client.json", "https://notes.example.com:8443/", "http://localhost:9402/client"] {
            let name = ClientName::parse(text).expect("a name");
            assert_eq!(name.to_string(), text);
            assert_ne!(name.id(), ClientName::parse("https://other.example.com/client.json").expect("a name").id());
        }
        for text in [
            "",
            "notes",
            "https://notes.example.com",
            "http://notes.example.com/client.json",
            "https://notes.example.com/client.json?a",
            "https://notes.example.com/client.json#a",
            "https://user@notes.example.com/client.json",
            "https://notes.example.com/a/../client.json",
            "https://notes.example.com/a/%2E%2e/client.json",
            "HTTPS://notes.example.com/client.json",
            "https://Notes.example.com/client.json",
            "https://notes.example.com:443/client.json",
            "javascript:alert(1)",
        ] {
            assert_eq!(ClientName::parse(text), Err(ClientNameRefusal), "{text}");
        }
    }

    #[test]
    fn the_host_is_shown_with_its_port() {
        let url = DocumentUrl::parse("http://127.0.0.1:9402/client").expect("a URL");
        assert_eq!((url.host(), url.domain().as_str()), ("127.0.0.1:9402", "127.0.0.1"));
    }
}
