//! Reads the documents published by OpenID issuers: their endpoints (OpenID Connect Discovery 1.0)
//! and their keys (`keys`). Each instance caches both. If none of the cached keys verifies a token,
//! the keys are fetched again, at most once every 30 seconds. A new key therefore takes effect
//! quickly, whatever its id. Invalid documents are not cached, so the next request fetches them
//! again.
//!
//! Anyone with a project can name an issuer, so documents may be hostile. The documents are parsed
//! into types with bounded lists, and the cache keeps only the fields that are used. A document
//! therefore takes little more memory than its text, which has at most 256 KiB.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crypto::jws::Algorithm;
use jiff::{SignedDuration, Timestamp};
use model::provider::catalog::ClientAuth;
use model::provider::catalog::scopes::OFFLINE_ACCESS;
use net::outgoing::{AnswerError, Outgoing};
use serde::de::{DeserializeOwned, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use url::Url;

use crate::jwt::Jwt;
use crate::keys::{Keys, Verification};

/// How long a cached document is used.
const FRESH: SignedDuration = SignedDuration::from_hours(1);
/// The minimum interval between two fetches of an issuer's keys when none of the cached keys
/// verifies a token, so that forged tokens do not each cause a request.
const AGAIN: SignedDuration = SignedDuration::from_secs(30);
/// The maximum number of documents of each kind that an instance caches. At the maximum, the oldest
/// document is dropped.
const KEPT: usize = 64;
/// The maximum number of elements read from a list of names.
const MAX_LISTED: usize = 64;
/// The placeholder for the token's tenant (`tid`) in an issuer of Microsoft.
const TENANT_ID: &str = "{tenantid}";

/// An issuer's metadata (OpenID Connect Discovery 1.0 §3); only the fields used here.
#[derive(Debug, Clone, Deserialize)]
pub struct Metadata {
    /// The identifier of the issuer: the `iss` of its tokens.
    pub issuer: String,
    /// The URL where users sign in.
    pub authorization_endpoint: String,
    /// The URL that exchanges codes for tokens.
    pub token_endpoint: String,
    /// The URL of the issuer's public keys.
    pub jwks_uri: String,
    /// The URL of the user's claims, for issuers whose ID tokens do not contain all of them.
    #[serde(default)]
    pub userinfo_endpoint: Option<String>,
    /// Whether authorization responses name the issuer (RFC 9207 §3).
    #[serde(default, rename = "authorization_response_iss_parameter_supported")]
    names_itself: Option<bool>,
    #[serde(default, rename = "token_endpoint_auth_methods_supported", deserialize_with = "names")]
    client_auth_methods: Option<Vec<String>>,
    #[serde(default, rename = "id_token_signing_alg_values_supported", deserialize_with = "names")]
    algorithms: Option<Vec<String>>,
    #[serde(default, rename = "scopes_supported", deserialize_with = "has_offline_access")]
    has_offline_access: bool,
}

struct CacheEntry<T> {
    url: String,
    document: Arc<T>,
    read_at: Timestamp,
}

/// The cached documents of a kind, oldest first.
struct Cache<T>(Mutex<VecDeque<CacheEntry<T>>>);

static METADATA: Cache<Metadata> = Cache(Mutex::new(VecDeque::new()));
static KEYS: Cache<Keys> = Cache(Mutex::new(VecDeque::new()));

impl Metadata {
    /// How clients authenticate to the issuer: HTTP Basic, unless the issuer lists
    /// `client_secret_post` but not `client_secret_basic`.
    pub fn client_auth(&self) -> ClientAuth {
        let knows = |method: &str| self.client_auth_methods.as_ref().is_none_or(|all| all.iter().any(|one| one == method));
        if knows("client_secret_basic") || !knows("client_secret_post") { ClientAuth::Basic } else { ClientAuth::Body }
    }

    /// Whether authorization responses name the issuer (RFC 9207 §3).
    pub fn names_itself(&self) -> bool {
        self.names_itself.unwrap_or_default()
    }

    /// Whether the issuer lists the scope `offline_access`.
    pub fn has_offline_access(&self) -> bool {
        self.has_offline_access
    }

    /// Whether the issuer lists this algorithm for signing ID tokens.
    pub fn signs_with(&self, algorithm: &str) -> bool {
        self.algorithms.iter().flatten().any(|one| one == algorithm)
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
        all.push_back(CacheEntry { url, document, read_at });
    }

    /// The cached document, if it was fetched less than `fresh` ago. An older or missing document
    /// is fetched, and cached if `check` accepts it.
    async fn read(
        &self,
        outgoing: Outgoing<'_>,
        url: &str,
        (fresh, now): (SignedDuration, Timestamp),
        check: impl Fn(&T) -> Result<(), AnswerError>,
    ) -> Result<Arc<T>, AnswerError> {
        let place = outgoing.place(url);
        if let Some(document) = self.find(&place, fresh, now) {
            return check(&document).map(|()| document);
        }
        let document = Arc::new(outgoing.get::<T>(url, None, None).await.map_err(|fault| published(fault, url))?);
        check(&document)?;
        self.keep(place.into_owned(), Arc::clone(&document), now);
        Ok(document)
    }
}

/// The error for a document that an issuer must publish: if the issuer refuses to serve the
/// document, the issuer is set up incorrectly.
fn published(fault: AnswerError, url: &str) -> AnswerError {
    match fault {
        AnswerError::Refused(status) => AnswerError::Misconfigured(format!("{url} answers {status}")),
        AnswerError::Unauthorized => AnswerError::Misconfigured(format!("{url} requires a token")),
        fault => fault,
    }
}

/// Checks that an authorization endpoint is safe to navigate to: a URL such as `javascript:…` would
/// run a script in the app.
fn check_location(endpoint: &str) -> Result<(), AnswerError> {
    let url = Url::parse(endpoint).ok().filter(|url| url.has_host() && matches!(url.scheme(), "http" | "https"));
    url.map(drop).ok_or_else(|| AnswerError::Misconfigured("the authorization endpoint is not an http or https URL".to_owned()))
}

/// Whether the metadata of `issuer` may contain `named` as the issuer. Only Microsoft's may differ:
/// each of its tenants is an issuer, and metadata shared by several tenants cannot name just one.
fn is_tenant_of(named: &str, issuer: &str) -> bool {
    let (Ok(named), Ok(issuer)) = (Url::parse(named), Url::parse(issuer)) else { return false };
    let host = issuer.host_str().unwrap_or_default();
    let is_microsoft = issuer.scheme() == "https" && (host == "login.microsoftonline.com" || host.ends_with(".b2clogin.com"));
    is_microsoft && issuer.origin() == named.origin()
}

/// The issuer that a token with these claims must name.
pub(crate) fn issuer_of(issuer: &str, claims: &serde_json::Value) -> String {
    match claims["tid"].as_str().filter(|tenant| tenant.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')) {
        Some(tenant) => issuer.replace(TENANT_ID, tenant),
        None => issuer.to_owned(),
    }
}

/// Reads an issuer's metadata. The document must name exactly this issuer (Discovery §4.3), except
/// at Microsoft.
pub async fn discover(outgoing: Outgoing<'_>, issuer: &str, now: Timestamp) -> Result<Metadata, AnswerError> {
    discover_since(outgoing, issuer, (FRESH, now)).await
}

/// Like [`discover`], but also reads the issuer's keys, and bypasses the cache. Also fails if the
/// issuer neither publishes a key that can verify signatures nor signs with the client's secret.
pub async fn examine(outgoing: Outgoing<'_>, issuer: &str, now: Timestamp) -> Result<Metadata, AnswerError> {
    let metadata = discover_since(outgoing, issuer, (SignedDuration::ZERO, now)).await?;
    let keys = KEYS.read(outgoing, &metadata.jwks_uri, (SignedDuration::ZERO, now), |_| Ok(())).await?;
    if keys.is_empty() && !["HS256", "HS384", "HS512"].iter().any(|algorithm| metadata.signs_with(algorithm)) {
        return Err(AnswerError::Misconfigured(format!("{} has no key that can verify a signature", metadata.jwks_uri)));
    }
    Ok(metadata)
}

async fn discover_since(outgoing: Outgoing<'_>, issuer: &str, when: (SignedDuration, Timestamp)) -> Result<Metadata, AnswerError> {
    let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
    let check = |metadata: &Metadata| match &metadata.issuer {
        named if named == issuer || is_tenant_of(named, issuer) => check_location(&metadata.authorization_endpoint),
        named => Err(AnswerError::Misconfigured(format!("the metadata of {issuer} names another issuer: {named}"))),
    };
    METADATA.read(outgoing, &url, when, check).await.map(Arc::unwrap_or_clone)
}

/// Verifies a token's signature with the issuer's keys. Fails if none of the keys made the
/// signature.
pub(crate) async fn verify(
    outgoing: Outgoing<'_>,
    jwks_uri: &str,
    (jwt, algorithm): (&Jwt<'_>, Algorithm),
    now: Timestamp,
) -> Result<Verification, AnswerError> {
    let keys = KEYS.read(outgoing, jwks_uri, (FRESH, now), |_| Ok(())).await?;
    let verification = keys.verify(jwt, algorithm);
    if verification == Verification::Signed {
        return Ok(verification);
    }
    // The issuer may have a new key, whose id may be new, unchanged or absent.
    let again = KEYS.read(outgoing, jwks_uri, (AGAIN, now), |_| Ok(())).await?;
    if Arc::ptr_eq(&keys, &again) { Ok(verification) } else { Ok(again.verify(jwt, algorithm)) }
}

/// The first names in a list; `None` for any other value.
fn names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    deserializer.deserialize_any(Names).map(|names| names.map(|(names, _)| names))
}

/// Whether a list of any length contains the scope `offline_access`.
fn has_offline_access<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    deserializer.deserialize_any(Names).map(|names| names.is_some_and(|(_, has_offline_access)| has_offline_access))
}

/// Reads a list of names, and checks whether one of them is `offline_access`.
struct Names;

impl<'de> Visitor<'de> for Names {
    type Value = Option<(Vec<String>, bool)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of names, or null")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let (mut first, mut has_offline_access) = (Vec::new(), false);
        while let Some(name) = list.next_element::<String>()? {
            has_offline_access |= name == OFFLINE_ACCESS;
            if first.len() < MAX_LISTED {
                first.push(name);
            }
        }
        Ok(Some((first, has_offline_access)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn with(name: &str, value: Value) -> Result<Metadata, serde_json::Error> {
        let mut document = json!({ "issuer": "https://i.example", "authorization_endpoint": "", "token_endpoint": "", "jwks_uri": "" });
        document[name] = value;
        serde_json::from_value(document)
    }

    #[test]
    fn the_lists_of_an_issuer_are_bounded() {
        let client_auth =
            |methods: Value| with("token_endpoint_auth_methods_supported", methods).map(|metadata| metadata.client_auth()).ok();
        assert_eq!(client_auth(json!(["client_secret_post"])), Some(ClientAuth::Body));
        assert_eq!(client_auth(Value::Null), Some(ClientAuth::Basic));
        let long = with("token_endpoint_auth_methods_supported", json!(vec![""; MAX_LISTED + 100])).expect("metadata");
        assert_eq!(long.client_auth_methods.map(|methods| methods.len()), Some(MAX_LISTED));
        let mut scopes = vec!["x"; 1000];
        scopes.push("offline_access");
        assert!(with("scopes_supported", json!(scopes)).is_ok_and(|metadata| metadata.has_offline_access()));
        assert!(with("scopes_supported", Value::Null).is_ok_and(|metadata| !metadata.has_offline_access()));
    }

    #[test]
    fn optional_fields_may_be_null() {
        for name in ["userinfo_endpoint", "authorization_response_iss_parameter_supported", "id_token_signing_alg_values_supported"] {
            assert!(with(name, Value::Null).is_ok_and(|metadata| !metadata.names_itself() && !metadata.signs_with("HS256")), "{name}");
        }
    }

    #[test]
    fn only_microsoft_may_name_another_issuer() {
        let entra = "https://login.microsoftonline.com/common/v2.0";
        assert!(is_tenant_of("https://login.microsoftonline.com/{tenantid}/v2.0", entra));
        assert!(is_tenant_of("https://acme.b2clogin.com/7f3c2a4e/v2.0/", "https://acme.b2clogin.com/acme.onmicrosoft.com/B2C_1/v2.0"));
        for (named, issuer) in [
            ("https://evil.example/common/v2.0", entra),
            ("https://evil.b2clogin.com/x", "https://acme.b2clogin.com/x"),
            ("https://i.example/a", "https://i.example/b"),
            ("https://x.b2clogin.com.evil.example/a", "https://x.b2clogin.com.evil.example/b"),
        ] {
            assert!(!is_tenant_of(named, issuer), "{issuer}");
        }
        let template = "https://login.microsoftonline.com/{tenantid}/v2.0";
        assert_eq!(issuer_of(template, &json!({ "tid": "7f3c" })), "https://login.microsoftonline.com/7f3c/v2.0");
        for claims in [json!({}), json!({ "tid": "a/../b" }), json!({ "tid": 1 })] {
            assert_eq!(issuer_of(template, &claims), template);
        }
    }
}
