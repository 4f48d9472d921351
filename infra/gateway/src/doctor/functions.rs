//! Checks the functions by calling every route except the one for images. The response shows
//! whether the route's function works. The calls change nothing, because they contain no key and no
//! body, and the ids in their paths belong to no item.

use std::io::{self, Write};
use std::time::Duration;

use api::http::{Interface, Route};
use futures_util::StreamExt as _;
use infra::{Operation, operations};
use model::session::token::Signer;
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};

use super::deployment::Deployment;
use super::report::Report;
use crate::causes::with_causes;
use crate::http_client::http_client;

/// How long to wait for a response, which is longer than a cold start takes.
const TIMEOUT: Duration = Duration::from_secs(20);
const AT_ONCE: usize = 8;
/// The function for images. The function is not called, because no image is certain to exist, and
/// the response for a missing image is the same as for a path without a function.
const IMAGES: &str = "content-get-image";
/// An id that no item has, used for parameters without an example.
const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

pub(super) async fn examine(api_url: Option<&str>, report: &mut Report<impl Write>) -> io::Result<()> {
    let Some(api_url) = api_url else { return report.warn("functions", "not checked: --api-url is not set") };
    let client = match client() {
        Ok(client) => client,
        Err(error) => return report.fail("functions", error),
    };
    let mut operations = operations::all();
    operations.retain(|operation| operation.route.name != IMAGES);
    let probes = operations.iter().map(|operation| probe(&client, api_url, operation));
    let problems: Vec<String> = futures_util::stream::iter(probes).buffered(AT_ONCE).filter_map(std::future::ready).collect().await;
    for problem in &problems {
        report.fail("functions", problem)?;
    }
    match problems.len() {
        0 => report.ok("functions", format!("all {} answer at {api_url}", operations.len())),
        _ => Ok(()),
    }
}

fn client() -> Result<Client, String> {
    let client = http_client().map_err(|error| error.to_string())?;
    client.timeout(TIMEOUT).user_agent("gatelet").build().map_err(|error| with_causes(&error))
}

/// The name of the parameter if this path segment is a parameter.
fn parameter(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

/// A value for a path parameter: the example in its schema or, without an example, [`NOBODY`]. The
/// names of the site's documents have examples, because the response for an unknown name is the
/// same as for a path without a function.
fn stand_in(operation: &Operation, name: &str) -> String {
    let schema = operation.description.path.as_ref().and_then(|path| serde_json::to_value(&path.schema).ok());
    let example = schema.and_then(|schema| schema["properties"][name]["example"].as_str().map(str::to_owned));
    example.unwrap_or_else(|| NOBODY.to_owned())
}

/// Calls a function. Returns the problem that its response shows, if there is one.
async fn probe(client: &Client, api_url: &str, operation: &Operation) -> Option<String> {
    let route = &operation.route;
    let segment = |part| parameter(part).map_or_else(|| part.to_owned(), |name| stand_in(operation, name));
    let path: Vec<String> = route.path.split('/').map(segment).collect();
    let method = Method::from_bytes(route.verb.name().as_bytes()).unwrap_or_default();
    let answer = match client.request(method, format!("{api_url}{}", path.join("/"))).send().await {
        Ok(answer) => answer,
        Err(error) => return Some(format!("cannot reach {}: {}", route.name, with_causes(&error))),
    };
    let status = answer.status();
    // Pages have no error code, but a security policy, which errors of API Gateway lack.
    let is_page = route.interface == Interface::Pages && answer.headers().contains_key("content-security-policy");
    if is_page && !status.is_server_error() {
        return None;
    }
    // Links in emails lead to pages that name their error in a header.
    let named = answer.headers().get("x-stack-known-error").and_then(|name| name.to_str().ok()).map(|name| json!({ "code": name }));
    let body = answer.bytes().await.ok().and_then(|body| serde_json::from_slice(&body).ok());
    problem(route, status, &body.or(named).unwrap_or_default())
}

/// The problem that the response of a function shows, if there is one.
fn problem(route: &Route, status: StatusCode, body: &Value) -> Option<String> {
    if status.is_success() || status.is_redirection() {
        return None;
    }
    // Gatelet's errors have a code, which is a number in JSON-RPC. Errors without a code come from
    // API Gateway or a proxy in front of it.
    let code = if body["jsonrpc"] == "2.0" { body["error"]["code"].as_i64().map(|code| code.to_string()) } else { None };
    let code = code.as_deref().or(body["code"].as_str()).or(body["error"]["code"].as_str());
    match code {
        Some("ROUTE_NOT_FOUND" | "route_not_found" | "METHOD_NOT_ALLOWED" | "method_not_allowed") => {
            Some(format!("{} is not connected to its route, {} {}", route.name, route.verb.name(), route.path))
        }
        Some(_) if !status.is_server_error() => None,
        Some(code) => Some(format!("{} answers {status}, {code}: see its log", route.name)),
        None => Some(format!("{} does not answer; API Gateway or a proxy answers {status} instead: see the function's log", route.name)),
    }
}

/// Checks that `GATELET_SECRET` is strong enough and that the functions have the same secret. The
/// public keys that the functions serve for verifying tokens are derived from the secret.
pub(super) async fn examine_secret(deployment: &Deployment, report: &mut Report<impl Write>) -> io::Result<()> {
    let secret = match &deployment.secret {
        None => return report.warn("secret", "not checked: GATELET_SECRET is not set"),
        Some(Err(error)) => return report.fail("secret", error),
        Some(Ok(secret)) => secret,
    };
    let project = deployment.store.projects().await.ok().and_then(|projects| projects.into_iter().next());
    let (Some(api_url), Some(project)) = (&deployment.api_url, project) else {
        return report.warn("secret", "long enough, but not compared with the functions' secret: that requires --api-url and a project");
    };
    let id = |key: &Value| key["kid"].as_str().map(str::to_owned);
    let wanted = Signer::new(secret, api_url).jwks(&project.id, false, false, false).first().and_then(id);
    let url = format!("{api_url}/api/v1/projects/{}/.well-known/jwks.json", project.id);
    let found = async { client().ok()?.get(&url).send().await.ok()?.bytes().await.ok() };
    let found: Value = found.await.and_then(|body| serde_json::from_slice(&body).ok()).unwrap_or_default();
    match found["keys"].as_array() {
        None => report.fail("secret", format!("cannot read the keys derived from the functions' secret at {url}")),
        Some(keys) if keys.iter().any(|key| id(key) == wanted) => report.ok("secret", "GATELET_SECRET is the functions' secret"),
        Some(_) => report.fail("secret", "the functions' secret differs from GATELET_SECRET"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_of_a_function_is_told_from_one_of_a_proxy() {
        let route = operations::all()[0].route;
        let problem = |status: u16, body: Value| problem(&route, StatusCode::from_u16(status).unwrap(), &body).unwrap_or_default();
        for (status, body, part) in [
            (200, json!({}), ""),
            (401, json!({ "code": "ACCESS_TYPE_REQUIRED" }), ""),
            (404, json!({ "error": { "code": "not_found" } }), ""),
            (400, json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": "x" } }), ""),
            (
                500,
                json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32603, "message": "x" } }),
                "answers 500 Internal Server Error, -32603",
            ),
            (503, json!({ "code": "SERVICE_UNAVAILABLE" }), "answers 503 Service Unavailable, SERVICE_UNAVAILABLE"),
            (404, json!({ "code": "ROUTE_NOT_FOUND" }), "is not connected"),
            (403, json!({ "message": "Forbidden" }), "does not answer"),
            (502, Value::Null, "does not answer"),
        ] {
            let found = problem(status, body.clone());
            assert_eq!((found.is_empty(), found.contains(part)), (part.is_empty(), true), "{status} {body}: {found}");
        }
    }
}
