//! The three header families: The three header families: The families of headers: `x-service-*`,
//! and the two families that the published SDKs use. The families are synonyms: a header with
//! different values in two families is an error.

use errors::KnownError;
use http::{HeaderMap, HeaderName, HeaderValue};

const PREFIXES: [&str; 3] = ["x-service-", "x-stack-", "x-hexclave-"];

/// The names of request headers, without the prefix of a family.
pub const REQUEST_HEADERS: [&str; 18] = [
    "project-id",
    "branch-id",
    "access-type",
    "publishable-client-key",
    "secret-server-key",
    "super-secret-admin-key",
    "admin-access-token",
    "access-token",
    "refresh-token",
    "device-token",
    "development-override-key",
    "allow-anonymous-user",
    "allow-restricted-user",
    "client-version",
    "override-error-status",
    "random-nonce",
    "disable-artificial-development-delay",
    "development-disable-extended-logging",
];

/// The names of response headers, without the prefix of a family.
pub const RESPONSE_HEADERS: [&str; 3] = ["known-error", "actual-status", "request-id"];

/// The names of a header in all families.
pub fn names(suffix: &str) -> impl Iterator<Item = String> + '_ {
    PREFIXES.iter().map(move |prefix| format!("{prefix}{suffix}"))
}

/// The value of a header in any family; an empty value counts as absent. Fails if several families
/// or repeated headers contain different values, or if a value is not ASCII text.
pub fn header<'a>(headers: &'a HeaderMap, suffix: &str) -> Result<Option<&'a str>, KnownError> {
    let mut found = None;
    for value in values(headers, suffix) {
        let value = value.to_str().map_err(|_| KnownError::ConflictingHeaders { header: suffix.to_owned() })?.trim();
        if value.is_empty() {
            continue;
        }
        if found.is_some_and(|found| found != value) {
            return Err(KnownError::ConflictingHeaders { header: suffix.to_owned() });
        }
        found = Some(value);
    }
    Ok(found)
}

/// All values of a header in all families. Requests have few headers, so comparing each name is
/// faster than composing the three names and looking them up.
pub fn values<'a>(headers: &'a HeaderMap, suffix: &str) -> impl Iterator<Item = &'a HeaderValue> {
    let is_of = move |name: &HeaderName| PREFIXES.iter().any(|prefix| name.as_str().strip_prefix(prefix) == Some(suffix));
    headers.iter().filter(move |(name, _)| is_of(name)).map(|(_, value)| value)
}

/// Whether a request has headers of the family `x-stack-*`, as sent by older SDKs.
pub fn is_of_older_sdk(headers: &HeaderMap) -> bool {
    headers.keys().any(|name| name.as_str().starts_with(PREFIXES[1]))
}

/// The families of a response's headers: `x-service-*` if the request used it, and `x-stack-*` if
/// the request used another family or none.
pub fn answer_prefixes(headers: &HeaderMap) -> Vec<&'static str> {
    let has = |prefix: &str| headers.keys().any(|name| name.as_str().starts_with(prefix));
    match (has(PREFIXES[0]), has(PREFIXES[1]) || has(PREFIXES[2])) {
        (true, true) => vec![PREFIXES[0], PREFIXES[1]],
        (true, false) => vec![PREFIXES[0]],
        (false, _) => vec![PREFIXES[1]],
    }
}
