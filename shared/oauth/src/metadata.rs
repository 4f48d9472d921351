//! What an OpenID issuer publishes of itself: its endpoints (OpenID Connect Discovery 1.0) and its keys (RFC 7517). An instance keeps
//! both for a while; a key that is not among the kept ones is looked for once more, so a rotation needs no waiting.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use jsonwebtoken::jwk::{Jwk, JwkSet};
use model::provider::catalog::ClientAuth;
use net::outgoing::{Fault, Outgoing};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How long a document is taken for current.
const FRESH: SignedDuration = SignedDuration::from_hours(1);
/// How soon keys are asked for again because one is missing; whoever makes up key ids makes us ask no more often.
const AGAIN: SignedDuration = SignedDuration::from_secs(30);
/// How many documents an instance keeps.
const KEPT: usize = 64;

/// An issuer's endpoints.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Metadata {
    pub issuer: String,
    pub authorization_endpoint: String,
    pub token_endpoint: String,
    pub jwks_uri: String,
    #[serde(default)]
    pub userinfo_endpoint: Option<String>,
    /// Whether its answers name it (RFC 9207 §3).
    #[serde(default)]
    pub authorization_response_iss_parameter_supported: bool,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

#[derive(Clone)]
struct Kept {
    document: Arc<Value>,
    read_at: Timestamp,
}

static DOCUMENTS: LazyLock<Mutex<HashMap<String, Kept>>> = LazyLock::new(Mutex::default);

impl Metadata {
    /// How a client proves itself there: with Basic, unless the issuer knows the body alone.
    pub fn client_auth(&self) -> ClientAuth {
        let knows =
            |method: &str| self.token_endpoint_auth_methods_supported.as_ref().is_none_or(|all| all.iter().any(|one| one == method));
        if knows("client_secret_basic") || !knows("client_secret_post") { ClientAuth::Basic } else { ClientAuth::Body }
    }
}

/// The endpoints of an issuer. The document must name the issuer that was asked for (Discovery §4.3).
pub async fn discover(outgoing: Outgoing<'_>, issuer: &str, now: Timestamp) -> Result<Metadata, Fault> {
    let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
    let metadata: Metadata = document(outgoing, &url, FRESH, now).await?;
    if metadata.issuer == issuer { Ok(metadata) } else { Err(Fault::Senseless(format!("{issuer} calls itself {}", metadata.issuer))) }
}

/// The key of a token: by its id, or the only one there is.
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
    Err(Fault::Senseless("the token's key is not among the issuer's".to_owned()))
}

async fn document<T: DeserializeOwned>(outgoing: Outgoing<'_>, url: &str, fresh: SignedDuration, now: Timestamp) -> Result<T, Fault> {
    let kept = DOCUMENTS.lock().unwrap_or_else(PoisonError::into_inner).get(url).cloned();
    let kept = kept.filter(|kept| now.duration_since(kept.read_at).abs() < fresh);
    let document = match kept {
        Some(kept) => kept.document,
        None => {
            let document = Arc::new(outgoing.get(url, None, None).await?);
            let mut documents = DOCUMENTS.lock().unwrap_or_else(PoisonError::into_inner);
            if documents.len() >= KEPT {
                documents.clear();
            }
            documents.insert(url.to_owned(), Kept { document: Arc::clone(&document), read_at: now });
            document
        }
    };
    T::deserialize(&*document).map_err(|error| Fault::Senseless(format!("{url}: {error}")))
}
