//! Stands in for the providers of the catalog. The path `/<host>/<path>` responds like
//! `https://<host>/<path>`, and is as strict.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Json, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, Method, StatusCode, Uri};
use jiff::Timestamp;
use model::provider::catalog::{self, ClientAuth, Identity, TokenCheck};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use url::Url;

use crate::START;
use crate::provider::Key;
use crate::steady_time::SteadyTime;

const CLIENT_ID: &str = "client of the app";
const CLIENT_SECRET: &str = "secret: 100%";
const ACCESS_TOKEN: &str = "the provider's token";
const CODE: &str = "the provider's code";
pub const REFRESH_TOKEN: &str = "the provider's refresh token";

/// A stand-in for a provider in the catalog. The stand-in stops when it is dropped.
pub struct StandIn {
    pub url: String,
    inner: Arc<Inner>,
    server: JoinHandle<()>,
    _time: SteadyTime,
}

struct Inner {
    provider: &'static catalog::Provider,
    /// The documents of the account, by the URLs of the provider. The document with the key `""` is
    /// the ID token.
    documents: HashMap<String, Value>,
    /// Whether the provider responds only with errors.
    is_down: AtomicBool,
    /// Whether the user has revoked the app's access at the provider.
    is_revoked: AtomicBool,
    /// The statuses of refused requests, by URL.
    refused: Mutex<HashMap<String, u16>>,
    /// Additional fields in the responses of the token endpoint.
    extras: Mutex<Vec<(String, Value)>>,
    /// The parameters of the last authorization request that was allowed, by name. The token
    /// endpoint uses these parameters to check the challenge and the redirect URI, and to repeat
    /// the nonce.
    asked: Mutex<HashMap<String, String>>,
    /// The fields of the last request with the refresh token.
    renewal: Mutex<HashMap<String, String>>,
    key: Key,
    now: i64,
}

impl StandIn {
    pub async fn start(provider_id: &str, documents: HashMap<String, Value>) -> Self {
        let provider = catalog::find(provider_id).unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let inner = Arc::new(Inner {
            provider,
            documents,
            is_down: AtomicBool::new(false),
            is_revoked: AtomicBool::new(false),
            refused: Mutex::default(),
            extras: Mutex::default(),
            asked: Mutex::default(),
            renewal: Mutex::default(),
            key: Key::new(1),
            now: START.parse::<Timestamp>().unwrap().as_second(),
        });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&inner));
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, inner, server, _time: SteadyTime::start() }
    }

    /// The entry for this provider in a project's settings.
    pub fn setting(&self) -> Value {
        json!({ "id": self.inner.provider.id, "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET })
    }

    /// A stand-in that exists as long as the process, for tests that share a world. The stand-in
    /// does not have an account, and all other providers appear to be down.
    pub fn lasting(provider_id: &'static str) -> &'static Self {
        static LASTING: OnceLock<StandIn> = OnceLock::new();
        LASTING.get_or_init(|| {
            let (sender, receiver) = std::sync::mpsc::channel();
            // The runtime of a test ends with the test.
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async {
                    sender.send(Self::start(provider_id, HashMap::new()).await).unwrap();
                    std::future::pending::<()>().await;
                });
            });
            receiver.recv().unwrap()
        })
    }

    /// The key that signs the provider's ID tokens.
    pub fn key(&self) -> &Key {
        &self.inner.key
    }

    /// Takes the provider down if `fails` is set, and makes the provider available again if it is
    /// not.
    pub fn fail(&self, fails: bool) {
        self.inner.is_down.store(fails, Ordering::SeqCst);
    }

    /// Acts as the user who revokes the app's access at the provider.
    pub fn revoke(&self) {
        self.inner.is_revoked.store(true, Ordering::SeqCst);
    }

    /// From now on, refuses requests at a URL with this status.
    pub fn refuse(&self, url: &str, status: u16) {
        self.inner.refused.lock().unwrap().insert(url.to_owned(), status);
    }

    /// The fields of the last request with the refresh token.
    pub fn renewal(&self) -> HashMap<String, String> {
        self.inner.renewal.lock().unwrap().clone()
    }

    /// Adds a field to the responses of the token endpoint.
    pub fn answer_with(&self, name: &str, value: Value) {
        self.inner.extras.lock().unwrap().push((name.to_owned(), value));
    }

    /// Acts as the user who consents to the request in `location`. Returns the provider's code and
    /// the state.
    pub fn allow(&self, location: &Url) -> (String, String) {
        let provider = self.inner.provider;
        let asked: HashMap<String, String> = location.query_pairs().into_owned().collect();
        let endpoint = provider.authorization_endpoint.replace(catalog::TENANT, "common").replace("https://", &format!("{}/", self.url));
        assert!(location.as_str().starts_with(&format!("{endpoint}?")), "{location}");
        assert_eq!(asked["client_id"], CLIENT_ID);
        let is_sign_in = asked["scope"] == provider.scope;
        assert!(asked["scope"].starts_with(provider.scope), "{location}");
        let parameters = if is_sign_in { provider.sign_in } else { provider.offline.parameters };
        assert!(parameters.iter().all(|(name, value)| asked[*name] == *value), "{location}");
        assert_eq!(asked.contains_key("code_challenge"), provider.takes_pkce, "{location}");
        let state = asked["state"].clone();
        *self.inner.asked.lock().unwrap() = asked;
        (CODE.to_owned(), state)
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(State(inner): State<Arc<Inner>>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let url = format!("https:/{}", uri.path_and_query().unwrap());
    let provider = inner.provider;
    if inner.is_down.load(Ordering::SeqCst) {
        return StatusCode::BAD_GATEWAY.into_response();
    }
    if method == Method::POST && url == provider.token_endpoint.replace(catalog::TENANT, "common") {
        return inner.token(&headers, &body);
    }
    let is_revoked = inner.is_revoked.load(Ordering::SeqCst);
    if method == Method::POST && matches!(provider.token_check, TokenCheck::TokenInfo(endpoint) if endpoint == url) {
        let is_valid = !is_revoked && form(&body).get("access_token").is_some_and(|token| token == ACCESS_TOKEN);
        let answer = if is_valid { json!({ "aud": CLIENT_ID, "expires_in": "3599" }) } else { json!({ "error": "invalid_token" }) };
        return (if is_valid { StatusCode::OK } else { StatusCode::BAD_REQUEST }, Json(answer)).into_response();
    }
    if let Identity::IdToken { jwks_uri, .. } = provider.identity
        && url == jwks_uri
    {
        return Json(json!({ "keys": [inner.key.jwk()] })).into_response();
    }
    if let Some(status) = inner.refused.lock().unwrap().get(&url) {
        return StatusCode::from_u16(*status).unwrap().into_response();
    }
    let Some(url) = inner.without_proof(url) else { return StatusCode::BAD_REQUEST.into_response() };
    if is_revoked && let TokenCheck::AccountError(code) = provider.token_check {
        return (StatusCode::BAD_REQUEST, Json(json!({ "error": { "code": code, "type": "OAuthException" } }))).into_response();
    }
    let is_bearer = !is_revoked && headers.get("authorization").is_some_and(|value| value == &format!("Bearer {ACCESS_TOKEN}"));
    match (inner.documents.get(&url), provider.identity) {
        (_, Identity::Api(api)) if api.client_id_header.is_some_and(|name| headers.get(name).is_none_or(|id| id != CLIENT_ID)) => {
            StatusCode::BAD_REQUEST.into_response()
        }
        (Some(document), _) if is_bearer => Json(document).into_response(),
        (Some(_), _) => StatusCode::UNAUTHORIZED.into_response(),
        (None, _) if inner.documents.is_empty() => StatusCode::BAD_GATEWAY.into_response(),
        (None, _) => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The fields of a request's form.
fn form(body: &[u8]) -> HashMap<String, String> {
    url::form_urlencoded::parse(body).into_owned().collect()
}

impl Inner {
    /// The URL without the proof of the client secret. `None` if the provider requires the proof
    /// and the proof is missing or wrong.
    fn without_proof(&self, url: String) -> Option<String> {
        let Identity::Api(api) = self.provider.identity else { return Some(url) };
        let Some(name) = api.secret_proof else { return Some(url) };
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, CLIENT_SECRET.as_bytes());
        let proof = ring::hmac::sign(&key, ACCESS_TOKEN.as_bytes());
        let proof = proof.as_ref().iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        url.strip_suffix(&format!("&{name}={proof}")).map(str::to_owned)
    }

    fn token(&self, headers: &HeaderMap, body: &[u8]) -> Response {
        let form = form(body);
        if self.proves(headers, &form) && form.get("refresh_token").is_some_and(|token| token == REFRESH_TOKEN) {
            *self.renewal.lock().unwrap() = form;
            return Json(json!({ "access_token": ACCESS_TOKEN, "token_type": "bearer", "expires_in": 3600 })).into_response();
        }
        let asked = self.asked.lock().unwrap();
        let is = |name: &str, value: &str| form.get(name).is_some_and(|found| found == value);
        let verifies = match form.get("code_verifier") {
            Some(verifier) => {
                let challenge = model::sign_in::authorization::challenge(verifier);
                self.provider.takes_pkce && asked.get("code_challenge") == Some(&challenge)
            }
            None => !self.provider.takes_pkce,
        };
        let has_scope = !self.provider.wants_scope || asked.get("scope").is_some_and(|scope| is("scope", scope));
        let returns = asked.get("redirect_uri").is_some_and(|uri| is("redirect_uri", uri));
        if !self.proves(headers, &form)
            || !is("code", CODE)
            || !is("grant_type", "authorization_code")
            || !verifies
            || !returns
            || !has_scope
        {
            return (StatusCode::BAD_REQUEST, Json(json!({ "error": "invalid_grant" }))).into_response();
        }
        let mut answer = json!({ "access_token": ACCESS_TOKEN, "token_type": "bearer" });
        // The tokens of GitHub's OAuth apps do not expire.
        if self.provider.id != "github" {
            answer["expires_in"] = 3600.into();
        }
        for (name, value) in self.extras.lock().unwrap().iter() {
            answer[name] = value.clone();
        }
        if let (Identity::IdToken { issuer, .. }, Some(claims)) = (self.provider.identity, self.documents.get("")) {
            let mut claims = claims.clone();
            for (name, value) in [("iss", issuer), ("aud", CLIENT_ID), ("nonce", asked["nonce"].as_str())] {
                claims[name] = value.into();
            }
            (claims["iat"], claims["exp"]) = (self.now.into(), (self.now + 300).into());
            answer["id_token"] = self.key.sign(&claims).into();
        }
        Json(answer).into_response()
    }

    /// Whether the OAuth client authenticates exactly as the provider requires.
    fn proves(&self, headers: &HeaderMap, form: &HashMap<String, String>) -> bool {
        let encode = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let basic = format!("Basic {}", STANDARD.encode(format!("{}:{}", encode(CLIENT_ID), encode(CLIENT_SECRET))));
        let by_header = headers.get("authorization").is_some_and(|value| value == basic.as_str());
        let by_body = form.get("client_secret").is_some_and(|secret| secret == CLIENT_SECRET)
            && form.get("client_id").is_some_and(|id| id == CLIENT_ID);
        match self.provider.client_auth {
            ClientAuth::Basic => by_header && !form.contains_key("client_secret"),
            ClientAuth::Body => by_body && !headers.contains_key("authorization"),
        }
    }
}
