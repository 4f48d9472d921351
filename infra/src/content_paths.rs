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
        // A `*` matches slashes too, so it is only used at the end of a path, and not for the
        // documents at the root.
        match operation.route.path.split_once('{') {
            Some(("/", _)) => {
                let of = |name: &str| parameter.clone().filter(|_| name == site::PAGED);
                site::NAMES.iter().map(|name| Self { path: format!("/{name}"), parameter: of(name) }).collect()
            }
            Some((before, _)) => vec![Self { path: format!("{before}*"), parameter }],
            None => vec![Self { path: operation.route.path.to_owned(), parameter }],
        }
    }
}

/// The parameter of the query of an operation that serves content, which has at most one.
fn parameter(operation: &Operation) -> Option<String> {
    match &operation.description.query.as_ref()?.schema {
        RefOr::T(Schema::Object(object)) => object.properties.keys().next().cloned(),
        _ => None,
    }
}
