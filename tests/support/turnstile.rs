//! Stands in for Cloudflare Turnstile. The stand-in issues tokens as the widget does, and verifies
//! each token only once, as `siteverify` does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::extract::{Form, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::post;
use axum::{Json, Router};
use http::StatusCode;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::TestApp;
use crate::steady_time::SteadyTime;
use crate::until::until;

pub const SITE_KEY: &str = "0x4AAAAAAA-site";
pub const SECRET_KEY: &str = "0x4AAAAAAA-secret:+100%";

/// How Cloudflare fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misbehaviour {
    Down,
    /// Never answers.
    Silent,
    Garbage,
    Redirects,
    /// The secret key is unknown.
    UnknownSecret,
    InternalError,
}

/// A running stand-in. The stand-in stops when it is dropped.
pub struct Turnstile {
    pub url: String,
    inner: Arc<Mutex<Inner>>,
    server: JoinHandle<()>,
    _time: SteadyTime,
}

#[derive(Default)]
struct Inner {
    fault: Option<Misbehaviour>,
    /// The responses for the tokens that have not been used.
    tokens: HashMap<String, Value>,
    given: usize,
    /// The forms that the service has sent.
    asked: Vec<HashMap<String, String>>,
}

impl Turnstile {
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let inner = Arc::<Mutex<Inner>>::default();
        let router =
            Router::new().route("/challenges.cloudflare.com/turnstile/v0/siteverify", post(siteverify)).with_state(Arc::clone(&inner));
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, inner, server, _time: SteadyTime::start() }
    }

    /// Acts as a visitor who solves the widget on a page at `localhost`. `fields` replace fields in
    /// the response to the verification of the solution's token.
    pub fn solve(&self, app: &TestApp, action: &str, fields: Value) -> String {
        let mut answer = json!({
            "success": true, "challenge_ts": app.now().to_string(), "hostname": "localhost", "action": action, "error-codes": [], "cdata": "",
        });
        answer.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let mut inner = self.inner.lock().unwrap();
        inner.given += 1;
        let token = format!("0.token-{}", inner.given);
        inner.tokens.insert(token.clone(), answer);
        token
    }

    pub fn misbehave(&self, fault: Option<Misbehaviour>) {
        self.inner.lock().unwrap().fault = fault;
    }

    /// Waits until the service has sent a form.
    pub async fn is_asked(&self) {
        until("a verification is requested", || !self.inner.lock().unwrap().asked.is_empty()).await;
    }

    /// The forms that the service has sent since the last call.
    pub fn asked(&self) -> Vec<HashMap<String, String>> {
        std::mem::take(&mut self.inner.lock().unwrap().asked)
    }
}

impl Drop for Turnstile {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn siteverify(State(inner): State<Arc<Mutex<Inner>>>, Form(form): Form<HashMap<String, String>>) -> Response {
    let fault = {
        let mut inner = inner.lock().unwrap();
        inner.asked.push(form.clone());
        inner.fault
    };
    let refused = |code: &str| Json(json!({ "success": false, "error-codes": [code], "messages": [] })).into_response();
    match fault {
        Some(Misbehaviour::Down) => return StatusCode::BAD_GATEWAY.into_response(),
        Some(Misbehaviour::Silent) => std::future::pending().await,
        Some(Misbehaviour::Garbage) => return "<html>not JSON</html>".into_response(),
        Some(Misbehaviour::Redirects) => return Redirect::temporary("/elsewhere").into_response(),
        Some(Misbehaviour::UnknownSecret) => return refused("invalid-input-secret"),
        Some(Misbehaviour::InternalError) => return refused("internal-error"),
        None => {}
    }
    if form.get("secret").is_none_or(|secret| secret != SECRET_KEY) {
        return refused("invalid-input-secret");
    }
    let token = form.get("response").map_or("", String::as_str);
    match inner.lock().unwrap().tokens.remove(token) {
        Some(answer) => Json(answer).into_response(),
        None if token.starts_with("0.token-") => refused("timeout-or-duplicate"),
        None => refused("invalid-input-response"),
    }
}
