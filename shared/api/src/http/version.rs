//! The version in a path: `/api/latest/…` means `/api/v1/…` for every operation.
//!
//! The runners rewrite the path before routing, so each operation has a single path. API Gateway
//! also needs only one route for both paths, with the version as a parameter ([`gateway_path`]). A
//! path with a different version reaches the function, but does not match its operation.

use http::Uri;
use http::uri::PathAndQuery;

/// The prefix of the current version.
const CURRENT: &str = "/api/v1";
/// The alias of the current version.
const LATEST: &str = "/api/latest";

/// The rest of a path that begins with the segments of `start`; `None` for any other path.
fn below<'a>(path: &'a str, start: &str) -> Option<&'a str> {
    path.strip_prefix(start).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A request's URI, with the alias of the version resolved.
pub fn resolved(uri: &Uri) -> Uri {
    let renamed = below(uri.path(), LATEST).and_then(|rest| {
        let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        let mut parts = uri.clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::try_from(format!("{CURRENT}{rest}{query}")).ok()?);
        Uri::from_parts(parts).ok()
    });
    renamed.unwrap_or_else(|| uri.clone())
}

/// The path of an operation as API Gateway matches it: with the version as a parameter.
pub fn gateway_path(path: &str) -> String {
    below(path, CURRENT).map_or_else(|| path.to_owned(), |rest| format!("/api/{{version}}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latest_is_an_alias_of_the_current_version() {
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
    fn other_paths_stay_as_they_are() {
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
