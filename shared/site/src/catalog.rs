//! The documents that help programs discover the site: the API catalog, the links to the site's
//! catalogs, and the OpenAPI document.

use serde_json::json;

use crate::document::Document;

/// The media type of a linkset that is an API catalog (RFC 9727 §4.2).
const LINKSET: &str = "application/linkset+json; profile=\"https://www.rfc-editor.org/info/rfc9727\"";

/// `/.well-known/api-catalog` (RFC 9727): the APIs of the deployment, with their descriptions.
pub fn apis(site_url: &str, api_url: &str) -> Document {
    let (content, product) = (format!("{site_url}/api/v1/site"), format!("{api_url}/api/v1"));
    let catalog = json!({ "linkset": [
        {
            "anchor": format!("{site_url}/.well-known/api-catalog"),
            "item": [
                { "href": content, "title": "Public content" },
                { "href": product, "title": "Authentication" },
                { "href": format!("{site_url}/mcp"), "title": "Public content for models (MCP)" },
                { "href": format!("{site_url}/a2a"), "title": "Public content for agents (A2A)" },
            ],
        },
        {
            "anchor": format!("{site_url}/mcp"),
            "service-meta": [{ "href": format!("{site_url}/mcp/server-card"), "type": "application/mcp-server-card+json" }],
        },
        {
            "anchor": format!("{site_url}/a2a"),
            "service-meta": [{ "href": format!("{site_url}/.well-known/agent-card.json"), "type": "application/json" }],
        },
        {
            "anchor": product,
            "service-desc": [{ "href": format!("{site_url}/openapi.json"), "type": "application/json" }],
            "service-doc": [{ "href": format!("{site_url}/docs/api"), "type": "text/html" }],
        },
        {
            "anchor": content,
            "service-desc": [{ "href": format!("{site_url}/openapi.json"), "type": "application/json" }],
            "service-doc": [
                { "href": format!("{site_url}/docs"), "type": "text/html" },
                { "href": format!("{site_url}/llms.txt"), "type": "text/plain" },
            ],
        },
    ]});
    Document::from_release(LINKSET, format!("{catalog:#}\n"))
}

/// The value of the header `Link` (RFC 8288) of the site's entry documents: links to the catalogs,
/// the OpenAPI document, the documentation and the feed.
pub fn links(site_url: &str) -> String {
    let links = [
        ("/.well-known/api-catalog", "api-catalog", "application/linkset+json"),
        ("/openapi.json", "service-desc", "application/json"),
        ("/docs", "service-doc", "text/html"),
        ("/.well-known/ai-catalog.json", "ai-catalog", "application/ai-catalog+json"),
        ("/feed.xml", "alternate", "application/atom+xml"),
    ];
    links.map(|(path, relation, kind)| format!("<{site_url}{path}>; rel=\"{relation}\"; type=\"{kind}\"")).join(", ")
}

/// The placeholder for the base URL of the product API in the OpenAPI document embedded in a
/// function.
pub const API_URL: &str = "https://api.invalid";
/// The placeholder for the site's URL in the embedded OpenAPI document.
pub const SITE_URL: &str = "https://site.invalid";

/// `/openapi.json`: the OpenAPI document of all operations, with the URLs of the deployment.
pub fn openapi(document: &str, site_url: &str, api_url: &str) -> Document {
    Document::from_release("application/json", document.replace(API_URL, api_url).replace(SITE_URL, site_url))
}
