//! Reads what an OpenID issuer publishes: its endpoints (OpenID Connect Discovery 1.0) and its keys
//! (RFC 7517). Each instance caches both. If a token names a key that is not in the cache, the keys
//! are fetched again unless they were fetched in the last 30 seconds, so a key rotation takes
//! effect quickly.

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use jsonwebtoken::jwk::{Jwk, JwkSet};
use model::provider::catalog::ClientAuth;
use net::outgoing::{Fault, Outgoing};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How long a cached document is used.
const FRESH: SignedDuration = SignedDuration::from_hours(1);
/// Minimum interval between two fetches of an issuer's keys if the cache lacks a key, so
/// that tokens with made-up key ids do not each cause a request.
const AGAIN: SignedDuration = SignedDuration::from_secs(30);
/// Maximum number of documents that an instance caches. When it is reached, the oldest is dropped.
const KEPT: usize = 64;

/// An issuer's metadata (OpenID Connect Discovery 1.0 §3); only the fields used here.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Metadata {
    /// Identifier of the issuer: the `iss` of its tokens.
    pub issuer: String,
    /// URL that users are redirected to in order to sign in.
    pub authorization_endpoint: String,
    /// URL where codes are exchanged for tokens.
    pub token_endpoint: String,
    /// URL of the issuer's public keys.
    pub jwks_uri: String,
    /// URL of the user's claims, for issuers whose ID tokens lack the email address.
    #[serde(default)]
    pub userinfo_endpoint: Option<String>,
    /// Whether the issuer's authorization responses name it (RFC 9207 §3).
    #[serde(default)]
    pub authorization_response_iss_parameter_supported: bool,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

#[derive(Clone)]
struct Kept {
    url: String,
    document: Arc<Value>,
    read_at: Timestamp,
}

/// The cached documents, oldest first.
static DOCUMENTS: LazyLock<Mutex<VecDeque<Kept>>> = LazyLock::new(Mutex::default);

impl Metadata {
    /// How clients authenticate to the issuer: HTTP Basic, unless the issuer lists
    /// `client_secret_post` but not `client_secret_basic`.
    pub fn client_auth(&self) -> ClientAuth {
        let knows =
            |method: &str| self.token_endpoint_auth_methods_supported.as_ref().is_none_or(|all| all.iter().any(|one| one == method));
        if knows("client_secret_basic") || !knows("client_secret_post") { ClientAuth::Basic } else { ClientAuth::Body }
    }
}

/// Reads an issuer's metadata. The document must name exactly that issuer (Discovery §4.3).
pub async fn discover(outgoing: Outgoing<'_>, issuer: &str, now: Timestamp) -> Result<Metadata, Fault> {
    let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
    let metadata: Metadata = document(outgoing, &url, FRESH, now).await?;
    if metadata.issuer == issuer {
        Ok(metadata)
    } else {
        Err(Fault::Senseless(format!("the metadata of {issuer} names another issuer: {}", metadata.issuer)))
    }
}

/// The key that a token's header names by its id, or the issuer's only key if the token names none.
pub async fn key(outgoing: Outgoing<'_>, jwks_uri: &str, id: Option<&str>, now: Timestamp) -> Result<Jwk, Fault> {
    for fresh in [FRESH, AGAIN] {
        let keys: JwkSet = document(outgoing, jwks_uri, fresh, now).await?;
        let found = match id {
            Some(id) => keys.find(id),
            None => keys.keys.first().filter(|_| keys.keys.len() == 1),
        };
        if let Some(key) = found {
            return Ok(key.clone());
        }
    }
    Err(Fault::Senseless("the token names none of the issuer's keys".to_owned()))
}

async fn document<T: DeserializeOwned>(outgoing: Outgoing<'_>, url: &str, fresh: SignedDuration, now: Timestamp) -> Result<T, Fault> {
    let place = outgoing.place(url);
    let kept = DOCUMENTS.lock().unwrap_or_else(PoisonError::into_inner).iter().find(|kept| kept.url == place).cloned();
    let kept = kept.filter(|kept| now.duration_since(kept.read_at).abs() < fresh);
    let document = match kept {
        Some(kept) => kept.document,
        None => {
            let document = Arc::new(outgoing.get(url, None, None).await?);
            let mut documents = DOCUMENTS.lock().unwrap_or_else(PoisonError::into_inner);
            documents.retain(|kept| kept.url != place);
            if documents.len() >= KEPT {
                documents.pop_front();
            }
            documents.push_back(Kept { url: place.into_owned(), document: Arc::clone(&document), read_at: now });
            document
        }
    };
    T::deserialize(&*document).map_err(|error| Fault::Senseless(format!("{url}: {error}")))
}
