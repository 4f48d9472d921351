//! Custom headers of an endpoint: the names and values that are accepted.

use std::collections::BTreeMap;

/// The placeholder for a header's value in responses. In a request, the placeholder keeps the
/// current value.
pub const HIDDEN: &str = "********";
/// The maximum number of headers.
pub const MAX_HEADERS: usize = 10;
const MAX_NAME: usize = 64;
const MAX_VALUE: usize = 1024;

/// Names that projects may not set, because the service sets these headers itself, or because they
/// control or record how a message is transferred (RFC 9110 §7.6, §10.1.1; RFC 7239) or encoded.
const RESERVED: [&str; 17] = [
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
];
/// Prefixes of names for signatures and proxies, which projects may not set either.
const RESERVED_PREFIXES: [&str; 4] = ["webhook-", "svix-", "proxy-", "x-forwarded-"];

/// The headers with their names in lower case, or the first problem found.
pub fn checked(headers: BTreeMap<String, String>) -> Result<BTreeMap<String, String>, String> {
    if headers.len() > MAX_HEADERS {
        return Err(format!("must have at most {MAX_HEADERS} entries"));
    }
    let count = headers.len();
    let lower: BTreeMap<String, String> = headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
    if lower.len() < count {
        return Err("must not name a header twice".to_owned());
    }
    for (name, value) in &lower {
        if !is_name(name) {
            return Err(format!("must have names of 1 to {MAX_NAME} letters, digits and dashes; {name:?} is not allowed"));
        }
        if RESERVED.contains(&name.as_str()) || RESERVED_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
            return Err(format!("must not contain the reserved header {name}"));
        }
        if !is_value(value) {
            return Err(format!("must have 1 to {MAX_VALUE} visible ASCII characters or spaces as the value of {name}"));
        }
    }
    Ok(lower)
}

fn is_name(name: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_of_name)
}

fn is_value(value: &str) -> bool {
    let is_of_value = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    (1..=MAX_VALUE).contains(&value.len()) && value.bytes().all(is_of_value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, value: &str) -> Result<BTreeMap<String, String>, String> {
        checked(BTreeMap::from([(name.to_owned(), value.to_owned())]))
    }

    #[test]
    fn headers_of_a_connection_or_of_the_signature_are_refused() {
        for name in ["Host", "Content-Length", "Transfer-Encoding", "webhook-id", "Svix-Signature", "Connection", "X-Forwarded-For", "TE"] {
            assert!(one(name, "x").is_err(), "{name}");
        }
        assert_eq!(one("Authorization", "Bearer x").map(|headers| headers.into_keys().collect()), Ok(vec!["authorization".to_owned()]));
    }

    #[test]
    fn a_header_cannot_contain_another() {
        for (name, value) in [("x-a\r\nhost", "x"), ("x-a", "x\r\nhost: y"), ("x a", "x"), ("", "x"), ("x-a", ""), ("x-a", "ü")] {
            assert!(one(name, value).is_err(), "{name:?} {value:?}");
        }
        let twice = BTreeMap::from([("X-A".to_owned(), "x".to_owned()), ("x-a".to_owned(), "y".to_owned())]);
        assert!(checked(twice).is_err());
        let many = (0..=MAX_HEADERS).map(|number| (format!("x-{number}"), "x".to_owned())).collect();
        assert!(checked(many).is_err());
    }
}
