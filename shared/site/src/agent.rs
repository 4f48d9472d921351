//! The documents that agents read before their first call: the cards of the MCP server and the A2A
//! agent, and the catalog of these cards.

use serde_json::{Value, json};
use url::Url;

use crate::document::Document;

/// The MCP server's description of itself, for models.
pub const INSTRUCTIONS: &str = "The public apps, blog posts and texts of this site. Read only.";
/// The version of the MCP server and of the agent.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The supported revisions of the Model Context Protocol, newest first.
pub const REVISIONS: [&str; 3] = ["2026-07-28", "2025-11-25", "2025-06-18"];

fn host(site_url: &str) -> String {
    Url::parse(site_url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_else(|| "localhost".to_owned())
}

/// The name of the MCP server: the labels of the host in reverse order, and `/site`.
fn name(site_url: &str) -> String {
    let host = host(site_url);
    // The brackets and colons of an IPv6 address are not allowed in a name.
    let labels: Vec<String> =
        host.split('.').rev().map(|label| label.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "")).collect();
    format!("{}/site", labels.join("."))
}

/// The name and the version of the MCP server.
pub fn server(site_url: &str) -> Value {
    json!({ "name": name(site_url), "version": VERSION })
}

/// `/mcp/server-card`: the card of the MCP server (SEP-2127).
pub fn server_card(site_url: &str) -> Document {
    let card = json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
        "name": name(site_url),
        "version": VERSION,
        "description": INSTRUCTIONS,
        "websiteUrl": format!("{site_url}/docs"),
        "remotes": [{ "type": "streamable-http", "url": format!("{site_url}/mcp"), "supportedProtocolVersions": REVISIONS }],
    });
    Document::from_release(SERVER_CARD, format!("{card:#}\n"))
}

const SERVER_CARD: &str = "application/mcp-server-card+json";
const AGENT_CARD: &str = "application/a2a-agent-card+json";

/// `/.well-known/ai-catalog.json`: the cards of the site.
pub fn catalog(site_url: &str) -> Document {
    let host = host(site_url);
    let entry = |kind: &str, title: &str, media_type: &str, path: &str| {
        // The specifications disagree on the name of the media type (`type` or `mediaType`).
        // Readers ignore unknown fields, so the entry contains both names.
        json!({
            "identifier": format!("urn:air:{host}:{kind}:site"),
            "displayName": title,
            "type": media_type,
            "mediaType": media_type,
            "url": format!("{site_url}{path}"),
        })
    };
    let catalog = json!({
        "specVersion": "1.0",
        "host": { "displayName": host },
        "entries": [
            entry("mcp", "Content, for models", SERVER_CARD, "/mcp/server-card"),
            entry("a2a", "Content, for agents", AGENT_CARD, "/.well-known/agent-card.json"),
        ],
    });
    Document::from_release("application/ai-catalog+json", format!("{catalog:#}\n"))
}

/// `/.well-known/agent-card.json`: the card of the agent (A2A 1.0).
pub fn card(site_url: &str) -> Document {
    let card = json!({
        "name": format!("Content of {}", host(site_url)),
        "description": "Finds public apps and blog posts of the site by keywords.",
        "version": VERSION,
        "documentationUrl": format!("{site_url}/docs"),
        "supportedInterfaces": [{ "url": format!("{site_url}/a2a"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }],
        "capabilities": { "streaming": false, "pushNotifications": false, "extendedAgentCard": false },
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain", "application/json"],
        "skills": [{
            "id": "find-content",
            "name": "Find content",
            "description": "Finds apps and blog posts whose names, titles or excerpts contain words of the message.",
            "tags": ["search", "content"],
            "examples": ["Which apps are there?", "Posts about emails"],
        }],
    });
    Document::from_release("application/json", format!("{card:#}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_named_after_its_host_in_reverse() {
        let names = ["https://www.example.com/base", "http://localhost:8787", "http://[::1]:8787"].map(name);
        assert_eq!(names, ["com.example.www/site", "localhost/site", "1/site"]);
    }
}
