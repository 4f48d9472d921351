//! Verifies AWS Signature Version 4 ("Create a signed AWS API request") in an `Authorization`
//! header.

use std::fmt::Write as _;

use jiff::{SignedDuration, Timestamp};
use ring::{digest, hmac};
use secrecy::ExposeSecret as _;
use subtle::ConstantTimeEq as _;

use super::{Credentials, Parts};

/// The tolerated difference between the time of a signature and the time of this machine. An
/// intercepted request can be replayed until its signature is that old.
const SKEW: SignedDuration = SignedDuration::from_mins(15);
/// Headers that must be signed. Without `x-amz-target`, a signature would also be valid for other
/// operations.
const SIGNED: [&str; 3] = ["host", "x-amz-date", "x-amz-target"];

/// The reason why a request is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("the request is not signed: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to the values that the gateway printed at startup")]
    Missing,
    #[error("the access key is not the one that the gateway printed at startup (AWS_ACCESS_KEY_ID)")]
    OtherKey,
    #[error("the signature is wrong: check AWS_SECRET_ACCESS_KEY, which the gateway printed at startup, and the clock")]
    Wrong,
}

impl Refusal {
    /// The code of the refusal in DynamoDB's API.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Missing => "MissingAuthenticationTokenException",
            Self::OtherKey => "UnrecognizedClientException",
            Self::Wrong => "InvalidSignatureException",
        }
    }
}

/// The parsed header `AWS4-HMAC-SHA256 Credential=ID/DATE/REGION/SERVICE/aws4_request,
/// SignedHeaders=NAMES, Signature=HEX`.
struct Authorization<'a> {
    id: &'a str,
    scope: [&'a str; 4],
    signed: &'a str,
    signature: &'a str,
}

impl<'a> Authorization<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let text = text.strip_prefix("AWS4-HMAC-SHA256 ")?;
        let part = |name: &str| text.split(',').find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='));
        let mut credential = part("Credential")?.split('/');
        let id = credential.next()?;
        let scope = [credential.next()?, credential.next()?, credential.next()?, credential.next()?];
        let is_whole = credential.next().is_none() && scope[3] == "aws4_request";
        is_whole.then_some(Self { id, scope, signed: part("SignedHeaders")?, signature: part("Signature")? })
    }
}

impl Credentials {
    /// Checks that the request is for `/`, and that it was signed recently with the gateway's
    /// credentials.
    pub(super) fn verify(&self, request: &Parts, body: &[u8], now: Timestamp) -> Result<(), Refusal> {
        let header = |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok());
        let authorization = header("authorization").and_then(Authorization::parse).ok_or(Refusal::Missing)?;
        if authorization.id != self.id {
            return Err(Refusal::OtherKey);
        }
        let time = header("x-amz-date").unwrap_or_default();
        let signed_at: Timestamp = time.parse().map_err(|_| Refusal::Wrong)?;
        let is_fresh = now.duration_since(signed_at).abs() <= SKEW;
        let is_complete = SIGNED.iter().all(|name| authorization.signed.split(';').any(|signed| signed == *name));
        if !is_fresh || !is_complete {
            return Err(Refusal::Wrong);
        }
        let canonical = canonical(request, authorization.signed, body).ok_or(Refusal::Wrong)?;
        let secret = format!("AWS4{}", self.secret.expose_secret()).into_bytes();
        let key = authorization.scope.iter().fold(secret, |key, part| mac(&key, part));
        let scope = authorization.scope.join("/");
        let expected = hex(&mac(&key, &format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", sha256(canonical.as_bytes()))));
        let is_right: bool = expected.as_bytes().ct_eq(authorization.signature.as_bytes()).into();
        if is_right { Ok(()) } else { Err(Refusal::Wrong) }
    }
}

/// The canonical request for `/` without a query; `None` if a signed header is not visible ASCII.
fn canonical(request: &Parts, signed: &str, body: &[u8]) -> Option<String> {
    let mut headers = String::new();
    for name in signed.split(';') {
        let values: Option<Vec<String>> = request.headers.get_all(name).iter().map(|value| Some(squeezed(value.to_str().ok()?))).collect();
        let _ = writeln!(headers, "{name}:{}", values?.join(","));
    }
    Some(format!("{}\n/\n\n{headers}\n{signed}\n{}", request.method, sha256(body)))
}

/// Trims the text, and replaces each run of white space in it with one space.
fn squeezed(text: &str) -> String {
    text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

fn sha256(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use http::{HeaderValue, Request};

    use super::*;

    const NOW: &str = "2026-01-01T12:00:00Z";
    const BODY: &[u8] = b"{}";

    fn credentials() -> Credentials {
        Credentials { id: "gatelet-1".to_owned(), secret: "a-secret".to_owned().into() }
    }

    fn request(authorization: &str) -> Parts {
        let request = Request::post("/")
            .header("host", "127.0.0.1:8000")
            .header("content-type", "application/x-amz-json-1.0")
            .header("x-amz-date", "20260101T120000Z")
            .header("x-amz-target", "DynamoDB_20120810.ListTables")
            .header("authorization", authorization);
        request.body(()).unwrap().into_parts().0
    }

    const AUTHORIZATION: &str = "AWS4-HMAC-SHA256 Credential=gatelet-1/20260101/local/dynamodb/aws4_request, \
        SignedHeaders=content-type;host;x-amz-date;x-amz-target, \
        Signature=bc9a46c735fc4e0a3b7a44c1b3cd6b40fc09f302bae2b7d42c83f7edfd35815e";

    fn verify(request: &Parts, body: &[u8], now: &str) -> Result<(), Refusal> {
        credentials().verify(request, body, now.parse().unwrap())
    }

    #[test]
    fn a_request_signed_by_an_sdk_is_accepted_for_15_minutes() {
        let request = request(AUTHORIZATION);
        for now in [NOW, "2026-01-01T12:14:59Z", "2026-01-01T11:45:01Z"] {
            assert_eq!(verify(&request, BODY, now), Ok(()), "{now}");
        }
        for now in ["2026-01-01T12:15:01Z", "2026-01-01T11:44:59Z"] {
            assert_eq!(verify(&request, BODY, now), Err(Refusal::Wrong), "{now}");
        }
    }

    #[test]
    fn any_change_invalidates_the_signature() {
        assert_eq!(verify(&request(AUTHORIZATION), b"{ }", NOW), Err(Refusal::Wrong));
        for (name, value) in
            [("host", "localhost:8000"), ("x-amz-target", "DynamoDB_20120810.Scan"), ("x-amz-date", "20260101T120001Z"), ("x-amz-date", "")]
        {
            let mut request = request(AUTHORIZATION);
            request.headers.insert(name, HeaderValue::from_static(value));
            assert_eq!(verify(&request, BODY, NOW), Err(Refusal::Wrong), "{name}: {value}");
        }
        let mut twice = request(AUTHORIZATION);
        twice.headers.append("x-amz-target", HeaderValue::from_static("DynamoDB_20120810.Scan"));
        assert_eq!(verify(&twice, BODY, NOW), Err(Refusal::Wrong));
        let unsigned = AUTHORIZATION.replace(";x-amz-target", "");
        assert_eq!(verify(&request(&unsigned), BODY, NOW), Err(Refusal::Wrong));
    }

    #[test]
    fn unsigned_requests_and_other_keys_are_rejected() {
        let other = AUTHORIZATION.replace("gatelet-1", "local");
        assert_eq!(verify(&request(&other), BODY, NOW), Err(Refusal::OtherKey));
        for text in
            ["", "Bearer x", "AWS4-HMAC-SHA256 Credential=gatelet-1", "AWS4-HMAC-SHA256 Credential=gatelet-1/20260101/local/aws4_request"]
        {
            assert_eq!(verify(&request(text), BODY, NOW), Err(Refusal::Missing), "{text}");
        }
    }
}
