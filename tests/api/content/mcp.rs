//! The MCP endpoint, for clients of the newest revision and of earlier revisions.

use axum::body::Body;
use content_functions::get_document;
use serde_json::{Value, json};
use support::{Answer, TestApp};
use tower::ServiceExt as _;

use super::documents::published;

const STATELESS: &str = "2026-07-28";

/// The parameters of a request in the newest revision.
fn params(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

pub(super) async fn send(app: &TestApp, headers: &[(&str, &str)], body: &str) -> Answer {
    let request = app.anonymous().request("POST", "/mcp").header("content-type", "application/json");
    let request = headers.iter().fold(request, |request, (name, value)| request.header(name, value));
    request.body(body.to_owned()).send().await
}

pub(super) fn request(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": "one", "method": method, "params": params }).to_string()
}

/// Sends a valid request of the newest revision. `name` is the name of a tool or the URI of a
/// resource. `None` for other methods.
pub(super) async fn modern(app: &TestApp, method: &str, name: Option<&str>, given: Value) -> Answer {
    let mut headers = vec![("mcp-protocol-version", STATELESS), ("mcp-method", method)];
    headers.extend(name.map(|name| ("mcp-name", name)));
    send(app, &headers, &request(method, &params(given))).await
}

pub(super) async fn tool(app: &TestApp, name: &str, arguments: Value) -> Value {
    let answer = modern(app, "tools/call", Some(name), json!({ "name": name, "arguments": arguments })).await;
    assert_eq!(answer.status(), 200, "{name}: {}", answer.text());
    answer.json()
}

#[tokio::test]
async fn a_server_tells_its_revisions_and_tools() {
    let app = published().await;
    let discovered = modern(&app, "server/discover", None, json!({})).await;
    assert_eq!((discovered.status(), discovered.header("content-type")), (200, Some("application/json")));
    let body = discovered.json();
    assert_eq!(
        (&body["id"], &body["result"]["resultType"], &body["result"]["cacheScope"]),
        (&json!("one"), &json!("complete"), &json!("public"))
    );
    assert_eq!(body["result"]["supportedVersions"], json!([STATELESS, "2025-11-25", "2025-06-18"]));
    assert_eq!(body["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "example.site/site");
    let card = app.anonymous().get("/mcp/server-card").await;
    assert_eq!(card.header("content-type"), Some("application/mcp-server-card+json"));
    assert_eq!(card.json()["remotes"][0]["supportedProtocolVersions"], body["result"]["supportedVersions"]);
    assert_eq!(
        (&card.json()["name"], &card.json()["remotes"][0]["url"]),
        (&json!("example.site/site"), &json!("https://site.example/mcp"))
    );

    let tools = modern(&app, "tools/list", None, json!({})).await.json();
    let names: Vec<_> = tools["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, ["list_apps", "get_app", "list_blog_posts", "get_site", "get_blog_post", "search"]);
    assert!(tools["result"]["ttlMs"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn tools_return_what_their_schemas_say() {
    let app = published().await;
    let tools = modern(&app, "tools/list", None, json!({})).await.json()["result"]["tools"].clone();
    let arguments = |name: &str| match name {
        "get_app" => json!({ "appId": "notes" }),
        "get_blog_post" => json!({ "slug": "hello" }),
        "search" => json!({ "query": "mail scanner" }),
        _ => json!({}),
    };
    for one in tools.as_array().unwrap() {
        let name = one["name"].as_str().unwrap();
        let result = tool(&app, name, arguments(name)).await["result"].clone();
        assert_eq!((&result["resultType"], &result["isError"]), (&json!("complete"), &json!(false)), "{name}");
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"], "{name}");
        let (data, schema) = (&result["structuredContent"]["data"], &one["outputSchema"]["properties"]["data"]);
        let is_list = schema["type"] == "array";
        let (item, schema) = if is_list { (&data[0], &schema["items"]) } else { (data, schema) };
        for field in schema["required"].as_array().into_iter().flatten() {
            assert!(item[field.as_str().unwrap()].is_string(), "{name}: {field} in {item}");
        }
    }
    let listed = tool(&app, "list_apps", json!({})).await["result"]["structuredContent"].clone();
    assert_eq!(listed, app.anonymous().get("/api/v1/apps").await.json());
    let post = tool(&app, "get_blog_post", json!({ "slug": "hello" })).await["result"]["structuredContent"]["data"].clone();
    assert!(post["text"].as_str().unwrap().contains("Today *Notes*") && post["url"] == "https://site.example/blog/hello", "{post}");
    let found = tool(&app, "search", json!({ "query": "mail scanner" })).await["result"]["structuredContent"]["data"].clone();
    assert_eq!(found[0]["url"], "https://site.example/blog/codes-that-survive-a-mail-scanner");
}

#[tokio::test]
async fn a_tool_that_fails_advises_the_model_and_a_misused_one_is_refused() {
    let app = published().await;
    for (name, arguments) in [("get_app", json!({ "appId": "lantern-labs" })), ("get_blog_post", json!({ "slug": "none" }))] {
        let result = tool(&app, name, arguments).await["result"].clone();
        assert_eq!(result["isError"], true, "{name}");
        assert!(result["content"][0]["text"].as_str().unwrap().contains("list_"), "{result}");
    }
    let misused = [
        ("get_app", json!({})),
        ("get_app", json!({ "appId": 7 })),
        ("list_apps", json!({ "x": 1 })),
        ("list_blog_posts", json!({ "offset": -1 })),
        ("list_blog_posts", json!({ "offset": "1" })),
        ("list_blog_posts", json!({ "offset": 1, "x": 1 })),
        ("delete_app", json!({})),
        ("search", json!([])),
    ];
    for (name, arguments) in misused {
        assert_eq!(tool(&app, name, arguments).await["error"]["code"], -32602, "{name}");
    }
}

/// The headers and the body of a request, with the status and the error code of the response.
type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, u16, i64);

#[tokio::test]
async fn checks_are_made_in_the_order_of_the_protocol() {
    let app = published().await;
    let (version, method) = (("mcp-protocol-version", STATELESS), ("mcp-method", "tools/list"));
    let list = request("tools/list", &params(json!({})));
    let other = |version: &str| list.replace(STATELESS, version);
    let call = request("tools/call", &params(json!({ "name": "list_apps" })));
    let called = ("mcp-method", "tools/call");
    let cases: [Case<'_>; 14] = [
        (&[], "{", 400, -32700),
        (&[], "[]", 400, -32600),
        (&[], r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, 400, -32600),
        (&[], r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, 400, -32600),
        (&[], &list, 400, -32020),
        (&[version, method], &request("tools/list", &json!({})), 400, -32602),
        (
            &[version, method],
            &request("tools/list", &json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": STATELESS } })),
            400,
            -32602,
        ),
        (&[version, method], &other("2025-11-25"), 400, -32020),
        (&[("mcp-protocol-version", "2030-01-01"), method], &other("2030-01-01"), 400, -32022),
        (&[version], &list, 400, -32020),
        (&[version, called], &list, 400, -32020),
        (&[version, called], &call, 400, -32020),
        (&[version, called, ("mcp-name", "=?base64?!?=")], &call, 400, -32020),
        (&[version, ("mcp-method", "ping")], &request("ping", &params(json!({}))), 404, -32601),
    ];
    for (headers, body, status, code) in cases {
        let answer = send(&app, headers, body).await;
        assert_eq!((answer.status(), &answer.json()["error"]["code"]), (status, &json!(code)), "{headers:?} {body}");
    }
    let unknown = send(&app, &[("mcp-protocol-version", "2030-01-01"), method], &other("2030-01-01")).await.json();
    assert_eq!((&unknown["error"]["data"]["requested"], &unknown["id"]), (&json!("2030-01-01"), &json!("one")));
    let encoded = send(&app, &[version, called, ("mcp-name", "=?base64?bGlzdF9hcHBz?=")], &call).await;
    assert!(encoded.json()["result"]["structuredContent"]["data"].is_array(), "{}", encoded.text());
    let notified = send(&app, &[], r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    assert_eq!((notified.status(), notified.text()), (202, ""));
}

#[tokio::test]
async fn earlier_clients_begin_with_initialize_and_get_no_session() {
    let app = published().await;
    for (asked, agreed) in [("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"), ("2024-11-05", "2025-11-25")] {
        let body =
            request("initialize", &json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } }));
        let answer = send(&app, &[], &body).await;
        assert_eq!((answer.status(), &answer.json()["result"]["protocolVersion"]), (200, &json!(agreed)), "{asked}");
        assert!(answer.header("mcp-session-id").is_none());
    }
    let agreed = [("mcp-protocol-version", "2025-11-25")];
    assert_eq!(send(&app, &agreed, &request("ping", &json!({}))).await.json()["result"], json!({}));
    let tools = send(&app, &agreed, &request("tools/list", &json!({}))).await.json()["result"].clone();
    assert!(tools["tools"].is_array() && tools["resultType"].is_null() && tools["ttlMs"].is_null(), "{tools}");
    let apps = send(&app, &agreed, &request("tools/call", &json!({ "name": "list_apps" }))).await.json();
    assert_eq!(apps["result"]["structuredContent"], app.anonymous().get("/api/v1/apps").await.json());
    let resources = send(&app, &agreed, &request("resources/list", &json!({}))).await.json()["result"].clone();
    assert!(resources["resources"].is_array() && resources["ttlMs"].is_null(), "{resources}");
    let unknown = send(&app, &agreed, &request("resources/subscribe", &json!({}))).await;
    assert_eq!((unknown.status(), &unknown.json()["error"]["code"]), (200, &json!(-32601)));
    assert_eq!(send(&app, &[("mcp-protocol-version", "1999-01-01")], &request("ping", &json!({}))).await.status(), 400);
}

#[tokio::test]
async fn pages_of_other_sites_may_not_call_agents_endpoints() {
    let app = published().await;
    let at = async |site_url: &str, headers: &[(&str, &str)], path: &str| {
        let app = app.redeployed(|settings| settings.site_url = site_url.to_owned());
        let request = app.anonymous().request("POST", path).header("content-type", "application/json");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        let answer = request.body(request_of_ping()).send().await;
        (answer.status(), answer.header("access-control-allow-origin").map(str::to_owned))
    };
    for path in ["/mcp", "/a2a"] {
        let own = Some("https://site.example".to_owned());
        assert_eq!(at("https://site.example", &[("origin", "https://site.example")], path).await, (200, own), "{path}");
        for origin in ["https://evil.example", "null", "http://site.example", "https://site.example.evil.example"] {
            assert_eq!(at("https://site.example", &[("origin", origin)], path).await, (403, None), "{path} {origin}");
        }
        let here = "http://localhost:8787";
        for headers in
            [&[("host", "127.0.0.1:8787")][..], &[("host", "localhost")], &[("origin", "http://[::1]:3000"), ("host", "localhost:1")]]
        {
            assert_eq!(at(here, headers, path).await.0, 200, "{path} {headers:?}");
        }
        for headers in [&[("host", "evil.example:8787")][..], &[("host", "localhost.evil.example")], &[("origin", "https://evil.example")]]
        {
            assert_eq!(at(here, headers, path).await.0, 403, "{path} {headers:?}");
        }
    }
}

fn request_of_ping() -> String {
    request("ping", &json!({}))
}

#[tokio::test]
async fn other_methods_media_types_and_sizes_are_refused() {
    let app = published().await;
    // API Gateway sends GET requests with one path segment to the documents' function.
    let documents = api::http::router(&app.app, get_document::ROUTE, get_document::handle).with_state(app.app.clone());
    for path in ["/mcp", "/a2a"] {
        let answer = documents.clone().oneshot(http::Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
        assert_eq!((answer.status().as_u16(), &answer.headers()["allow"]), (405, &http::HeaderValue::from_static("POST")), "{path}");
        for method in ["GET", "PUT", "DELETE"] {
            let answer = app.anonymous().request(method, path).send().await;
            assert_eq!((answer.status(), answer.header("allow")), (405, Some("POST")), "{method} {path}");
        }
        for media_type in ["text/plain", "", "application/x-www-form-urlencoded"] {
            let answer = app.anonymous().request("POST", path).header("content-type", media_type).body(request_of_ping()).send().await;
            assert_eq!(answer.status(), 415, "{path} {media_type}");
        }
        let large = format!("{{\"x\":\"{}\"}}", "x".repeat(65 * 1024));
        let answer = app.anonymous().request("POST", path).header("content-type", "application/json").body(large).send().await;
        assert_eq!((answer.status(), &answer.json()["jsonrpc"]), (413, &json!("2.0")), "{path}");
    }
    let complex = app.anonymous().request("POST", "/mcp").header("content-type", "application/json").body("[".repeat(20_001)).send().await;
    assert_eq!((complex.status(), &complex.json()["error"]["message"]), (400, &json!("The body has too many values.")));
}
