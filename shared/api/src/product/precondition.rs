//! Versions of resources, so that nobody overwrites changes that they have not seen. A response
//! states the version in its `ETag`, and a change with `If-Match` applies only to the versions
//! named there (see RFC 9110 §13.1.1).

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use errors::{Error, KnownError};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, header};

use crate::http::describe::{Describe, Description};

/// A response with the version of its resource.
#[derive(Debug)]
pub struct VersionedResponse<T> {
    /// The response without its version.
    pub response: T,
    /// The version; every change to the resource increments it.
    pub version: u64,
}

impl<T: IntoResponse> IntoResponse for VersionedResponse<T> {
    fn into_response(self) -> Response {
        let mut response = self.response.into_response();
        if let Ok(value) = HeaderValue::from_str(&etag(self.version)) {
            response.headers_mut().insert(header::ETAG, value);
        }
        response
    }
}

impl<T: Describe> Describe for VersionedResponse<T> {
    fn describe(description: &mut Description) {
        T::describe(description);
        description.has_version = true;
    }
}

fn etag(version: u64) -> String {
    format!("\"{version}\"")
}

/// The versions that a change may apply to: the versions in `If-Match`, or any version if the
/// header is absent or `*`.
#[derive(Debug, Clone, Default)]
pub struct IfMatch(Option<String>);

impl IfMatch {
    /// Whether the request names versions; `*` does not name any.
    pub fn is_given(&self) -> bool {
        self.0.as_deref().is_some_and(|wanted| wanted.trim() != "*")
    }

    /// Fails with [`KnownError::PreconditionFailed`] if `If-Match` does not permit this version.
    pub fn check(&self, version: u64) -> Result<(), KnownError> {
        match self.0.as_deref() {
            Some(wanted) if !wanted.split(',').map(str::trim).any(|tag| tag == "*" || tag == etag(version)) => {
                Err(KnownError::PreconditionFailed)
            }
            _ => Ok(()),
        }
    }

    /// The result of a write that is conditional on the checked version. If the resource has
    /// changed since the check, and the request names versions, the error is
    /// [`KnownError::PreconditionFailed`].
    pub fn lost<T>(&self, written: Result<T, store::Error>) -> Result<T, Error> {
        match written {
            Err(store::Error::Conflict(_)) if self.is_given() => Err(KnownError::PreconditionFailed.into()),
            written => Ok(written?),
        }
    }

    fn of(headers: &HeaderMap) -> Self {
        let mut lines = headers.get_all(header::IF_MATCH).iter().peekable();
        // Several header lines form one list (RFC 9110 §5.3). A line that is not text does not name
        // a version.
        Self(lines.peek().is_some().then(|| lines.map(|line| line.to_str().unwrap_or_default()).collect::<Vec<_>>().join(",")))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.headers))
    }
}

impl Describe for IfMatch {
    fn describe(description: &mut Description) {
        description.takes_version = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn if_match(lines: &[&str]) -> IfMatch {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::IF_MATCH, HeaderValue::from_bytes(line.as_bytes()).unwrap());
        }
        IfMatch::of(&headers)
    }

    #[test]
    fn a_change_is_made_to_the_named_versions_only() {
        for lines in [&[][..], &["\"7\""], &["*"], &["\"6\", \"7\""], &["\"6\"", "\"7\""]] {
            assert!(if_match(lines).check(7).is_ok(), "{lines:?}");
        }
        // Weak tags never match (RFC 9110 §8.8.3.2).
        for lines in [&["\"8\""][..], &["7"], &["W/\"7\""], &[""], &["ü"]] {
            assert!(if_match(lines).check(7).is_err(), "{lines:?}");
        }
    }

    #[test]
    fn an_asterisk_names_no_version() {
        assert!(!if_match(&[]).is_given() && !if_match(&["*"]).is_given());
        assert!(if_match(&["\"7\""]).is_given());
    }
}
