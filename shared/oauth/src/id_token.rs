//! The checks of an ID token (OpenID Connect Core §3.1.3.7).

use crypto::jws;
use jiff::Timestamp;
use jsonwebtoken::{DecodingKey, Validation};
use net::outgoing::{Fault, Outgoing};
use serde_json::Value;
use subtle::ConstantTimeEq as _;

use crate::metadata;

/// How far an issuer's clock may be off, in seconds.
const LEEWAY: i64 = 60;

/// What an ID token must say.
pub struct Expected<'a> {
    pub issuer: &'a str,
    pub jwks_uri: &'a str,
    pub client_id: &'a str,
    pub nonce: &'a str,
}

fn senseless(text: impl Into<String>) -> Fault {
    Fault::Senseless(format!("ID token: {}", text.into()))
}

/// The claims of a token that is what it should be.
pub async fn verify(outgoing: Outgoing<'_>, token: &str, expected: &Expected<'_>, now: Timestamp) -> Result<Value, Fault> {
    jws::install();
    let header = jsonwebtoken::decode_header(token).map_err(|error| senseless(error.to_string()))?;
    if !jws::VERIFIED.contains(&header.alg) {
        return Err(senseless("its algorithm is not accepted"));
    }
    let jwk = metadata::key(outgoing, expected.jwks_uri, header.kid.as_deref(), now).await?;
    let key = DecodingKey::from_jwk(&jwk).map_err(|error| senseless(error.to_string()))?;
    let mut validation = Validation::new(header.alg);
    validation.set_audience(&[expected.client_id]);
    validation.set_issuer(&[expected.issuer]);
    validation.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
    // The time is compared below with the app's clock; the crate knows only the machine's.
    validation.validate_exp = false;
    let claims = jsonwebtoken::decode::<Value>(token, &key, &validation).map_err(|error| senseless(error.to_string()))?.claims;
    check(&claims, expected, now.as_second()).map_err(senseless)?;
    Ok(claims)
}

/// What the crate does not check: times, nonce, and who a token for several audiences is for.
fn check(claims: &Value, expected: &Expected<'_>, now: i64) -> Result<(), &'static str> {
    let time = |name: &str| claims[name].as_i64();
    if time("exp").is_none_or(|exp| exp <= now - LEEWAY) {
        return Err("it has expired");
    }
    if time("iat").is_none_or(|iat| iat > now + LEEWAY) {
        return Err("it is from the future");
    }
    if claims.get("nbf").is_some_and(|_| time("nbf").is_none_or(|nbf| nbf > now + LEEWAY)) {
        return Err("it is not good yet");
    }
    let nonce = claims["nonce"].as_str().unwrap_or_default();
    if !bool::from(nonce.as_bytes().ct_eq(expected.nonce.as_bytes())) {
        return Err("its nonce is of another flow");
    }
    let party = claims["azp"].as_str();
    let audiences = claims["aud"].as_array().map_or(1, Vec::len);
    if party.map_or(audiences > 1, |party| party != expected.client_id) {
        return Err("it is for another client");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const EXPECTED: Expected<'_> = Expected { issuer: "https://i.example", jwks_uri: "", client_id: "me", nonce: "n" };

    #[test]
    fn a_token_of_another_time_flow_or_client_is_refused() {
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
        let valid_soon = json!({ "exp": 300, "iat": 100, "nbf": 150 + LEEWAY, "nonce": "n", "aud": "me" });
        assert_eq!(check(&valid_soon, &EXPECTED, 150), Ok(()));
        let several = json!({ "exp": 200, "iat": 100, "nonce": "n", "aud": ["me", "other"], "azp": "me" });
        assert_eq!(check(&several, &EXPECTED, 150), Ok(()));
    }
}
