//! Checks requests of the Model Context Protocol in the order of revision 2026-07-28. Clients of
//! earlier revisions use the same path, and have to meet fewer requirements.

use api::rpc::{INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, Reply};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, StatusCode};
use serde_json::{Map, Value, json};
use site::agent::REVISIONS as SUPPORTED;

/// The newest revision, which is the only one without sessions.
const STATELESS: &str = SUPPORTED[0];
/// The newest revision with sessions, offered to earlier clients that request an unknown revision.
pub(super) const SESSIONS: &str = SUPPORTED[1];
/// The assumed revision of clients that do not name one.
const UNNAMED: &str = "2025-03-26";

/// A header is missing, or differs from the body.
const HEADER_MISMATCH: i64 = -32020;
/// The revision is not supported.
const UNSUPPORTED_VERSION: i64 = -32022;
const VERSION_FIELD: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_FIELD: &str = "io.modelcontextprotocol/clientCapabilities";

/// A valid request that expects a result.
pub(super) struct Call {
    pub id: Value,
    pub method: String,
    pub params: Map<String, Value>,
    /// Whether the request has the form of the revision without sessions: the header names that
    /// revision, or `_meta` names a revision.
    pub is_stateless: bool,
}

/// Parses the request in a body. If the body is not a valid request, or the request does not expect
/// a result, returns the reply to send instead.
pub(super) fn call(headers: &HeaderMap, body: &[u8]) -> Result<Call, Reply> {
    let bad = |id: &Value, code, message: &str| Reply::error(id, code, message).with_status(StatusCode::BAD_REQUEST);
    let body: Value = serde_json::from_slice(body).map_err(|_| bad(&Value::Null, PARSE_ERROR, "The body is not JSON."))?;
    let no_request = || bad(&Value::Null, INVALID_REQUEST, "The body is not a single JSON-RPC 2.0 request.");
    let Value::Object(mut body) = body else { return Err(no_request()) };
    if body.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(no_request());
    }
    let Some(Value::String(method)) = body.remove("method") else {
        let is_response = body.contains_key("result") || body.contains_key("error");
        return Err(if is_response { Reply::accepted() } else { no_request() });
    };
    let Some(id) = body.remove("id") else { return Err(Reply::accepted()) };
    if !id.is_string() && !id.is_i64() && !id.is_u64() {
        return Err(no_request());
    }
    let params = match body.remove("params") {
        None => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return Err(bad(&id, INVALID_PARAMS, "`params` must be an object.")),
    };
    let version = header(headers, "mcp-protocol-version");
    let meta = params.get("_meta").and_then(Value::as_object);
    let is_stateless = version == Some(STATELESS) || meta.is_some_and(|meta| meta.contains_key(VERSION_FIELD));
    let call = Call { id, method, params, is_stateless };
    let checked = if is_stateless { stateless(headers, &call) } else { with_sessions(version) };
    match checked {
        Ok(()) => Ok(call),
        Err(RequestRefusal { code, message, data }) => {
            let reply = bad(&call.id, code, &message);
            Err(if data.is_null() { reply } else { reply.with_data(data) })
        }
    }
}

struct RequestRefusal {
    code: i64,
    message: String,
    data: Value,
}

impl RequestRefusal {
    fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: Value::Null }
    }

    fn version(requested: &str) -> Self {
        let data = json!({ "supported": SUPPORTED, "requested": requested });
        Self { data, ..Self::new(UNSUPPORTED_VERSION, "This revision of the protocol is not supported.") }
    }
}

fn stateless(headers: &HeaderMap, call: &Call) -> Result<(), RequestRefusal> {
    let named = header(headers, "mcp-protocol-version");
    let named = named.ok_or_else(|| RequestRefusal::new(HEADER_MISMATCH, "The header `MCP-Protocol-Version` is missing."))?;
    let meta = call.params.get("_meta");
    let version = meta.and_then(|meta| meta.get(VERSION_FIELD)).and_then(Value::as_str);
    let has_capabilities = meta.and_then(|meta| meta.get(CAPABILITIES_FIELD)).is_some_and(Value::is_object);
    let Some(version) = version.filter(|_| has_capabilities) else {
        let message = format!("`params._meta` must have `{VERSION_FIELD}`, a string, and `{CAPABILITIES_FIELD}`, an object.");
        return Err(RequestRefusal::new(INVALID_PARAMS, message));
    };
    if named != version {
        return Err(RequestRefusal::new(HEADER_MISMATCH, format!("The header `MCP-Protocol-Version` differs from `{VERSION_FIELD}`.")));
    }
    if !SUPPORTED.contains(&version) {
        return Err(RequestRefusal::version(version));
    }
    if header(headers, "mcp-method") != Some(call.method.as_str()) {
        return Err(RequestRefusal::new(HEADER_MISMATCH, "The header `Mcp-Method` must be the method of the body."));
    }
    let field = match call.method.as_str() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return Ok(()),
    };
    // Without this field, the method itself refuses the request.
    let Some(name) = call.params.get(field).and_then(Value::as_str) else { return Ok(()) };
    if header(headers, "mcp-name").and_then(decoded).as_deref() != Some(name) {
        return Err(RequestRefusal::new(HEADER_MISMATCH, format!("The header `Mcp-Name` must be `params.{field}`.")));
    }
    Ok(())
}

/// Checks the revision that a client of an earlier revision sends after `initialize`.
fn with_sessions(version: Option<&str>) -> Result<(), RequestRefusal> {
    match version {
        Some(version) if version != UNNAMED && !SUPPORTED.contains(&version) => Err(RequestRefusal::version(version)),
        _ => Ok(()),
    }
}

/// The value of a header without surrounding white space. `None` if the header is absent or not
/// ASCII.
fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// The text of a header, which may be encoded as `=?base64?…?=`. `None` if the encoding is invalid.
fn decoded(value: &str) -> Option<String> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}
