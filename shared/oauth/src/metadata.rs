//! Reads what an OpenID issuer publishes: its endpoints (OpenID Connect Discovery 1.0) and its keys
//! (RFC 7517). Each instance caches both. If a token names a key that is not in the cache, the keys
//! are fetched again unless they were fetched in the last 30 seconds, so a key rotation takes
//! effect quickly. An answer that is not a valid document is not cached, so the next request
//! fetches the document again.
//!
//! Anybody with a project can name an issuer, so documents may be hostile: they are read as types
//! with bounded lists, and the cache holds nothing that is not used. A document then needs little
//! more memory than its text, which has at most 256 KiB.

use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use jsonwebtoken::jwk::{AlgorithmParameters, Jwk};
use model::provider::catalog::ClientAuth;
use net::outgoing::{Fault, Outgoing};
use serde::de::{DeserializeOwned, Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use url::Url;

/// How long a cached document is used.
const FRESH: SignedDuration = SignedDuration::from_hours(1);
/// Minimum interval between two fetches of an issuer's keys if the cache lacks a key, so
/// that tokens with made-up key ids do not each cause a request.
const AGAIN: SignedDuration = SignedDuration::from_secs(30);
/// Maximum number of documents of each kind that an instance caches. When it is reached, the oldest
/// is dropped.
const KEPT: usize = 64;
/// Maximum number of elements of a list in a document. Large issuers publish about ten keys.
const MAX_LISTED: usize = 64;

/// An issuer's metadata (OpenID Connect Discovery 1.0 §3); only the fields used here.
#[derive(Debug, Clone, Deserialize)]
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
    #[serde(default, deserialize_with = "some_few")]
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

/// An issuer's keys (RFC 7517 §5).
#[derive(Debug, Clone, Deserialize)]
struct Keys {
    #[serde(deserialize_with = "few_keys")]
    keys: Vec<Jwk>,
}

struct Kept<T> {
    url: String,
    document: Arc<T>,
    read_at: Timestamp,
}

/// The cached documents of a kind, oldest first.
struct Cache<T>(Mutex<VecDeque<Kept<T>>>);

static METADATA: Cache<Metadata> = Cache(Mutex::new(VecDeque::new()));
static KEYS: Cache<Keys> = Cache(Mutex::new(VecDeque::new()));

impl Metadata {
    /// How clients authenticate to the issuer: HTTP Basic, unless the issuer lists
    /// `client_secret_post` but not `client_secret_basic`.
    pub fn client_auth(&self) -> ClientAuth {
        let knows =
            |method: &str| self.token_endpoint_auth_methods_supported.as_ref().is_none_or(|all| all.iter().any(|one| one == method));
        if knows("client_secret_basic") || !knows("client_secret_post") { ClientAuth::Basic } else { ClientAuth::Body }
    }
}

impl Keys {
    /// The key with this id, or the only key if `id` is `None`.
    fn find(&self, id: Option<&str>) -> Option<&Jwk> {
        match id {
            Some(id) => self.keys.iter().find(|key| key.common.key_id.as_deref() == Some(id)),
            None => self.keys.first().filter(|_| self.keys.len() == 1),
        }
    }
}

impl<T: DeserializeOwned> Cache<T> {
    fn find(&self, place: &str, fresh: SignedDuration, now: Timestamp) -> Option<Arc<T>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = kept.iter().find(|kept| kept.url == place)?;
        (now.duration_since(kept.read_at).abs() < fresh).then(|| Arc::clone(&kept.document))
    }

    fn keep(&self, url: String, document: Arc<T>, read_at: Timestamp) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|kept| kept.url != url);
        if all.len() >= KEPT {
            all.pop_front();
        }
        all.push_back(Kept { url, document, read_at });
    }

    /// The cached document, if it was fetched less than `fresh` ago. Otherwise it is fetched, and
    /// cached if `check` accepts it.
    async fn read(
        &self,
        outgoing: Outgoing<'_>,
        url: &str,
        (fresh, now): (SignedDuration, Timestamp),
        check: impl Fn(&T) -> Result<(), Fault>,
    ) -> Result<Arc<T>, Fault> {
        let place = outgoing.place(url);
        if let Some(document) = self.find(&place, fresh, now) {
            return check(&document).map(|()| document);
        }
        let document = Arc::new(outgoing.get::<T>(url, None, None).await?);
        check(&document)?;
        self.keep(place.into_owned(), Arc::clone(&document), now);
        Ok(document)
    }
}

/// Checks that a browser can be sent to an authorization endpoint: apps navigate to it, and a URL
/// such as `javascript:…` would run a script in the app.
fn check_location(endpoint: &str) -> Result<(), Fault> {
    let url = Url::parse(endpoint).ok().filter(|url| url.has_host() && matches!(url.scheme(), "http" | "https"));
    url.map(drop).ok_or_else(|| Fault::Senseless("the authorization endpoint is not an http or https URL".to_owned()))
}

/// Reads an issuer's metadata. The document must name exactly that issuer (Discovery §4.3).
pub async fn discover(outgoing: Outgoing<'_>, issuer: &str, now: Timestamp) -> Result<Metadata, Fault> {
    let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
    let check = |metadata: &Metadata| match &metadata.issuer {
        named if named == issuer => check_location(&metadata.authorization_endpoint),
        named => Err(Fault::Senseless(format!("the metadata of {issuer} names another issuer: {named}"))),
    };
    METADATA.read(outgoing, &url, (FRESH, now), check).await.map(Arc::unwrap_or_clone)
}

/// The key that a token's header names by its id, or the issuer's only key if the token names none.
pub async fn key(outgoing: Outgoing<'_>, jwks_uri: &str, id: Option<&str>, now: Timestamp) -> Result<Jwk, Fault> {
    for fresh in [FRESH, AGAIN] {
        let keys = KEYS.read(outgoing, jwks_uri, (fresh, now), |_| Ok(())).await?;
        if let Some(key) = keys.find(id) {
            return Ok(key.clone());
        }
    }
    Err(Fault::Senseless("the token names none of the issuer's keys".to_owned()))
}

/// A list of at most [`MAX_LISTED`] elements. A longer one fails before it has been read.
fn few<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    struct Few<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Few<T> {
        type Value = Vec<T>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(formatter, "a list of at most {MAX_LISTED} elements")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
            let mut all = Vec::new();
            while let Some(element) = list.next_element()? {
                if all.len() >= MAX_LISTED {
                    return Err(A::Error::invalid_length(MAX_LISTED + 1, &self));
                }
                all.push(element);
            }
            Ok(all)
        }
    }

    deserializer.deserialize_seq(Few(PhantomData))
}

/// Like [`few`], for a list that may be `null`.
fn some_few<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    #[derive(Deserialize)]
    struct Listed(#[serde(deserialize_with = "few")] Vec<String>);

    Ok(Option::<Listed>::deserialize(deserializer)?.map(|listed| listed.0))
}

/// Keys of known types, without the lists that verifying a signature does not need: one key could
/// have thousands of certificates or operations, and one of an unknown type any fields.
fn few_keys<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Jwk>, D::Error> {
    let mut keys: Vec<Jwk> = few(deserializer)?;
    keys.retain(|key| !matches!(key.algorithm, AlgorithmParameters::Other(_)));
    for key in &mut keys {
        key.common.x509_chain = None;
        key.common.key_operations = None;
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn key() -> Value {
        json!({ "kty": "EC", "crv": "P-256", "kid": "one", "x": "AA", "y": "AA", "x5c": vec![""; 1000], "key_ops": vec!["verify"; 1000] })
    }

    #[test]
    fn a_set_of_keys_is_bounded_and_keeps_only_what_is_used() {
        let keys: Keys = serde_json::from_value(json!({ "keys": vec![key(); MAX_LISTED] })).expect("as many as are read");
        let one = keys.find(Some("one")).expect("the first of them");
        assert!(one.common.x509_chain.is_none() && one.common.key_operations.is_none());
        assert!(keys.find(None).is_none(), "a token must name one of several keys");
        let other: Keys = serde_json::from_value(json!({ "keys": [{ "": vec![0; 1000] }, key()] })).expect("keys");
        assert_eq!(other.keys.len(), 1, "keys of unknown types are not kept");
        for hostile in [json!({ "keys": vec![key(); MAX_LISTED + 1] }), json!({ "keys": { "": 0 } }), json!([{ "": 0 }])] {
            assert!(serde_json::from_value::<Keys>(hostile).is_err());
        }
    }

    #[test]
    fn the_authentication_methods_of_an_issuer_are_bounded() {
        let with = |methods: Value| {
            let document = json!({
                "issuer": "https://i.example", "authorization_endpoint": "", "token_endpoint": "", "jwks_uri": "",
                "token_endpoint_auth_methods_supported": methods,
            });
            serde_json::from_value::<Metadata>(document).map(|metadata| metadata.client_auth())
        };
        assert_eq!(with(json!(["client_secret_post"])).ok(), Some(ClientAuth::Body));
        assert_eq!(with(Value::Null).ok(), Some(ClientAuth::Basic));
        assert_eq!(with(json!(vec![""; MAX_LISTED])).ok(), Some(ClientAuth::Basic));
        assert!(with(json!(vec![""; MAX_LISTED + 1])).is_err());
    }
}
