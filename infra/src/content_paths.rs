//! The paths of the public content as a distribution sees them.

use serde::Serialize;
use utoipa::openapi::{RefOr, Schema};

use crate::operation::Operation;

/// A path, or a pattern of paths, that a distribution may cache.
#[derive(Serialize)]
pub(crate) struct ContentPath {
    path: String,
    /// The parameter of its query, the only part of a query that is in the key of the cache:
    /// otherwise, a caller could get past the cache by adding anything to a query.
    pub(crate) parameter: Option<String>,
}

impl ContentPath {
    /// The paths of an operation.
    pub(crate) fn of(operation: &Operation) -> Vec<Self> {
        let parameter = parameter(operation);
        // A `*` matches slashes too, so it is only used at the end of a path, and at the root only
        // after a beginning that no other path has.
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

/// The pattern of a document at the root. Feeds share one, and so do texts for language models, as
/// a distribution has at most 25 patterns.
fn pattern(name: &str) -> String {
    match name {
        _ if name.starts_with("feed.") => "/feed.*".to_owned(),
        _ if name.starts_with("llms") => "/llms*.txt".to_owned(),
        _ => format!("/{name}"),
    }
}

/// The parameter of the query of an operation that serves content, which has at most one.
fn parameter(operation: &Operation) -> Option<String> {
    match &operation.description.query.as_ref()?.schema {
        RefOr::T(Schema::Object(object)) => object.properties.keys().next().cloned(),
        _ => None,
    }
}
