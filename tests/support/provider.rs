//! An OpenID provider for tests. The provider is served over HTTP on this machine. The provider is
//! as strict as a real provider, and misbehaves if a test requests it.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex};

use axum::extract::{Form, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use url::Url;

use crate::TestApp;
pub use crate::issuer_key::Key;
use crate::provider_edits::Edits;
pub use crate::provider_edits::Part;
pub use crate::provider_fault::Misbehaviour;
use crate::steady_time::SteadyTime;
use crate::until::until;

pub const CLIENT_ID: &str = "acme-client";
pub const CLIENT_SECRET: &str = "acme secret: 100%";

/// The access token that is issued for the refresh token.
const RENEWED: &str = "renewed";

/// A running provider. The provider stops when it is dropped.
pub struct Provider {
    pub issuer: String,
    inner: Arc<Inner>,
    server: JoinHandle<()>,
    _time: SteadyTime,
}

struct Inner {
    issuer: String,
    state: Mutex<ProviderState>,
    /// Wakes the requests that are waiting for [`Provider::behave`].
    behaves: Notify,
}

struct ProviderState {
    key: Key,
    codes: HashMap<String, PendingCode>,
    fault: Option<Misbehaviour>,
    /// The provider's time, in seconds since the epoch.
    now: i64,
    requests: Vec<String>,
    /// Further metadata.
    published: Vec<(String, Value)>,
    edits: Edits,
    /// The number of requests that have waited for [`Provider::behave`].
    waiting: usize,
}

struct PendingCode {
    challenge: String,
    redirect_uri: String,
    nonce: String,
    account: Value,
}

impl Provider {
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let state = ProviderState {
            key: Key::new(1),
            codes: HashMap::new(),
            fault: None,
            now: 0,
            requests: Vec::new(),
            published: Vec::new(),
            edits: Edits::default(),
            waiting: 0,
        };
        let inner = Arc::new(Inner { issuer: issuer.clone(), state: Mutex::new(state), behaves: Notify::new() });
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(metadata))
            .route("/jwks", get(jwks))
            .route("/token", post(token))
            .route("/userinfo", get(userinfo))
            .layer(from_fn_with_state(Arc::clone(&inner), fail_once))
            .with_state(Arc::clone(&inner));
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { issuer, inner, server, _time: SteadyTime::start() }
    }

    /// The entry for this provider in a project's settings.
    pub fn setting(&self) -> Value {
        json!({ "id": "acme", "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "issuer": self.issuer })
    }

    pub fn misbehave(&self, fault: Misbehaviour) {
        self.inner.state.lock().unwrap().fault = Some(fault);
    }

    pub fn behave(&self) {
        self.inner.state.lock().unwrap().fault = None;
        self.inner.behaves.notify_waiters();
    }

    /// Waits until this many token requests have been held ([`Misbehaviour::Waits`]).
    pub async fn is_waiting(&self, requests: usize) {
        until("tokens are requested", || self.inner.state.lock().unwrap().waiting >= requests).await;
    }

    /// From now on, signs with a new key, and no longer publishes the old key.
    pub fn rotate_key(&self) {
        let mut state = self.inner.state.lock().unwrap();
        state.key = state.key.next();
    }

    /// From now on, signs with this key, and publishes only this key.
    pub fn use_key(&self, key: Key) {
        self.inner.state.lock().unwrap().key = key;
    }

    pub fn key(&self) -> Key {
        self.inner.state.lock().unwrap().key.clone()
    }

    /// Adds a field to the usual metadata.
    pub fn publish(&self, name: &str, value: Value) {
        self.inner.state.lock().unwrap().published.push((name.to_owned(), value));
    }

    /// Changes fields of a part of the provider's responses. `null` removes a field.
    pub fn edit(&self, part: Part, fields: Value) {
        self.inner.state.lock().unwrap().edits.set(part, fields);
    }

    /// Undoes all changes by [`Self::edit`].
    pub fn undo_edits(&self) {
        self.inner.state.lock().unwrap().edits.clear();
    }

    /// The endpoints that were requested since the last call: `metadata`, `jwks`, `token` or
    /// `userinfo`.
    pub fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.inner.state.lock().unwrap().requests)
    }

    /// Acts as the user who consents to the request in `location` with this account. Returns the
    /// provider's code and the state.
    pub fn allow(&self, app: &TestApp, location: &Url, account: Value) -> (String, String) {
        let query: HashMap<String, String> = location.query_pairs().into_owned().collect();
        assert_eq!((query["client_id"].as_str(), query["response_type"].as_str()), (CLIENT_ID, "code"), "{location}");
        assert_eq!(query["code_challenge_method"], "S256");
        assert!(query["scope"].split(' ').any(|scope| scope == "openid"));
        let mut state = self.inner.state.lock().unwrap();
        state.now = app.now().as_second();
        let code = format!("code-{}", state.codes.len());
        let pending = PendingCode {
            challenge: query["code_challenge"].clone(),
            redirect_uri: query["redirect_uri"].clone(),
            nonce: query["nonce"].clone(),
            account,
        };
        state.codes.insert(code.clone(), pending);
        (code, query["state"].clone())
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl ProviderState {
    fn signed(&self, claims: &Value, fault: Option<Misbehaviour>) -> String {
        let header = self.edits.apply(Part::Header, self.key.header());
        match fault {
            Some(Misbehaviour::ForgedSignature) => self.key.forged().sign_with(&header, claims),
            Some(Misbehaviour::Unsigned) => self.key.unsigned(claims),
            Some(Misbehaviour::SignsWithSecret) => self.key.sign_with_secret(claims, CLIENT_SECRET),
            _ => self.key.sign_with(&header, claims),
        }
    }
}

impl Inner {
    fn asked(&self, path: &str) -> Option<Misbehaviour> {
        let mut state = self.state.lock().unwrap();
        state.requests.push(path.to_owned());
        state.fault
    }
}

/// Makes the first request at each endpoint fail ([`Misbehaviour::FailsOnce`]).
async fn fail_once(State(inner): State<Arc<Inner>>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let name = if path.ends_with("openid-configuration") { "metadata" } else { path.trim_start_matches('/') };
    let is_first = {
        let mut state = inner.state.lock().unwrap();
        let is_first = state.fault == Some(Misbehaviour::FailsOnce) && !state.requests.iter().any(|asked| asked == name);
        if is_first {
            state.requests.push(name.to_owned());
        }
        is_first
    };
    if is_first { StatusCode::BAD_GATEWAY.into_response() } else { next.run(request).await }
}

async fn metadata(State(inner): State<Arc<Inner>>) -> Json<Value> {
    let at = |path: &str| format!("{}{path}", inner.issuer);
    let authorization_endpoint = match inner.asked("metadata") {
        Some(Misbehaviour::Maintenance) => return maintenance(),
        Some(Misbehaviour::ScriptEndpoint) => "javascript:alert(document.cookie)//".to_owned(),
        _ => at("/authorize"),
    };
    let mut document = json!({
        "issuer": inner.issuer, "authorization_endpoint": authorization_endpoint, "token_endpoint": at("/token"), "jwks_uri": at("/jwks"),
        "userinfo_endpoint": at("/userinfo"), "response_types_supported": ["code"], "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    });
    let state = inner.state.lock().unwrap();
    for (name, value) in &state.published {
        document[name] = value.clone();
    }
    Json(state.edits.apply(Part::Metadata, document))
}

fn maintenance() -> Json<Value> {
    Json(json!({ "message": "back soon" }))
}

async fn jwks(State(inner): State<Arc<Inner>>) -> Json<Value> {
    if inner.asked("jwks") == Some(Misbehaviour::Maintenance) {
        return maintenance();
    }
    let state = inner.state.lock().unwrap();
    Json(state.edits.apply(Part::Keys, json!({ "keys": [state.key.jwk()] })))
}

async fn token(State(inner): State<Arc<Inner>>, headers: HeaderMap, Form(form): Form<HashMap<String, String>>) -> Response {
    let fault = inner.asked("token");
    match fault {
        Some(Misbehaviour::Down) => return StatusCode::BAD_GATEWAY.into_response(),
        Some(Misbehaviour::Silent) => std::future::pending().await,
        Some(Misbehaviour::Garbage) => return "<html>not JSON</html>".into_response(),
        Some(Misbehaviour::Huge) => return format!("{{\"access_token\":\"{}\"}}", "x".repeat(2_000_000)).into_response(),
        Some(Misbehaviour::RedirectsTokenRequest) => return Redirect::temporary("/elsewhere").into_response(),
        Some(Misbehaviour::Refuses | Misbehaviour::RevokesEverything) => return refused(),
        Some(Misbehaviour::RefusesClient) => return (StatusCode::UNAUTHORIZED, Json(json!({ "error": "invalid_client" }))).into_response(),
        Some(Misbehaviour::RefusesClientInHtml) => return (StatusCode::UNAUTHORIZED, "<html>Unauthorized</html>").into_response(),
        Some(Misbehaviour::Waits | Misbehaviour::RevokesAccessAndWaits) => {
            let mut behaves = pin!(inner.behaves.notified());
            behaves.as_mut().enable();
            inner.state.lock().unwrap().waiting += 1;
            behaves.await;
        }
        _ => {}
    }
    let encode = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let basic = format!("Basic {}", STANDARD.encode(format!("{}:{}", encode(CLIENT_ID), encode(CLIENT_SECRET))));
    let proves = headers.get("authorization").is_some_and(|value| value == basic.as_str());
    if form.get("grant_type").is_some_and(|grant| grant == "refresh_token") {
        return if proves && form.get("refresh_token").is_some_and(|token| token == "r") { renewed(fault) } else { refused() };
    }
    let mut state = inner.state.lock().unwrap();
    let Some(pending) = state.codes.remove(form.get("code").map_or("", String::as_str)) else { return refused() };
    let verifies =
        form.get("code_verifier").is_some_and(|verifier| model::sign_in::authorization::challenge(verifier) == pending.challenge);
    if !proves || !verifies || form.get("redirect_uri") != Some(&pending.redirect_uri) {
        return refused();
    }
    let mut claims = json!({ "iss": inner.issuer, "aud": CLIENT_ID, "iat": state.now, "exp": state.now + 300, "nonce": pending.nonce });
    for (name, value) in pending.account.as_object().unwrap() {
        // With `userinfo: true`, the ID token contains only `sub`. With a list of claims, it
        // contains all claims except the listed claims.
        let is_elsewhere = match &pending.account["userinfo"] {
            Value::Array(names) => names.iter().any(|other| other == name),
            userinfo => *userinfo == true && name != "sub",
        };
        if !is_elsewhere {
            claims[name] = value.clone();
        }
    }
    spoil(&mut claims, fault);
    let access_token = URL_SAFE_NO_PAD.encode(pending.account.to_string());
    let id_token = state.signed(&state.edits.apply(Part::Claims, claims), fault);
    let mut answer = json!({ "access_token": access_token, "token_type": "Bearer", "expires_in": 3600 });
    // Some providers issue only one refresh token for each grant.
    if pending.account["granted_before"] != true {
        answer["refresh_token"] = "r".into();
    }
    if fault != Some(Misbehaviour::NoIdToken) {
        answer["id_token"] = id_token.into();
    }
    Json(state.edits.apply(Part::TokenAnswer, answer)).into_response()
}

/// A new access token. The refresh token is not rotated.
fn renewed(fault: Option<Misbehaviour>) -> Response {
    let life = if fault == Some(Misbehaviour::ShortLife) { "120" } else { "3600" };
    Json(json!({ "access_token": RENEWED, "token_type": "Bearer", "expires_in": life })).into_response()
}

fn refused() -> Response {
    (StatusCode::BAD_REQUEST, Json(json!({ "error": "invalid_grant" }))).into_response()
}

fn spoil(claims: &mut Value, fault: Option<Misbehaviour>) {
    match fault {
        Some(Misbehaviour::WrongNonce) => claims["nonce"] = "of another flow".into(),
        Some(Misbehaviour::WrongAudience) => claims["aud"] = "another client".into(),
        Some(Misbehaviour::WrongIssuer) => claims["iss"] = "https://another.example".into(),
        Some(Misbehaviour::Expired) => claims["exp"] = (claims["iat"].as_i64().unwrap() - 3600).into(),
        _ => {}
    }
}

async fn userinfo(State(inner): State<Arc<Inner>>, headers: HeaderMap) -> Response {
    let fault = inner.asked("userinfo");
    let token = headers.get("authorization").and_then(|value| value.to_str().ok()?.strip_prefix("Bearer ")).unwrap_or_default();
    let has_revoked_access = matches!(fault, Some(Misbehaviour::RevokesAccess | Misbehaviour::RevokesAccessAndWaits));
    if fault == Some(Misbehaviour::RevokesEverything) || (has_revoked_access && token != RENEWED) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    if token == RENEWED {
        return Json(json!({})).into_response();
    }
    let Ok(account) = URL_SAFE_NO_PAD.decode(token) else { return StatusCode::UNAUTHORIZED.into_response() };
    let mut account: Value = serde_json::from_slice(&account).unwrap();
    match fault {
        Some(Misbehaviour::OtherUserinfo) => account["sub"] = "somebody else".into(),
        Some(Misbehaviour::UserinfoAnswers(status)) => return StatusCode::from_u16(status).unwrap().into_response(),
        Some(Misbehaviour::UserinfoIsPage) => return Html("<html>Sign in</html>").into_response(),
        Some(Misbehaviour::SignedUserinfo | Misbehaviour::ForgedUserinfo) => {
            (account["iss"], account["aud"]) = (inner.issuer.clone().into(), CLIENT_ID.into());
            let state = inner.state.lock().unwrap();
            let userinfo = state.edits.apply(Part::Userinfo, account);
            let forgery = (fault == Some(Misbehaviour::ForgedUserinfo)).then_some(Misbehaviour::ForgedSignature);
            return ([("content-type", "application/jwt")], state.signed(&userinfo, forgery)).into_response();
        }
        _ => {}
    }
    Json(inner.state.lock().unwrap().edits.apply(Part::Userinfo, account)).into_response()
}
