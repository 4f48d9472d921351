//! One operation as a Lambda function behind an HTTP API of API Gateway (payload format 2.0).

use std::convert::Infallible;

use aws::runtime;
use axum::Router;
use axum::handler::Handler;
use axum::response::IntoResponse as _;
use axum::routing::{MethodRouter, on};
use flows::App;
use http::header::SET_COOKIE;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::BodyExt as _;
use lambda_http::aws_lambda_events::apigw::ApiGatewayV2httpResponse;
use lambda_http::request::RequestContext;
use lambda_http::{Error, RequestExt as _};
use tower::ServiceExt as _;
use wire::environment;

use crate::http::client::{PeerAddress, went_past_distribution};
use crate::http::event::request;
use crate::http::interface::Interface;
use crate::http::log::{self, RequestFacts};
use crate::http::need::Need;
use crate::http::one_operation::{OF_CONTENT, OF_PAGES, OF_PRODUCT, operation_router};
use crate::http::request_id::RequestId;
use crate::http::route::Route;
use crate::http::router::{wrap_agents, wrap_content, wrap_pages, wrap_product};
use crate::http::version::resolved;

/// The value of `Strict-Transport-Security`: for a year, browsers use only TLS for the host of the
/// API (RFC 6797). Subdomains are excluded because they may belong to someone else.
const TRANSPORT_SECURITY: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Runs the Lambda of an operation of the product API: builds the app at a cold start, then handles
/// events until the instance ends. Fails if a setting in the environment is missing or invalid, and
/// panics if the operation belongs to another interface.
///
/// There is one `run` function for each interface, so that a Lambda does not contain the layers of
/// the other interfaces.
pub fn run<H, T>(route: Route, handler: H) -> Result<(), Error>
where
    H: Handler<T, App>,
    T: 'static,
{
    assert_eq!(route.interface, Interface::Product, "{}", route.name);
    let build = |app: &App| operation_router(app, route, wrap_product(app, route, on(route.verb.filter(), handler)), OF_PRODUCT);
    run_router(route.name, if route.needs.has(Need::Secret) { App::from_env } else { App::without_secret }, build)
}

/// Like [`run`], for an operation of the content API.
pub fn run_content<H, T>(route: Route, handler: H) -> Result<(), Error>
where
    H: Handler<T, App>,
    T: 'static,
{
    assert_eq!(route.interface, Interface::Content, "{}", route.name);
    run_public(route, on(route.verb.filter(), handler), wrap_content)
}

/// Like [`run`], for an operation that agents call.
pub fn run_for_agents<H, T>(route: Route, handler: H) -> Result<(), Error>
where
    H: Handler<T, App>,
    T: 'static,
{
    assert_eq!(route.interface, Interface::Agents, "{}", route.name);
    run_public(route, on(route.verb.filter(), handler), wrap_agents)
}

/// Like [`run`], for a page.
pub fn run_page<H, T>(route: Route, handler: H) -> Result<(), Error>
where
    H: Handler<T, App>,
    T: 'static,
{
    assert_eq!(route.interface, Interface::Pages, "{}", route.name);
    let build = |app: &App| operation_router(app, route, wrap_pages(app, route, on(route.verb.filter(), handler)), OF_PAGES);
    run_router(route.name, App::from_env, build)
}

type AddLayers = fn(&App, Route, MethodRouter<App>) -> MethodRouter<App>;

fn run_public(route: Route, methods: MethodRouter<App>, layered: AddLayers) -> Result<(), Error> {
    let build = |app: &App| operation_router(app, route, layered(app, route, methods), OF_CONTENT);
    run_router(route.name, App::without_secret, build)
}

/// Runs a router as the Lambda `name`, with the app built from the environment ([`App::from_env`]
/// or [`App::without_secret`]). Fails if a setting in the environment is missing or invalid.
pub fn run_router(
    name: &'static str,
    app: impl FnOnce() -> Result<App, environment::Error>,
    build: impl FnOnce(&App) -> Router<App>,
) -> Result<(), Error> {
    runtime::block_on(async {
        log::init();
        let app = app()?;
        let router = build(&app).with_state(app.clone());
        runtime::run(async |event| {
            let (request, is_valid) = request(&event.body)?;
            let answer = answer((name, &event.id), &app, router.clone(), request, is_valid).await?;
            Ok::<_, Error>(serde_json::to_vec(&answer.payload())?)
        })
        .await
    })
}

/// Responds to a request; `name` is the operation's name, and `invocation` is the invocation's id.
/// If `is_valid` is false, the request's query was invalid and has been removed.
async fn answer(
    (name, invocation): (&'static str, &str),
    app: &App,
    router: Router,
    request: lambda_http::Request,
    is_valid: bool,
) -> Result<Answer, Infallible> {
    let request = as_received(request);
    let asked = asked(name, invocation, &request);
    let is_direct = went_past_distribution(request.headers(), &app.settings);
    let mut answer = match (is_direct, is_valid) {
        (true, _) => direct(app),
        (false, false) => not_encoded(),
        (false, true) => router.oneshot(request).await?,
    };
    // `Strict-Transport-Security` must not be sent over plain HTTP (RFC 6797 §7.2), which functions
    // use on a developer's machine.
    if app.settings.api_url.starts_with("https:") {
        answer.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, TRANSPORT_SECURITY);
    }
    asked.answered(app, &answer);
    Ok(Answer::read(answer).await)
}

/// The response to a request sent directly to API Gateway's host, which bypasses the distribution.
/// Responding does not require reading the table.
fn direct(app: &App) -> Response<axum::body::Body> {
    (StatusCode::FORBIDDEN, format!("This API is available only at {}.\n", app.settings.api_url)).into_response()
}

/// The response to a request whose query is not valid in a URI.
fn not_encoded() -> Response<axum::body::Body> {
    (StatusCode::BAD_REQUEST, "The query has characters that must be percent-encoded (RFC 3986, section 3.4).\n").into_response()
}

/// A response in the form that the runtime sends: the body is text if it is UTF-8, otherwise
/// base64.
///
/// The runtime crate could convert bodies as well, but its code would add the tables of all other
/// character encodings to every binary.
struct Answer(Response<lambda_http::Body>);

impl Answer {
    async fn read(answer: Response<axum::body::Body>) -> Self {
        let (parts, body) = answer.into_parts();
        let body = match body.collect().await {
            Ok(body) => Vec::from(body.to_bytes()),
            Err(error) => {
                tracing::error!(%error, "the body of a response ended early");
                return Self(StatusCode::INTERNAL_SERVER_ERROR.into_response().map(|_| lambda_http::Body::Empty));
            }
        };
        let body = String::from_utf8(body).map_or_else(|error| lambda_http::Body::Binary(error.into_bytes()), lambda_http::Body::Text);
        Self(Response::from_parts(parts, body))
    }

    /// The response in API Gateway's payload format 2.0, which lists cookies separately from the
    /// headers and joins the values of a header with commas.
    fn payload(self) -> ApiGatewayV2httpResponse {
        let (mut parts, body) = self.0.into_parts();
        let mut payload = ApiGatewayV2httpResponse::default();
        let cookies = parts.headers.get_all(SET_COOKIE).iter().filter_map(|cookie| cookie.to_str().ok());
        payload.cookies = cookies.map(str::to_owned).collect();
        parts.headers.remove(SET_COOKIE);
        payload.status_code = parts.status.as_u16().into();
        payload.headers = parts.headers;
        payload.is_base64_encoded = matches!(body, lambda_http::Body::Binary(_));
        payload.body = Some(body).filter(|body| !matches!(body, lambda_http::Body::Empty));
        payload
    }
}

/// What the log line contains about a request.
fn asked(name: &'static str, invocation: &str, request: &lambda_http::Request) -> RequestFacts {
    let request_id = request.extensions().get().cloned();
    RequestFacts::new(name, request.method(), request.headers(), request_id, Some(invocation.to_owned()))
}

/// Copies data from API Gateway's event to the request's extensions, where the layers look for it:
/// the request's id, and the IP address of the connection's peer, which may be the distribution.
/// Also resolves the version in the path.
fn as_received(mut request: lambda_http::Request) -> lambda_http::Request {
    let (address, request_id) = match request.request_context_ref() {
        Some(context @ RequestContext::ApiGatewayV2(of)) => {
            (of.http.source_ip.as_deref().and_then(|ip| ip.parse().ok()), RequestId::of(context))
        }
        _ => (None, None),
    };
    request.extensions_mut().insert(address.map(PeerAddress).unwrap_or_default());
    if let Some(request_id) = request_id {
        request.extensions_mut().insert(request_id);
    }
    *request.uri_mut() = resolved(request.uri());
    request
}

#[cfg(test)]
mod tests {
    use errors::KnownError;

    use super::*;
    use crate::http::router::router;

    #[test]
    fn the_path_of_an_event_below_api_latest_becomes_the_current_one() {
        let event = include_str!("../../../../events/users/me-read.json");
        let path = |event: &str| {
            let request = lambda_http::request::from_str(event).expect("an event");
            as_received(request).uri().path().to_owned()
        };
        assert_eq!(path(event), "/api/v1/users/me");
        let latest = event.replace("/api/v1/", "/api/latest/");
        assert_ne!(latest, event);
        assert_eq!(path(&latest), "/api/v1/users/me");
    }

    #[tokio::test]
    async fn an_answer_is_text_if_it_is_utf_8() {
        let of = async |body: &'static [u8]| Answer::read(Response::new(axum::body::Body::from(body))).await.0.into_body();
        assert!(matches!(of("{\"name\":\"Zo\u{eb}\"}".as_bytes()).await, lambda_http::Body::Text(text) if text.contains("Zo\u{eb}")));
        assert!(matches!(of(b"\x89PNG").await, lambda_http::Body::Binary(bytes) if bytes == b"\x89PNG"));
    }

    #[tokio::test]
    async fn client_and_log_get_the_request_id_of_api_gateways_access_log() {
        let event = include_str!("../../../../events/users/me-read.json");
        let request = as_received(lambda_http::request::from_str(event).expect("an event"));
        let app = log::tests::app(None);
        let (logged, route) = (asked("users-me-read", "an id", &request), Route::get("users-me-read", "/api/v1/users/me"));
        let router = router(&app, route, || async { KnownError::InternalError }).with_state(app.clone());
        let answer = router.oneshot(request).await.expect("an answer");

        let id = "JKJaXmPLvHcESHA=";
        for name in ["x-request-id", "x-service-request-id"] {
            assert_eq!(answer.headers()[name], id);
        }
        assert_eq!(logged.line(&app, &answer)["request_id"], id);
        let body = answer.into_body().collect().await.expect("a body").to_bytes();
        let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(body["request_id"], id, "the id that a person copies into a report");
    }

    #[tokio::test]
    async fn responses_tell_browsers_to_use_tls_if_the_api_has_it() {
        for (api_url, expected) in [("https://api.test", Some("max-age=31536000")), ("http://localhost:9000", None)] {
            let app = log::tests::app_at(api_url, None);
            let build = || router(&app, Route::get("users-me-read", "/api/v1/users/me"), || async { KnownError::UserNotFound });
            let event = include_str!("../../../../events/users/me-read.json");
            for event in [event.to_owned(), event.replace("/users/me", "/nowhere")] {
                let request = lambda_http::request::from_str(&event).expect("an event");
                let answer =
                    answer(("users-me-read", "an id"), &app, build().with_state(app.clone()), request, true).await.expect("an answer");
                let header = answer.0.headers().get("strict-transport-security").map(|value| value.to_str().expect("text").to_owned());
                assert_eq!(header.as_deref(), expected, "{api_url}: {}", answer.0.status());
            }
        }
    }

    #[tokio::test]
    async fn requests_that_bypass_the_distribution_are_rejected_unless_allowed() {
        let [only, beside] = [false, true].map(|direct| log::tests::app_behind("the secret of the distribution", direct));
        for (app, secret, is_valid, expected) in [
            (&only, None, true, 403),
            (&only, None, false, 403),
            (&only, Some("another"), true, 403),
            (&only, Some("the secret of the distribution"), true, 404),
            (&only, Some("the secret of the distribution"), false, 400),
            (&beside, None, true, 404),
            (&beside, Some("another"), true, 404),
        ] {
            let reached = async || KnownError::UserNotFound;
            let routes = router(app, Route::get("users-me-read", "/api/v1/users/me"), reached).with_state(app.clone());
            let event = include_str!("../../../../events/users/me-read.json");
            let mut request = lambda_http::request::from_str(event).expect("an event");
            request.headers_mut().remove("x-origin-secret");
            if let Some(secret) = secret {
                request.headers_mut().insert("x-origin-secret", HeaderValue::from_static(secret));
            }
            let answer = answer(("users-me-read", "an id"), app, routes, request, is_valid).await.expect("an answer").0;
            assert_eq!(answer.status(), expected, "{secret:?}");
            if expected == 403 {
                assert!(matches!(answer.body(), lambda_http::Body::Text(text) if text.contains("https://api.test")));
            }
        }
    }

    #[test]
    fn the_address_of_an_event_is_the_one_that_api_gateway_saw() {
        let event = include_str!("../../../../events/users/me-read.json");
        let request = as_received(lambda_http::request::from_str(event).expect("an event"));
        let address = request.extensions().get::<PeerAddress>().map(|address| address.0.to_string());
        assert_eq!(address.as_deref(), Some("203.0.113.7"));
    }
}
