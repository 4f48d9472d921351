//! Validates ID tokens (OpenID Connect Core §3.1.3.7).

use crypto::jws;
use jiff::Timestamp;
use jsonwebtoken::{DecodingKey, Validation};
use net::outgoing::{Fault, Outgoing};
use serde_json::Value;
use subtle::ConstantTimeEq as _;

use crate::metadata;

/// How far an issuer's clock may be off, in seconds.
const LEEWAY: i64 = 60;

/// The values that an ID token must contain, and the keys that verify it.
pub struct Expected<'a> {
    /// The required `iss`.
    pub issuer: &'a str,
    /// URL of the issuer's keys.
    pub jwks_uri: &'a str,
    /// The client ids that are accepted as audience and as authorized party (`azp`).
    pub client_ids: &'a [&'a str],
    /// The required nonce. If it is absent, the token must not have a nonce either, so nobody can
    /// use a stolen token with a nonce by leaving out the nonce.
    pub nonce: Option<&'a str>,
}

fn senseless(text: impl Into<String>) -> Fault {
    Fault::Senseless(format!("ID token: {}", text.into()))
}

/// The claims of a valid token. Fails with [`Fault::Senseless`] if the token or the set of keys is
/// invalid, and with other faults if the issuer's keys cannot be fetched.
pub async fn verify(outgoing: Outgoing<'_>, token: &str, expected: &Expected<'_>, now: Timestamp) -> Result<Value, Fault> {
    jws::install();
    let header = jsonwebtoken::decode_header(token).map_err(|error| senseless(error.to_string()))?;
    if !jws::VERIFIED.contains(&header.alg) {
        return Err(senseless("its algorithm is not supported"));
    }
    let jwk = metadata::key(outgoing, expected.jwks_uri, header.kid.as_deref(), now).await?;
    let key = DecodingKey::from_jwk(&jwk).map_err(|error| senseless(error.to_string()))?;
    let mut validation = Validation::new(header.alg);
    validation.set_audience(expected.client_ids);
    validation.set_issuer(&[expected.issuer]);
    validation.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
    // The expiry is checked below with the app's clock; the crate can only use the system's.
    validation.validate_exp = false;
    let claims = jsonwebtoken::decode::<Value>(token, &key, &validation).map_err(|error| senseless(error.to_string()))?.claims;
    check(&claims, expected, now.as_second()).map_err(senseless)?;
    Ok(claims)
}

/// The checks that `jsonwebtoken` does not make: times, nonce, and the authorized party, which a
/// token with several audiences must name.
fn check(claims: &Value, expected: &Expected<'_>, now: i64) -> Result<(), &'static str> {
    let time = |name: &str| claims[name].as_i64();
    if time("exp").is_none_or(|exp| exp <= now - LEEWAY) {
        return Err("its `exp` is missing or past");
    }
    if time("iat").is_none_or(|iat| iat > now + LEEWAY) {
        return Err("its `iat` is missing or in the future");
    }
    if claims.get("nbf").is_some_and(|_| time("nbf").is_none_or(|nbf| nbf > now + LEEWAY)) {
        return Err("its `nbf` is malformed or in the future");
    }
    let has_nonce = match (&claims["nonce"], expected.nonce) {
        (Value::Null, None) => true,
        (Value::String(nonce), Some(expected)) => nonce.as_bytes().ct_eq(expected.as_bytes()).into(),
        _ => false,
    };
    if !has_nonce {
        return Err("its nonce is missing, wrong or unexpected");
    }
    let party = claims["azp"].as_str();
    let audiences = claims["aud"].as_array().map_or(1, Vec::len);
    if party.map_or(audiences > 1, |party| !expected.client_ids.contains(&party)) {
        return Err("its `azp` is missing or another client");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const EXPECTED: Expected<'_> = Expected { issuer: "https://i.example", jwks_uri: "", client_ids: &["me"], nonce: Some("n") };

    #[test]
    fn tokens_of_other_times_flows_and_clients_are_refused() {
        let good = json!({ "exp": 200, "iat": 100, "nonce": "n", "aud": "me" });
        assert_eq!(check(&good, &EXPECTED, 150), Ok(()));
        assert_eq!(check(&good, &EXPECTED, 200 + LEEWAY - 1), Ok(()));
        assert!(check(&good, &EXPECTED, 200 + LEEWAY).is_err() && check(&good, &EXPECTED, 100 - LEEWAY - 1).is_err());
        for (name, value) in [
            ("exp", json!(null)),
            ("exp", json!("200")),
            ("iat", json!(null)),
            ("nbf", json!(150 + LEEWAY + 1)),
            ("nbf", json!("100")),
            ("nonce", json!("m")),
            ("nonce", json!(null)),
            ("aud", json!(["me", "other"])),
            ("azp", json!("other")),
        ] {
            let mut bad = good.clone();
            bad[name] = value.clone();
            assert!(check(&bad, &EXPECTED, 150).is_err(), "{name}: {value}");
        }
        let without = Expected { nonce: None, ..EXPECTED };
        assert!(check(&good, &without, 150).is_err(), "a nonce that the caller does not know");
        assert_eq!(check(&json!({ "exp": 200, "iat": 100, "aud": "me" }), &without, 150), Ok(()));
        let valid_soon = json!({ "exp": 300, "iat": 100, "nbf": 150 + LEEWAY, "nonce": "n", "aud": "me" });
        assert_eq!(check(&valid_soon, &EXPECTED, 150), Ok(()));
        let several = json!({ "exp": 200, "iat": 100, "nonce": "n", "aud": ["me", "other"], "azp": "me" });
        assert_eq!(check(&several, &EXPECTED, 150), Ok(()));
    }
}
