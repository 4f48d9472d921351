//! The API reference as one HTML page that loads nothing: made from the API document, so that both always say the same.

mod curl;
mod fields;
mod view;

use serde_json::Value;

use crate::render;

const SOURCE: &str = include_str!("page.html.j2");
const GUIDE: &str = include_str!("guide.html.j2");

/// The reference page of an API document.
pub fn reference_html(document: &Value) -> anyhow::Result<String> {
    render::render("page.html.j2", SOURCE, view::Page::of(document))
}

/// The page with the first steps, for a service at `api_url`.
pub fn guide_html(api_url: &str) -> anyhow::Result<String> {
    render::render("guide.html.j2", GUIDE, serde_json::json!({ "api_url": api_url }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_names_the_service() {
        let page = guide_html("https://api.example.com").unwrap();
        assert!(page.contains("baseUrl: \"https://api.example.com\"") || page.contains("https:&#x2f;&#x2f;api.example.com"), "{page}");
    }

    #[test]
    fn text_of_the_document_is_escaped() {
        let mut document = crate::openapi::json("https://api.example.com", "https://api.example.com").unwrap();
        document["paths"]["/health"]["get"]["summary"] = "<script>".into();
        let page = reference_html(&document).unwrap();
        assert!(page.contains("&lt;script&gt;") && !page.contains("<script>"));
    }
}
