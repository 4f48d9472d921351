//! `POST /a2a`: serves a small agent (A2A 1.0) that searches the public content for the words in a
//! message. The response is a message, so the agent has no tasks.

use api::content::Problem;
use api::http::{BodyRule, Route, TableAction};
use api::rpc::{INVALID_PARAMS, INVALID_REQUEST, JsonRequest, METHOD_NOT_FOUND, PARSE_ERROR, Reply};
use axum::extract::State;
use flows::App;
use model::content::search::SearchHit;
use serde_json::{Map, Value, json};

use crate::published;

pub const ROUTE: Route = Route::post("content-a2a", "/a2a")
    .for_agents()
    .summary("Finds public content for agents over the A2A protocol (JSON-RPC 2.0)")
    .table(&[TableAction::BatchGetItem, TableAction::GetItem])
    .body(BodyRule::Lenient);

/// The largest accepted body, in bytes, and the maximum number of parts in a message.
const MAX_BYTES: usize = 16 * 1024;
const MAX_PARTS: usize = 32;

const TASK_NOT_FOUND: Refusal = Refusal(-32001, "TASK_NOT_FOUND", "There is no such task: this agent answers with messages.");
const PUSH_NOT_SUPPORTED: Refusal = Refusal(-32003, "PUSH_NOTIFICATION_NOT_SUPPORTED", "This agent does not send push notifications.");
const UNSUPPORTED_OPERATION: Refusal = Refusal(-32004, "UNSUPPORTED_OPERATION", "This agent does not support streams or an extended card.");
const CONTENT_TYPE_NOT_SUPPORTED: Refusal =
    Refusal(-32005, "CONTENT_TYPE_NOT_SUPPORTED", "This agent reads only text: send a part with `text`.");
const VERSION_NOT_SUPPORTED: Refusal = Refusal(
    -32009,
    "VERSION_NOT_SUPPORTED",
    "Send version 1.0 in the header or query parameter `A2A-Version`; without it, 0.3 is assumed.",
);

/// The code, the reason and the message of an A2A error.
struct Refusal(i64, &'static str, &'static str);

impl Refusal {
    fn reply(&self, id: &Value) -> Reply {
        let info = json!({ "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": self.1, "domain": "a2a-protocol.org" });
        Reply::error(id, self.0, self.2).with_data(json!([info]))
    }
}

pub async fn handle(State(app): State<App>, received: JsonRequest<MAX_BYTES>) -> Reply {
    let (id, method, params) = match parsed(&received.body) {
        Ok(request) => request,
        Err(reply) => return reply,
    };
    if version(&received).as_deref() != Some("1.0") {
        return VERSION_NOT_SUPPORTED.reply(&id);
    }
    match method.as_str() {
        "SendMessage" => match query(&params) {
            Ok(query) => answer(&app, &id, &params, &query).await.unwrap_or_else(|_| Reply::failed(&id)),
            Err(MessageRefusal::Refused(refusal)) => refusal.reply(&id),
            Err(MessageRefusal::Malformed(message)) => Reply::error(&id, INVALID_PARAMS, message),
        },
        "GetTask" | "CancelTask" => TASK_NOT_FOUND.reply(&id),
        "ListTasks" => Reply::result(&id, &json!({ "tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0 })),
        "SendStreamingMessage" | "SubscribeToTask" | "GetExtendedAgentCard" => UNSUPPORTED_OPERATION.reply(&id),
        "CreateTaskPushNotificationConfig"
        | "GetTaskPushNotificationConfig"
        | "ListTaskPushNotificationConfigs"
        | "DeleteTaskPushNotificationConfig" => PUSH_NOT_SUPPORTED.reply(&id),
        _ => Reply::error(&id, METHOD_NOT_FOUND, "There is no such method."),
    }
}

/// The id, the method and the parameters of a request.
fn parsed(body: &[u8]) -> Result<(Value, String, Value), Reply> {
    let body: Value = serde_json::from_slice(body).map_err(|_| Reply::error(&Value::Null, PARSE_ERROR, "The body is not JSON."))?;
    let id = body.get("id").filter(|id| id.is_string() || id.is_i64() || id.is_u64()).cloned();
    let method = body.get("method").and_then(Value::as_str).filter(|_| body["jsonrpc"] == "2.0");
    match (id, method) {
        (Some(id), Some(method)) => Ok((id, method.to_owned(), body.get("params").cloned().unwrap_or_else(|| Map::new().into()))),
        (id, _) => {
            let id = id.unwrap_or_default();
            Err(Reply::error(&id, INVALID_REQUEST, "The body is not a single JSON-RPC 2.0 request with an id."))
        }
    }
}

/// The protocol version from a header or, for callers that cannot set headers, from a query
/// parameter. `None` if the request contains no version.
fn version(received: &JsonRequest<MAX_BYTES>) -> Option<String> {
    let header = received.headers.get("a2a-version").and_then(|value| value.to_str().ok()).map(|value| value.trim().to_owned());
    let query = || url::form_urlencoded::parse(received.query.as_bytes()).find(|(name, _)| name.eq_ignore_ascii_case("a2a-version"));
    header.or_else(|| query().map(|(_, value)| value.into_owned()))
}

/// The reason why the agent cannot reply to a message.
enum MessageRefusal {
    Refused(Refusal),
    Malformed(&'static str),
}

/// The texts in the parts of a message.
fn query(params: &Value) -> Result<String, MessageRefusal> {
    let message =
        params.get("message").filter(|message| message.is_object()).ok_or(MessageRefusal::Malformed("`message` must be an object."))?;
    if message["messageId"].as_str().is_none_or(str::is_empty) {
        return Err(MessageRefusal::Malformed("`message.messageId` must be a non-empty string."));
    }
    let parts = message["parts"].as_array().filter(|parts| !parts.is_empty() && parts.len() <= MAX_PARTS);
    let parts = parts.ok_or(MessageRefusal::Malformed("`message.parts` must have 1 to 32 parts."))?;
    if message.get("taskId").and_then(Value::as_str).is_some_and(|task| !task.is_empty()) {
        return Err(MessageRefusal::Refused(TASK_NOT_FOUND));
    }
    let mut texts = Vec::new();
    for part in parts {
        let kinds = ["text", "raw", "url", "data"].into_iter().filter(|kind| part.get(kind).is_some()).count();
        if kinds != 1 {
            return Err(MessageRefusal::Malformed("A part must have exactly one of `text`, `raw`, `url` and `data`."));
        }
        texts.extend(part.get("text").and_then(Value::as_str));
    }
    if texts.is_empty() { Err(MessageRefusal::Refused(CONTENT_TYPE_NOT_SUPPORTED)) } else { Ok(texts.join(" ")) }
}

/// The message with the search results.
async fn answer(app: &App, id: &Value, params: &Value, query: &str) -> Result<Reply, Problem> {
    let found = published::found(app, query).await?;
    let lines: Vec<String> = found.iter().map(|found| format!("{}: {} ({})", found.title, found.summary, found.url)).collect();
    let text = if found.is_empty() {
        "Nothing matches. I can find public apps and blog posts by words in their names, titles and excerpts; \"apps\" and \"posts\" find all."
            .to_owned()
    } else {
        lines.join("\n")
    };
    let context = params["message"]["contextId"].as_str().filter(|context| !context.is_empty());
    let message = json!({
        "messageId": app.entropy.uuid().to_string(),
        "contextId": context.map_or_else(|| app.entropy.uuid().to_string(), str::to_owned),
        "role": "ROLE_AGENT",
        "parts": [
            { "text": text, "mediaType": "text/plain" },
            { "data": { "found": found.iter().map(SearchHit::json).collect::<Vec<_>>() }, "mediaType": "application/json" },
        ],
    });
    Ok(Reply::result(id, &json!({ "message": message })))
}
