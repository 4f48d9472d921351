//! `POST /mcp`: serves the public content to models by the Model Context Protocol, without
//! sessions. Clients of revisions before 2026-07-28 get the same tools.

mod checks;
mod tools;

use api::http::{Route, TableAction};
use api::rpc::{INVALID_PARAMS, METHOD_NOT_FOUND, Received, Reply};
use axum::extract::State;
use flows::App;
use http::StatusCode;
use serde_json::{Map, Value, json};
use site::agent::{self, REVISIONS};

use self::checks::{Call, SESSIONS};
use self::tools::Outcome;

pub const ROUTE: Route = Route::post("content-mcp", "/mcp")
    .for_agents()
    .summary("Serves the public content to models by the Model Context Protocol (JSON-RPC 2.0)")
    .table(&[TableAction::BatchGetItem, TableAction::GetItem])
    .ignores_unknown_fields();

/// Largest accepted body, in bytes.
const MOST: usize = 64 * 1024;
/// For how many milliseconds clients may use the lists without asking again.
const LIFE: u32 = 300_000;

pub async fn handle(State(app): State<App>, received: Received<MOST>) -> Reply {
    match checks::call(&received.headers, &received.body) {
        Ok(call) => answer(&app, &call).await,
        Err(reply) => reply,
    }
}

async fn answer(app: &App, call: &Call) -> Reply {
    let site_url = &app.settings.site_url;
    let listed = |result| finished(site_url, call, result, true);
    match (call.method.as_str(), call.is_stateless) {
        ("server/discover", true) => listed(json!({
            "supportedVersions": REVISIONS,
            "capabilities": { "tools": {} },
            "instructions": agent::INSTRUCTIONS,
        })),
        ("initialize", false) => initialized(site_url, call),
        ("ping", false) => Reply::result(&call.id, &json!({})),
        ("tools/list", _) => listed(json!({ "tools": tools::all() })),
        ("tools/call", _) => called(app, call).await,
        (_, is_stateless) => {
            let reply = Reply::error(&call.id, METHOD_NOT_FOUND, "There is no such method.");
            if is_stateless { reply.with_status(StatusCode::NOT_FOUND) } else { reply }
        }
    }
}

/// The agreement on a revision, which earlier clients begin with. There is no session.
fn initialized(site_url: &str, call: &Call) -> Reply {
    let requested = call.params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let version = REVISIONS.into_iter().find(|version| *version == requested).unwrap_or(SESSIONS);
    Reply::result(
        &call.id,
        &json!({
            "protocolVersion": version,
            "capabilities": { "tools": {} },
            "serverInfo": agent::server(site_url),
            "instructions": agent::INSTRUCTIONS,
        }),
    )
}

/// The result with the fields that the revision without sessions adds, including how long a list
/// may be kept.
fn finished(site_url: &str, call: &Call, mut result: Value, is_list: bool) -> Reply {
    if call.is_stateless {
        result["resultType"] = "complete".into();
        result["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": agent::server(site_url) });
        if is_list {
            result["ttlMs"] = LIFE.into();
            result["cacheScope"] = "public".into();
        }
    }
    Reply::result(&call.id, &result)
}

async fn called(app: &App, call: &Call) -> Reply {
    let misused = |message: &str| Reply::error(&call.id, INVALID_PARAMS, message);
    let Some(name) = call.params.get("name").and_then(Value::as_str) else { return misused("`name` must be the name of a tool.") };
    let none = Map::new();
    let arguments = match call.params.get("arguments") {
        None => &none,
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return misused("`arguments` must be an object."),
    };
    let text = |text: String| json!([{ "type": "text", "text": text }]);
    let result = match tools::call(app, name, arguments).await {
        Ok(Outcome::Done(data)) => json!({ "content": text(data.to_string()), "structuredContent": data, "isError": false }),
        Ok(Outcome::Failed(advice)) => json!({ "content": text(advice.to_owned()), "isError": true }),
        Ok(Outcome::Misused(message)) => return misused(&message),
        Err(_) => return Reply::failed(),
    };
    finished(&app.settings.site_url, call, result, false)
}
