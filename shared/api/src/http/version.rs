//! The version in a path: `/api/latest/…` means `/api/v1/…` for every operation.
//!
//! The runners rewrite the path before anything is matched, so that an operation has one path. API Gateway has one route for both as
//! well: its keys take any version (see [`gateway_path`]), and a version that is neither is a path that no operation has.

use http::Uri;
use http::uri::PathAndQuery;

/// Where the current version is.
const CURRENT: &str = "/api/v1";
/// Another name of the current version.
const LATEST: &str = "/api/latest";

/// What is left of a path after a whole segment of it.
fn below<'a>(path: &'a str, start: &str) -> Option<&'a str> {
    path.strip_prefix(start).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The path that a request means.
pub fn resolved(uri: &Uri) -> Uri {
    let renamed = below(uri.path(), LATEST).and_then(|rest| {
        let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        let mut parts = uri.clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::try_from(format!("{CURRENT}{rest}{query}")).ok()?);
        Uri::from_parts(parts).ok()
    });
    renamed.unwrap_or_else(|| uri.clone())
}

/// A path of an operation as API Gateway matches it: with the version as a parameter.
pub fn gateway_path(path: &str) -> String {
    below(path, CURRENT).map_or_else(|| path.to_owned(), |rest| format!("/api/{{version}}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_version_is_the_current_one() {
        let cases = [
            ("/api/latest", "/api/v1"),
            ("/api/latest/users/me", "/api/v1/users/me"),
            ("/api/latest/users?a=/api/latest/b", "/api/v1/users?a=/api/latest/b"),
            ("http://localhost:8787/api/latest/users?a=%20", "http://localhost:8787/api/v1/users?a=%20"),
        ];
        for (given, meant) in cases {
            assert_eq!(resolved(&Uri::from_static(given)), Uri::from_static(meant));
        }
    }

    #[test]
    fn other_paths_are_what_they_are() {
        for path in ["/", "/health", "/api/v1/users", "/api/latestusers", "/api/v2/users", "/x/api/latest/users", "*"] {
            assert_eq!(resolved(&Uri::from_static(path)), Uri::from_static(path));
        }
    }

    #[test]
    fn api_gateway_takes_the_version_as_a_parameter() {
        assert_eq!(gateway_path("/api/v1/users/{user_id}"), "/api/{version}/users/{user_id}");
        assert_eq!(gateway_path("/api/v1"), "/api/{version}");
        assert_eq!(gateway_path("/health"), "/health");
    }
}
