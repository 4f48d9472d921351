//! The page that explains every error code; each error links to the anchor of its code.

use errors::KnownError;
use http::StatusCode;
use serde::Serialize;

use super::{ERRORS_HREF, Frame, documents};
use crate::openapi::catalog::{self, CodeEntry};
use crate::openapi::common;
use crate::operations;

#[derive(Serialize)]
struct Page {
    title: &'static str,
    document_href: &'static str,
    interfaces: [Interface; 2],
}

#[derive(Serialize)]
struct Interface {
    id: &'static str,
    title: &'static str,
    codes: Vec<CodeExplanation>,
}

#[derive(Serialize)]
struct CodeExplanation {
    #[serde(flatten)]
    entry: CodeEntry,
    reason: &'static str,
    /// The operations whose routes list this error; empty if operations only share the error.
    operations: Vec<Link>,
}

#[derive(Serialize)]
struct Link {
    id: &'static str,
}

pub fn page(frame: &Frame) -> anyhow::Result<String> {
    let all = operations::all();
    let explained = |entry: CodeEntry| {
        let naming = all.iter().filter(|operation| operation.route.codes().any(|code| code == entry.code));
        let operations = naming.filter(|operation| common::codes(operation).contains(entry.code)).map(|one| Link { id: one.route.name });
        let reason = StatusCode::from_u16(entry.status).ok().and_then(|status| status.canonical_reason()).unwrap_or_default();
        CodeExplanation { reason, operations: operations.collect(), entry }
    };
    let (product, content): (Vec<_>, Vec<_>) = catalog::entries().into_iter().partition(|entry| KnownError::CODES.contains(&entry.code));
    let sorted = |mut entries: Vec<CodeEntry>| {
        entries.sort_by_key(|entry| entry.code);
        entries.into_iter().map(explained).collect()
    };
    let page = Page {
        title: "Error codes",
        document_href: ERRORS_HREF,
        interfaces: [
            Interface { id: "product-api", title: "Product API", codes: sorted(product) },
            Interface { id: "content-api", title: "Content API", codes: sorted(content) },
        ],
    };
    let groups = minijinja::Value::from(minijinja::value::Serde(documents::groups()));
    frame.page("errors", "/docs", minijinja::context! { groups, ..minijinja::Value::from(minijinja::value::Serde(page)) })
}
