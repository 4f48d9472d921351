//! Calls operations within the process, through the layer of each operation. The limits, checks,
//! audit log and errors are the same as for an external request with the visitor's address and
//! session.

use api::http::client::{OwnPage, PLACE_HEADERS, PeerAddress};
use api::http::{RequestId, Route, router};
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::handler::Handler;
use axum::response::IntoResponse as _;
use flows::App;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use serde_json::Value;
use tower::ServiceExt as _;
use wire::level::Level;

use crate::visit::Visit;
use crate::visit::cookies::Cookie;

/// The maximum size of a response, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// The response of an operation.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

/// A request to an operation. The visitor's session is added when the request is made.
#[derive(Default)]
pub(crate) struct Call {
    /// The values of the path parameters, in order.
    path: Vec<String>,
    query: String,
    body: Option<Value>,
    /// Whether to send the refresh token in addition to the access token.
    has_token: bool,
    is_anonymous: bool,
}

impl Call {
    /// A request without a body.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A request with `user_id=me`, which the lists of sessions, teams and keys require.
    pub(crate) fn for_me() -> Self {
        Self::new().query("user_id=me".to_owned())
    }

    /// A request with this body.
    pub(crate) fn with(body: Value) -> Self {
        Self { body: Some(body), ..Self::default() }
    }

    /// Sets the next path parameter.
    pub(crate) fn at(mut self, parameter: &str) -> Self {
        self.path.push(parameter.to_owned());
        self
    }

    pub(crate) fn query(self, query: String) -> Self {
        Self { query, ..self }
    }

    /// Sends the refresh token in addition to the access token.
    pub(crate) fn with_token(self) -> Self {
        Self { has_token: true, ..self }
    }

    /// Leaves the visitor's session out, because a sign-in starts a new session.
    pub(crate) fn anonymous(self) -> Self {
        Self { is_anonymous: true, ..self }
    }

    fn uri(&self, route: &Route) -> String {
        let mut parameters = self.path.iter();
        let segment = |segment: &str| {
            if segment.starts_with('{') {
                url::form_urlencoded::byte_serialize(parameters.next().map_or("", String::as_str).as_bytes()).collect()
            } else {
                segment.to_owned()
            }
        };
        let path = route.path.split('/').map(segment).collect::<Vec<String>>().join("/");
        if self.query.is_empty() { path } else { format!("{path}?{}", self.query) }
    }
}

impl Reply {
    /// The error code. `None` if the request succeeded.
    pub(crate) fn error(&self) -> Option<&str> {
        if self.status.is_success() || self.status.is_redirection() { None } else { self.body["code"].as_str().or(Some("INTERNAL_ERROR")) }
    }

    /// The text in a field of the body.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.body[name].as_str().unwrap_or_default()
    }

    /// The text in a field of the error's details.
    pub(crate) fn detail(&self, name: &str) -> &str {
        self.body["details"][name].as_str().unwrap_or_default()
    }
}

impl Visit {
    /// Calls an operation.
    pub(crate) async fn call<H, T>(&self, route: Route, handler: H, call: Call) -> Reply
    where
        H: Handler<T, App>,
        T: 'static,
    {
        let calls = self.parts.extensions.get::<Route>().map_or(&[][..], |page| page.calls);
        debug_assert!(calls.iter().any(|call| call.name == route.name), "the route of the page does not list {}", route.name);
        let mut request = Request::new(Body::empty());
        *request.method_mut() = Method::from_bytes(route.verb.name().as_bytes()).unwrap_or_default();
        *request.uri_mut() = call.uri(&route).parse().unwrap_or_default();
        let headers = request.headers_mut();
        for name in PLACE_HEADERS {
            if let Some(value) = self.parts.headers.get(name) {
                headers.insert(HeaderName::from_static(name), value.clone());
            }
        }
        let token = if call.is_anonymous { None } else { self.access_token() };
        let refresh_token = self.refresh_token().filter(|_| call.has_token);
        let device = self.cookies.get(Cookie::Device);
        let of_session = [("x-service-access-token", token.as_deref()), ("x-service-refresh-token", refresh_token)];
        let others = [
            ("x-service-access-type", Some(Level::Client.name())),
            ("x-service-project-id", Some(self.project.id.as_str())),
            ("x-service-device-token", device),
            ("x-service-allow-anonymous-user", Some("true")),
        ];
        for (name, value) in of_session.into_iter().chain(others) {
            if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
        if let Some(body) = call.body {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            *request.body_mut() = Body::from(body.to_string());
        }
        let (of_request, outer) = (request.extensions_mut(), &self.parts.extensions);
        of_request.insert(OwnPage);
        of_request.insert(outer.get::<PeerAddress>().copied().unwrap_or_default());
        if let Some(id) = outer.get::<RequestId>() {
            of_request.insert(id.clone());
        }
        let operation = router(&self.app, route, handler).with_state::<()>(self.app.clone());
        let (parts, body) = operation.oneshot(request).await.into_response().into_parts();
        let body = to_bytes(body, MAX_BYTES).await.unwrap_or_default();
        Reply { status: parts.status, headers: parts.headers, body: serde_json::from_slice(&body).unwrap_or_default() }
    }
}
