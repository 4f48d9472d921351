//! The API reference as one HTML page that loads nothing: made from the API document, so that both always say the same.

mod curl;
mod fields;
mod view;

use serde_json::Value;

use crate::render;

const SOURCE: &str = include_str!("page.html.j2");

/// The reference page of an API document.
pub fn reference_html(document: &Value) -> anyhow::Result<String> {
    render::render("page.html.j2", SOURCE, view::Page::of(document))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_the_document_is_escaped() {
        let mut document = crate::openapi::json("https://api.example.com", "https://api.example.com").unwrap();
        document["paths"]["/health"]["get"]["summary"] = "<script>".into();
        let page = reference_html(&document).unwrap();
        assert!(page.contains("&lt;script&gt;") && !page.contains("<script>"));
    }
}
