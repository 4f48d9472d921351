//! The API reference: an index of all operations that can be searched, and a page for each
//! operation. The index and the pages are derived from the OpenAPI document, so that they always
//! agree with it. Example requests are the operations' events in `events/`, which the tests run.
//! For operations without an event, the requests are made from the schemas.

mod curl;
mod event;
mod example;
mod fields;
mod view;

use serde::Serialize;
use serde_json::Value;
use view::{Area, Operation, Scheme};

pub use example::answer as example_answer;
pub use fields::undescribed;

use crate::pages::Frame;

/// The entry of the reference in the navigation.
const HERE: &str = "/docs/api";

/// The reference that describes an OpenAPI document.
pub struct Reference {
    base: String,
    areas: Vec<Area>,
    schemes: Vec<Scheme>,
}

/// The index of all operations, or of those that match a search.
#[derive(Serialize)]
struct Index<'a> {
    base: &'a str,
    query: &'a str,
    count: usize,
    areas: Vec<ListedArea<'a>>,
    schemes: &'a [Scheme],
}

#[derive(Serialize)]
struct ListedArea<'a> {
    name: &'a str,
    text: &'a str,
    is_shown: bool,
    operations: Vec<ListedOperation<'a>>,
}

#[derive(Serialize)]
struct ListedOperation<'a> {
    #[serde(flatten)]
    line: view::Line<'a>,
    is_shown: bool,
}

impl Reference {
    pub fn of(document: &Value) -> Self {
        Self { base: view::base(document), areas: view::areas(document), schemes: view::schemes(document) }
    }

    /// The number of operations.
    pub fn len(&self) -> usize {
        self.areas.iter().map(|area| area.operations.len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.areas.iter().flat_map(|area| &area.operations).map(|operation| operation.id.as_str())
    }

    /// The index of the operations that contain every word of `query`.
    pub fn index(&self, frame: &Frame, query: &str) -> anyhow::Result<String> {
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        let areas: Vec<ListedArea<'_>> = self.areas.iter().map(|area| listed(area, &words)).collect();
        let count = areas.iter().flat_map(|area| &area.operations).filter(|operation| operation.is_shown).count();
        frame.page("reference", HERE, Index { base: &self.base, query, count, areas, schemes: &self.schemes })
    }

    /// The page of the operation with this id; `None` if there is no such operation.
    pub fn operation(&self, frame: &Frame, id: &str) -> Option<anyhow::Result<String>> {
        let found = |area: &&Area| area.operations.iter().any(|operation| operation.id == id);
        let area = self.areas.iter().find(found)?;
        let operation: &Operation = area.operations.iter().find(|operation| operation.id == id)?;
        let lines: Vec<view::Line<'_>> = area.operations.iter().map(Operation::line).collect();
        let area = serde_json::json!({ "name": area.name, "text": area.text, "operations": lines });
        Some(frame.page("operation", HERE, serde_json::json!({ "operation": operation, "area": area })))
    }
}

fn listed<'a>(area: &'a Area, words: &[String]) -> ListedArea<'a> {
    let operations = area.operations.iter().map(|operation| {
        let line = operation.line();
        ListedOperation { is_shown: words.iter().all(|word| line.words.contains(word.as_str())), line }
    });
    let operations: Vec<ListedOperation<'a>> = operations.collect();
    ListedArea { name: &area.name, text: &area.text, is_shown: operations.iter().any(|operation| operation.is_shown), operations }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference() -> (Reference, Frame) {
        let mut document = crate::openapi::json("https://api.example.com", "https://api.example.com").unwrap();
        document["paths"]["/health"]["get"]["summary"] = "<script>".into();
        (Reference::of(&document), Frame::new(true))
    }

    #[test]
    fn text_of_the_document_is_escaped() {
        let (reference, frame) = reference();
        for page in [reference.index(&frame, "\"><script>").unwrap(), reference.operation(&frame, "edge-health").unwrap().unwrap()] {
            assert!(page.contains("&lt;script&gt;") && !page.contains("<script>"), "{page}");
        }
        assert!(reference.operation(&frame, "no-such-operation").is_none());
    }

    #[test]
    fn a_search_matches_every_word() {
        let (reference, frame) = reference();
        let page = reference.index(&frame, "password SIGN-UP").unwrap();
        let row = |id: &str| page.lines().find(|line| line.contains(&format!("<tr id=\"{id}\""))).unwrap().to_owned();
        assert!(!row("auth-password-sign-up").contains(" hidden>"), "{}", row("auth-password-sign-up"));
        assert!(row("auth-session-list").contains(" hidden>"));
        assert!(reference.index(&frame, "no such words").unwrap().contains(">0 operations<"));
    }

    #[test]
    fn every_operation_has_a_page_with_a_request_and_its_response() {
        let (reference, frame) = reference();
        for id in reference.ids() {
            let page = reference.operation(&frame, id).unwrap().unwrap();
            assert!(page.contains("curl ") && page.contains(">Response "), "{id}");
        }
        let page = reference.operation(&frame, "auth-password-sign-up").unwrap().unwrap();
        assert!(page.contains("grace@example.com") && page.contains("&quot;refresh_token&quot;</span>: "), "{page}");
    }
}
