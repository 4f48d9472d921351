//! Callers of the service, each with a set of request headers.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use flows::App;
use gateway::keys::Keys;
use gateway::service::Service;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body_util::BodyExt as _;
use secrecy::ExposeSecret as _;
use serde_json::Value;

use crate::table::Table;
use crate::{SignedInUser, TestApp, record};

#[derive(Clone)]
pub struct Caller {
    app: App,
    router: Router,
    headers: HeaderMap,
    /// Keeps other services from using the shell.
    table: Option<Arc<Table>>,
}

pub struct RequestBuilder {
    app: App,
    router: Router,
    request: Request<Body>,
    table: Option<Arc<Table>>,
}

#[derive(Debug)]
pub struct Answer {
    response: Response<Vec<u8>>,
}

impl TestApp {
    /// A caller without any headers.
    pub fn anonymous(&self) -> Caller {
        let table = Some(Arc::clone(&self.table));
        Caller { app: self.app.clone(), router: self.router.clone(), headers: HeaderMap::new(), table }
    }

    /// Passes a request to the service without changing it.
    pub async fn answer(&self, request: Request<Body>) -> Response<Body> {
        record::answer(&self.app, self.router.clone(), request).await
    }

    /// A client of the project.
    pub fn client(&self) -> Caller {
        self.client_of(&self.keys)
    }

    /// A server of the project.
    pub fn server(&self) -> Caller {
        self.server_of(&self.keys)
    }

    /// A caller who administers the project.
    pub fn admin(&self) -> Caller {
        self.admin_of(&self.keys)
    }

    /// A client of the project, with a signed-in user.
    pub fn signed_in(&self, user: &SignedInUser) -> Caller {
        self.client().with("x-stack-access-token", &user.access_token).with("x-stack-refresh-token", &user.refresh_token)
    }

    pub fn client_of(&self, keys: &Keys) -> Caller {
        self.project_caller(keys, "client").with("x-stack-publishable-client-key", keys.client.expose_secret())
    }

    pub fn server_of(&self, keys: &Keys) -> Caller {
        self.project_caller(keys, "server").with("x-stack-secret-server-key", keys.server.expose_secret())
    }

    pub fn admin_of(&self, keys: &Keys) -> Caller {
        self.project_caller(keys, "admin").with("x-stack-super-secret-admin-key", keys.admin.expose_secret())
    }

    fn project_caller(&self, keys: &Keys, access: &str) -> Caller {
        self.anonymous().with("x-stack-project-id", keys.project_id.as_str()).with("x-stack-access-type", access)
    }
}

impl Caller {
    /// A caller of any service. The caller has the project's key for the level `admin` or `server`,
    /// and the client key for any other level.
    pub(crate) fn of(service: &Service, keys: &Keys, level: &str) -> Self {
        let (name, key) = match level {
            "admin" => ("x-stack-super-secret-admin-key", &keys.admin),
            "server" => ("x-stack-secret-server-key", &keys.server),
            _ => ("x-stack-publishable-client-key", &keys.client),
        };
        let caller = Self { app: service.app.clone(), router: service.router.clone(), headers: HeaderMap::new(), table: None };
        let caller = caller.with("x-stack-project-id", keys.project_id.as_str()).with("x-stack-access-type", level);
        caller.with(name, key.expose_secret())
    }

    /// The same caller with this header. The header replaces an earlier header with the same name.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.parse::<HeaderName>().unwrap(), value.parse::<HeaderValue>().unwrap());
        self
    }

    /// The same caller without this header.
    pub fn without(mut self, name: &str) -> Self {
        self.headers.remove(name);
        self
    }

    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let mut request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
        *request.headers_mut() = self.headers.clone();
        request.headers_mut().insert("host", HeaderValue::from_static("localhost:8787"));
        request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 4711))));
        RequestBuilder { app: self.app.clone(), router: self.router.clone(), request, table: self.table.clone() }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.request("GET", path).send().await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.request("POST", path).json(&body).send().await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.request("PATCH", path).json(&body).send().await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.request("DELETE", path).send().await
    }
}

impl RequestBuilder {
    /// Adds a header, even if there is a header with the same name.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.request.headers_mut().append(name.parse::<HeaderName>().unwrap(), value.parse::<HeaderValue>().unwrap());
        self
    }

    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json").body(body.to_string())
    }

    #[must_use]
    pub fn form(self, body: &[(&str, &str)]) -> Self {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(body).finish();
        self.header("content-type", "application/x-www-form-urlencoded").body(body)
    }

    #[must_use]
    pub fn body(mut self, body: impl Into<Body>) -> Self {
        *self.request.body_mut() = body.into();
        self
    }

    /// Builds the request as it is sent.
    pub fn build(self) -> Request<Body> {
        self.request
    }

    pub async fn send(self) -> Answer {
        let answer = Answer::read(record::answer(&self.app, self.router, self.request).await).await;
        drop(self.table);
        answer
    }
}

impl Answer {
    pub async fn read(response: Response<Body>) -> Self {
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Self { response: Response::from_parts(parts, body) }
    }

    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name).map(|value| value.to_str().unwrap())
    }

    /// All values of a header.
    pub fn headers(&self, name: &str) -> Vec<String> {
        self.response.headers().get_all(name).into_iter().map(|value| value.to_str().unwrap().to_owned()).collect()
    }

    pub fn bytes(&self) -> &[u8] {
        self.response.body()
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(self.response.body()).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(self.response.body()).unwrap_or_else(|_| panic!("not JSON: {}", self.text()))
    }

    /// The error code of the product API. Asserts that the response is an error of the product API.
    pub fn code(&self) -> String {
        let body = self.json();
        assert!(self.status() >= 400 && body["error"].is_string(), "not an error: {} {body}", self.status());
        body["code"].as_str().unwrap().to_owned()
    }
}
