//! JWTs of issuers (RFC 7519) in the compact serialization of JWS (RFC 7515 §7.1).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use crypto::jws::Algorithm;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use wire::json::is_too_complex;

/// The parameters of a header that are used here; all others are ignored (RFC 7515 §4).
#[derive(Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    kid: Option<String>,
    /// Whether there are extensions that a recipient must understand (§4.1.11). No extension is
    /// supported here, and even an empty list is not allowed.
    #[serde(default, rename = "crit", deserialize_with = "is_present")]
    has_extensions: bool,
}

fn is_present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}

/// A JWT with an unverified signature.
pub(crate) struct Jwt<'a> {
    /// The signature's algorithm, according to the token.
    pub(crate) algorithm: String,
    /// The id of the key, if the token contains one.
    pub(crate) key_id: Option<String>,
    /// The signed part: the encoded header and claims.
    pub(crate) signed: &'a str,
    /// The signature, in base64url.
    pub(crate) signature: &'a str,
    /// The claims, an object.
    pub(crate) claims: Value,
}

/// Why a string is not a JWT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct JwtError(&'static str);

impl<'a> Jwt<'a> {
    /// Parses a token. Fails if the token is malformed, encrypted, or has extensions.
    pub(crate) fn parse(token: &'a str) -> Result<Self, JwtError> {
        let parts: Vec<&str> = token.trim().split('.').collect();
        let &[header, claims, signature] = parts.as_slice() else {
            return Err(JwtError(if parts.len() == 5 { "it is encrypted" } else { "it is not a JWT" }));
        };
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).ok().filter(|text| !is_too_complex(text));
        let header =
            decode(header).and_then(|text| serde_json::from_slice::<Header>(&text).ok()).ok_or(JwtError("its header is malformed"))?;
        if header.has_extensions {
            return Err(JwtError("its header has extensions (`crit`)"));
        }
        let claims = decode(claims).and_then(|text| serde_json::from_slice::<Value>(&text).ok()).filter(Value::is_object);
        let claims = claims.ok_or(JwtError("its claims are malformed"))?;
        let signed = token.trim().rsplit_once('.').map_or("", |(signed, _)| signed);
        Ok(Self { algorithm: header.alg, key_id: header.kid, signed, signature, claims })
    }

    /// The asymmetric algorithm of the signature; `None` if it is symmetric or not supported.
    pub(crate) fn asymmetric(&self) -> Option<Algorithm> {
        Algorithm::parse(&self.algorithm)
    }

    /// The bytes of the signature; empty if the signature is malformed.
    pub(crate) fn signature_bytes(&self) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(self.signature).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn token(header: &Value, claims: &str) -> String {
        format!("{}.{}.", URL_SAFE_NO_PAD.encode(header.to_string()), URL_SAFE_NO_PAD.encode(claims))
    }

    #[test]
    fn unknown_header_parameters_are_ignored_and_critical_ones_refused() {
        let odd = token(&json!({ "alg": "ES256", "typ": 7, "x5c": "?", "zip": "?", "jwk": [] }), "{}");
        assert!(Jwt::parse(&odd).is_ok_and(|jwt| jwt.asymmetric() == Some(Algorithm::Es256)));
        for extensions in [json!(["b64"]), json!([]), Value::Null] {
            let critical = token(&json!({ "alg": "ES256", "crit": extensions, "b64": false }), "{}");
            assert_eq!(Jwt::parse(&critical).err(), Some(JwtError("its header has extensions (`crit`)")));
        }
    }

    #[test]
    fn only_signed_objects_are_tokens() {
        let header = json!({ "alg": "ES256" });
        for text in [
            "",
            "a.b",
            "a.b.c.d.e",
            &token(&header, "[]"),
            &token(&header, "{"),
            &token(&json!({ "kid": "x" }), "{}"),
            &token(&json!([]), "{}"),
        ] {
            assert!(Jwt::parse(text).is_err(), "{text}");
        }
        for (name, is_known) in
            [("none", false), ("HS256", false), ("es256", false), ("RS256", true), ("ES512", true), ("Ed25519", true), ("EdDSA", true)]
        {
            let jwt = token(&json!({ "alg": name }), "{}");
            assert_eq!(Jwt::parse(&jwt).is_ok_and(|jwt| jwt.asymmetric().is_some()), is_known, "{name}");
        }
    }
}
