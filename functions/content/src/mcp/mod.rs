//! `POST /mcp`: serves the public content to models over the Model Context Protocol, without
//! sessions. Clients of revisions before 2026-07-28 get the same tools.

mod checks;
mod refusal;
mod resources;
mod tools;

use api::http::{BodyRule, Route, TableAction};
use api::rpc::{INVALID_PARAMS, JsonRequest, METHOD_NOT_FOUND, Reply};
use axum::extract::State;
use flows::App;
use http::StatusCode;
use serde_json::{Map, Value, json};
use site::agent::{self, REVISIONS};

use self::checks::{Call, SESSIONS};
use self::refusal::Refusal;

pub const ROUTE: Route = Route::post("content-mcp", "/mcp")
    .for_agents()
    .summary("Serves the public content to models over the Model Context Protocol (JSON-RPC 2.0)")
    .table(&[TableAction::BatchGetItem, TableAction::GetItem])
    .body(BodyRule::Lenient);

/// The largest accepted body, in bytes.
const MAX_BYTES: usize = 64 * 1024;
/// The time for which clients may cache lists and resources, in milliseconds.
const LIFE: u32 = 300_000;

pub async fn handle(State(app): State<App>, received: JsonRequest<MAX_BYTES>) -> Reply {
    match checks::call(&received.headers, &received.body) {
        Ok(call) => answer(&app, &call).await,
        Err(reply) => reply,
    }
}

async fn answer(app: &App, call: &Call) -> Reply {
    let site_url = &app.settings.site_url;
    let answered = |result: Result<Value, Refusal>, may_be_kept| match result {
        Ok(result) => finished(site_url, call, result, may_be_kept),
        Err(refusal) => refused(site_url, call, refusal),
    };
    let listed = |result| answered(Ok(result), true);
    match (call.method.as_str(), call.is_stateless) {
        ("server/discover", true) => listed(json!({
            "supportedVersions": REVISIONS,
            "capabilities": capabilities(),
            "instructions": agent::INSTRUCTIONS,
        })),
        ("initialize", false) => initialized(site_url, call),
        ("ping", false) => Reply::result(&call.id, &json!({})),
        ("tools/list", _) => listed(json!({ "tools": tools::all() })),
        ("tools/call", _) => answered(called(app, call).await, false),
        ("resources/list", _) => answered(resources::list(app, &call.params).await, true),
        ("resources/templates/list", _) => listed(resources::templates(site_url)),
        ("resources/read", _) => answered(resources::read(app, &call.params).await, true),
        ("prompts/list", _) => listed(json!({ "prompts": [] })),
        ("prompts/get", _) => Reply::error(&call.id, INVALID_PARAMS, "There is no such prompt: this server has none."),
        (_, is_stateless) => {
            let reply = Reply::error(&call.id, METHOD_NOT_FOUND, "There is no such method.");
            if is_stateless { reply.with_status(StatusCode::NOT_FOUND) } else { reply }
        }
    }
}

/// The capabilities of the server. The server declares prompts although it offers no prompts,
/// because clients request the list of prompts anyway.
fn capabilities() -> Value {
    json!({ "tools": {}, "resources": {}, "prompts": {} })
}

/// The reply to `initialize`, which clients of earlier revisions send to agree on a revision. The
/// reply does not start a session.
fn initialized(site_url: &str, call: &Call) -> Reply {
    let requested = call.params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let version = REVISIONS.into_iter().find(|version| *version == requested).unwrap_or(SESSIONS);
    Reply::result(
        &call.id,
        &json!({
            "protocolVersion": version,
            "capabilities": capabilities(),
            "serverInfo": agent::server(site_url),
            "instructions": agent::INSTRUCTIONS,
        }),
    )
}

/// The reply that contains a result. In the revision without sessions, the reply has additional
/// fields, such as how long clients may cache a list or a resource.
fn finished(site_url: &str, call: &Call, mut result: Value, may_be_kept: bool) -> Reply {
    if call.is_stateless {
        result["resultType"] = "complete".into();
        result["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": agent::server(site_url) });
        if may_be_kept {
            result["ttlMs"] = LIFE.into();
            result["cacheScope"] = "public".into();
        }
    }
    Reply::result(&call.id, &result)
}

/// The reply to a call that returns no data.
fn refused(site_url: &str, call: &Call, refusal: Refusal) -> Reply {
    match refusal {
        Refusal::Misused(message) => Reply::error(&call.id, INVALID_PARAMS, &message),
        Refusal::NoResource(uri) => {
            let message = "There is no such resource; resources/list returns all.";
            Reply::error(&call.id, INVALID_PARAMS, message).with_data(json!({ "uri": uri }))
        }
        Refusal::Advice(advice) => finished(site_url, call, json!({ "content": texts(advice), "isError": true }), false),
        Refusal::Failed => Reply::failed(&call.id),
    }
}

/// The content of a tool's result.
fn texts(text: impl Into<String>) -> Value {
    json!([{ "type": "text", "text": text.into() }])
}

async fn called(app: &App, call: &Call) -> Result<Value, Refusal> {
    let name = call.params.get("name").and_then(Value::as_str).ok_or_else(|| Refusal::misused("`name` must be the name of a tool."))?;
    let none = Map::new();
    let arguments = match call.params.get("arguments") {
        None => &none,
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return Err(Refusal::misused("`arguments` must be an object.")),
    };
    let data = tools::call(app, name, arguments).await?;
    Ok(json!({ "content": texts(data.to_string()), "structuredContent": data, "isError": false }))
}
