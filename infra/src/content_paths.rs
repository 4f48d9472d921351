//! The paths of the public content in a distribution.

use serde::Serialize;
use utoipa::openapi::{RefOr, Schema};

use crate::operation::Operation;

/// A path, or a pattern for paths, that a distribution may cache.
#[derive(Serialize)]
pub(crate) struct ContentPath {
    path: String,
    /// The query parameter in the cache key. The rest of a query is not part of the key, because
    /// callers could otherwise bypass the cache by adding something to the query.
    pub(crate) parameter: Option<String>,
}

impl ContentPath {
    pub(crate) fn of(operation: &Operation) -> Vec<Self> {
        let parameter = parameter(operation);
        // `*` also matches slashes, so it is used only at the end of a path, and directly below the
        // root only after a unique prefix.
        match operation.route.path.split_once('{') {
            Some(("/", _)) => {
                let of = |name: &str| parameter.clone().filter(|_| name == site::PAGED);
                let mut paths: Vec<Self> = site::NAMES.iter().map(|name| Self { path: pattern(name), parameter: of(name) }).collect();
                paths.dedup_by(|one, other| one.path == other.path);
                paths
            }
            Some((before, _)) => vec![Self { path: format!("{before}*"), parameter }],
            None => vec![Self { path: operation.route.path.to_owned(), parameter }],
        }
    }
}

/// The pattern of a document directly below the root. A distribution supports at most 25 patterns,
/// so all feeds share one pattern, as do all texts for language models.
fn pattern(name: &str) -> String {
    match name {
        _ if name.starts_with("feed.") => "/feed.*".to_owned(),
        _ if name.starts_with("llms") => "/llms*.txt".to_owned(),
        _ => format!("/{name}"),
    }
}

/// The query parameter of an operation that serves content; such an operation has at most one.
fn parameter(operation: &Operation) -> Option<String> {
    match &operation.description.query.as_ref()?.schema {
        RefOr::T(Schema::Object(object)) => object.properties.keys().next().cloned(),
        _ => None,
    }
}
