//! Validates ID tokens (OpenID Connect Core §3.1.3.7), and other claims signed by an issuer
//! (§5.3.2).

use crypto::shared_secret::verify_hmac;
use jiff::Timestamp;
use net::outgoing::{AnswerError, Outgoing};
use secrecy::SecretString;
use serde_json::Value;
use subtle::ConstantTimeEq as _;

use crate::jwt::Jwt;
use crate::keys::Verification;
use crate::metadata;

/// How far an issuer's clock may differ from ours, in seconds.
const LEEWAY: f64 = 60.0;

/// The values that an ID token must have, and the keys that verify the token.
pub struct Expectations<'a> {
    /// The required `iss`.
    pub issuer: &'a str,
    /// URL of the issuer's keys.
    pub jwks_uri: &'a str,
    /// The client ids accepted as audience and as authorized party (`azp`).
    pub client_ids: &'a [&'a str],
    /// The required nonce. If the nonce is absent, the token must not have one either: otherwise, a
    /// stolen token with a nonce could be used by leaving the nonce out.
    pub nonce: Option<&'a str>,
    /// The client's secret and the HMAC algorithms that the issuer lists for signing, if it lists
    /// any (§3.1.3.7 step 8).
    pub shared: Option<(&'a SecretString, &'a [&'a str])>,
}

/// Why a token is not valid.
#[derive(Debug, thiserror::Error)]
pub enum VerificationError {
    /// The token itself is invalid.
    #[error("the token is not valid: {0}")]
    Token(AnswerError),
    /// The issuer's keys cannot be read.
    #[error("the issuer's keys cannot be read: {0}")]
    Keys(AnswerError),
}

impl From<VerificationError> for AnswerError {
    fn from(error: VerificationError) -> Self {
        match error {
            VerificationError::Token(fault) | VerificationError::Keys(fault) => fault,
        }
    }
}

/// An error that concerns only this token; the next token may be valid.
fn senseless(text: impl std::fmt::Display) -> VerificationError {
    VerificationError::Token(AnswerError::Senseless(format!("ID token: {text}")))
}

/// An error that affects all tokens from this issuer.
fn misconfigured(text: impl std::fmt::Display) -> VerificationError {
    VerificationError::Token(AnswerError::Misconfigured(format!("ID token: {text}")))
}

/// The claims of a valid ID token.
pub async fn verify(outgoing: Outgoing<'_>, token: &str, expected: &Expectations<'_>, now: Timestamp) -> Result<Value, VerificationError> {
    let claims = verify_signature(outgoing, token, expected, now).await?;
    check(&claims, expected, seconds(now))?;
    Ok(claims)
}

/// The claims of a token that the issuer signed for the client and that is not an ID token, such as
/// userinfo (§5.3.2). The issuer, audience and times are all optional, but must be valid if
/// present.
pub(crate) async fn verify_claims(
    outgoing: Outgoing<'_>,
    token: &str,
    expected: &Expectations<'_>,
    now: Timestamp,
) -> Result<Value, VerificationError> {
    let claims = verify_signature(outgoing, token, expected, now).await?;
    check_claims(&claims, expected, seconds(now))?;
    Ok(claims)
}

fn check_claims(claims: &Value, expected: &Expectations<'_>, now: f64) -> Result<(), VerificationError> {
    let has = |name: &str| claims.get(name).is_some();
    if has("iss") {
        check_issuer(claims, expected)?;
    }
    if has("aud") && !names_client(&claims["aud"], expected) {
        return Err(misconfigured("its `aud` names another client"));
    }
    if has("exp") {
        check_expiry(claims, now)?;
    }
    if has("iat") {
        check_issue(claims)?;
    }
    check_start(claims, now)
}

async fn verify_signature(
    outgoing: Outgoing<'_>,
    token: &str,
    expected: &Expectations<'_>,
    now: Timestamp,
) -> Result<Value, VerificationError> {
    let jwt = Jwt::parse(token).map_err(misconfigured)?;
    if let Some((secret, algorithms)) = expected.shared
        && algorithms.contains(&jwt.algorithm.as_str())
        && let Some(is_signed) = verify_hmac(&jwt.algorithm, secret, jwt.signed.as_bytes(), &jwt.signature_bytes())
    {
        return if is_signed { Ok(jwt.claims) } else { Err(senseless("it was not signed with the client secret")) };
    }
    let algorithm = jwt.asymmetric().ok_or_else(|| misconfigured("its algorithm is not supported"))?;
    match metadata::verify(outgoing, expected.jwks_uri, (&jwt, algorithm), now).await.map_err(VerificationError::Keys)? {
        Verification::Signed => Ok(jwt.claims),
        Verification::NoKey => Err(senseless("it was not signed with any of the issuer's keys")),
        Verification::Forged => Err(senseless("its signature is not valid")),
        Verification::Ambiguous => Err(misconfigured("it does not name its key (`kid`), and the issuer has several")),
    }
}

fn seconds(now: Timestamp) -> f64 {
    now.as_duration().as_secs_f64()
}

/// A time in seconds since the epoch, which may have a fraction (RFC 7519 §2, `NumericDate`).
fn time(claims: &Value, name: &str) -> Option<f64> {
    claims[name].as_f64().filter(|time| time.is_finite())
}

/// When a token expires, in whole seconds; `None` if the time is missing or invalid.
pub fn expiry(claims: &Value) -> Option<Timestamp> {
    #[expect(clippy::cast_possible_truncation, reason = "a number out of range becomes the nearest one, which is no timestamp")]
    let second = time(claims, "exp")?.ceil() as i64;
    Timestamp::from_second(second).ok()
}

fn check(claims: &Value, expected: &Expectations<'_>, now: f64) -> Result<(), VerificationError> {
    check_issuer(claims, expected)?;
    check_audience(claims, expected)?;
    if claims["sub"].as_str().is_none_or(str::is_empty) {
        return Err(misconfigured("its `sub` is missing or not a string"));
    }
    check_expiry(claims, now)?;
    check_issue(claims)?;
    check_start(claims, now)?;
    let has_nonce = match (&claims["nonce"], expected.nonce) {
        (Value::Null, None) => true,
        (Value::String(nonce), Some(expected)) => nonce.as_bytes().ct_eq(expected.as_bytes()).into(),
        _ => false,
    };
    if has_nonce {
        Ok(())
    } else {
        Err(VerificationError::Token(AnswerError::Refused("the nonce of the ID token is missing, wrong or unexpected".to_owned())))
    }
}

fn check_issuer(claims: &Value, expected: &Expectations<'_>) -> Result<(), VerificationError> {
    let wanted = metadata::issuer_of(expected.issuer, claims);
    if claims["iss"].as_str() == Some(&wanted) {
        Ok(())
    } else {
        Err(misconfigured(format!("its `iss` is {}, not {wanted}", claims["iss"])))
    }
}

/// The issuer's clock may be ahead, so `iat` may be in the future.
fn check_issue(claims: &Value) -> Result<(), VerificationError> {
    time(claims, "iat").map(drop).ok_or_else(|| misconfigured("its `iat` is missing or not a number"))
}

fn check_start(claims: &Value, now: f64) -> Result<(), VerificationError> {
    if claims.get("nbf").is_some_and(|_| time(claims, "nbf").is_none_or(|nbf| nbf > now + LEEWAY)) {
        return Err(senseless("its `nbf` is malformed or in the future"));
    }
    Ok(())
}

fn is_client(value: &Value, expected: &Expectations<'_>) -> bool {
    value.as_str().is_some_and(|id| expected.client_ids.contains(&id))
}

/// Whether an `aud`, which is a string or a list, names the client.
fn names_client(audience: &Value, expected: &Expectations<'_>) -> bool {
    match audience {
        Value::Array(audiences) => audiences.iter().any(|one| is_client(one, expected)),
        audience => is_client(audience, expected),
    }
}

/// The client must be one of the audiences. If there are several audiences, the token must name the
/// client as the authorized party (`azp`). With a single audience, `azp` is left to extensions
/// (§3.1.3.7, errata set 2).
fn check_audience(claims: &Value, expected: &Expectations<'_>) -> Result<(), VerificationError> {
    if !names_client(&claims["aud"], expected) {
        return Err(misconfigured("its `aud` is missing or names another client"));
    }
    let has_others = claims["aud"].as_array().is_some_and(|audiences| audiences.len() > 1);
    if has_others && !is_client(&claims["azp"], expected) {
        return Err(misconfigured("it has several audiences, and its `azp` is missing or names another client"));
    }
    Ok(())
}

fn check_expiry(claims: &Value, now: f64) -> Result<(), VerificationError> {
    match time(claims, "exp") {
        Some(exp) if exp > now - LEEWAY => Ok(()),
        Some(_) => Err(senseless("it has expired")),
        None => Err(misconfigured("its `exp` is missing or not a number")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const EXPECTED: Expectations<'_> =
        Expectations { issuer: "https://i.example", jwks_uri: "", client_ids: &["me"], nonce: Some("n"), shared: None };

    fn good() -> Value {
        json!({ "iss": "https://i.example", "sub": "1", "exp": 200, "iat": 100, "nonce": "n", "aud": "me" })
    }

    fn with(name: &str, value: Value) -> Value {
        let mut claims = good();
        claims[name] = value;
        claims
    }

    #[test]
    fn tokens_of_other_times_flows_and_clients_are_refused() {
        assert!(check(&good(), &EXPECTED, 150.0).is_ok() && check(&good(), &EXPECTED, 200.0 + LEEWAY - 1.0).is_ok());
        assert!(check(&good(), &EXPECTED, 200.0 + LEEWAY).is_err());
        for (name, value) in [
            ("iss", json!("https://i.example/")),
            ("iss", json!(["https://i.example"])),
            ("sub", json!(1)),
            ("sub", json!("")),
            ("exp", json!(null)),
            ("exp", json!("200")),
            ("iat", json!(null)),
            ("iat", json!("100")),
            ("nbf", json!(150.0 + LEEWAY + 1.0)),
            ("nbf", json!("100")),
            ("nonce", json!("m")),
            ("nonce", json!(null)),
            ("nonce", json!(["n"])),
            ("aud", json!("other")),
            ("aud", json!([])),
            ("aud", json!(["other"])),
            ("aud", json!(["me", "other"])),
        ] {
            assert!(check(&with(name, value.clone()), &EXPECTED, 150.0).is_err(), "{name}: {value}");
        }
        let without = Expectations { nonce: None, ..EXPECTED };
        assert!(check(&good(), &without, 150.0).is_err(), "a nonce that the caller does not know");
        assert!(check(&with("nonce", json!(null)), &without, 150.0).is_ok());
        let mut several = with("aud", json!(["me", "other"]));
        several["azp"] = json!("other");
        assert!(check(&several, &EXPECTED, 150.0).is_err(), "a token for another client");
    }

    #[test]
    fn odd_but_legal_claims_are_accepted() {
        let mut several = with("aud", json!(["me", "other"]));
        several["azp"] = json!("me");
        for claims in [
            with("exp", json!(150.5)),
            with("iat", json!(100.25)),
            with("iat", json!(100_000)),
            with("iat", json!(1e2)),
            with("nbf", json!(150.0 + LEEWAY)),
            with("nbf", json!(149.999)),
            with("aud", json!(["me"])),
            with("azp", json!("another party")),
            with("auth_time", json!("never")),
            several,
        ] {
            assert!(check(&claims, &EXPECTED, 150.0).is_ok(), "{claims}");
        }
        assert_eq!(expiry(&json!({ "exp": 1.5 })), Timestamp::from_second(2).ok());
        assert_eq!((expiry(&json!({ "exp": 1e300 })), expiry(&json!({}))), (None, None));
    }
}
