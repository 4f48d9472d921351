//! The catalogs below `/.well-known/`, by which programs discover the site.

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
            "item": [{ "href": content, "title": "Public content" }, { "href": product, "title": "Authentication" }],
        },
        {
            "anchor": content,
            "service-doc": [
                { "href": format!("{site_url}/docs"), "type": "text/html" },
                { "href": format!("{site_url}/llms.txt"), "type": "text/plain" },
            ],
        },
    ]});
    Document::of_release(LINKSET, format!("{catalog:#}\n"))
}
