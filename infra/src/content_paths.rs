//! The paths of the public content, as seen by a distribution.

use serde::Serialize;
use utoipa::openapi::{RefOr, Schema};

use crate::operation::Operation;

/// A path or path pattern that a distribution may cache.
#[derive(Serialize)]
pub(crate) struct ContentPath {
    path: String,
    /// Its query parameter, the only part of a query in the cache key: otherwise, callers could
    /// bypass the cache by adding something to a query.
    pub(crate) parameter: Option<String>,
}

impl ContentPath {
    pub(crate) fn of(operation: &Operation) -> Vec<Self> {
        let parameter = parameter(operation);
        // `*` also matches slashes, so it is used only at the end of a path, and at the root only
        // after a unique prefix.
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

/// The pattern of a document at the root. Feeds share one pattern, and so do texts for language
/// models, because a distribution has at most 25 of them.
fn pattern(name: &str) -> String {
    match name {
        _ if name.starts_with("feed.") => "/feed.*".to_owned(),
        _ if name.starts_with("llms") => "/llms*.txt".to_owned(),
        _ => format!("/{name}"),
    }
}

/// The query parameter of an operation that serves content; there is at most one.
fn parameter(operation: &Operation) -> Option<String> {
    match &operation.description.query.as_ref()?.schema {
        RefOr::T(Schema::Object(object)) => object.properties.keys().next().cloned(),
        _ => None,
    }
}
