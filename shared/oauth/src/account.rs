//! Reads the account that tokens belong to: from the ID token and the userinfo endpoint of an
//! OpenID provider, or from a provider's own API.

use crypto::shared_secret::hmac_sha256_hex;
use jiff::Timestamp;
use model::provider::catalog::Api;
use model::provider::profile::{Fields, Profile, ProfileError};
use net::outgoing::{Answer, AnswerError, Outgoing};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use crate::id_token::{self, Expectations};
use crate::tokens::Tokens;

/// The HMAC algorithms of ID tokens.
pub(crate) const HMAC: [&str; 3] = ["HS256", "HS384", "HS512"];

/// The claims that userinfo can add to an ID token.
const CLAIMS: [&str; 7] = ["name", "given_name", "family_name", "preferred_username", "picture", "email", "email_verified"];

/// Reads accounts with a provider's client.
pub(crate) struct Reader<'a> {
    pub(crate) outgoing: Outgoing<'a>,
    pub(crate) client_id: &'a str,
    pub(crate) secret: &'a SecretString,
    pub(crate) now: Timestamp,
}

/// The sources of an OpenID provider's claims.
pub(crate) struct OpenId {
    pub(crate) issuer: String,
    pub(crate) jwks_uri: String,
    pub(crate) userinfo: Option<String>,
    /// The HMAC algorithms that the issuer lists for signing.
    pub(crate) hmac: Vec<&'static str>,
}

fn senseless(error: ProfileError) -> AnswerError {
    AnswerError::Senseless(error.to_string())
}

impl Reader<'_> {
    /// The account in an ID token; claims that the token lacks come from userinfo.
    pub(crate) async fn read_openid(&self, source: &OpenId, tokens: &Tokens, nonce: &str) -> Result<Profile, AnswerError> {
        let missing = || AnswerError::Misconfigured("the token response has no ID token: allow the client the scope openid".to_owned());
        let token = tokens.id_token.as_ref().ok_or_else(missing)?;
        let expected = Expectations {
            issuer: &source.issuer,
            jwks_uri: &source.jwks_uri,
            client_ids: &[self.client_id],
            nonce: Some(nonce),
            shared: Some((self.secret, source.hmac.as_slice())),
        };
        let mut claims = id_token::verify(self.outgoing, token.expose_secret(), &expected, self.now).await?;
        let profile = Fields::OPENID.read(&claims).map_err(senseless)?;
        let is_whole = profile.name.is_some() && profile.email.is_some() && !claims["email_verified"].is_null();
        let Some(endpoint) = source.userinfo.as_deref().filter(|_| !is_whole) else { return Ok(profile) };
        match self.userinfo(endpoint, &expected, tokens).await {
            Ok(Some(more)) => {
                add(&mut claims, &more)?;
                Fields::OPENID.read(&claims).map_err(senseless)
            }
            Ok(None) => Ok(profile),
            // The ID token alone is enough to sign in, so errors of the userinfo endpoint do not
            // matter.
            Err(_) if profile.email.is_some() => Ok(profile),
            Err(fault) => Err(fault),
        }
    }

    /// The claims of the userinfo endpoint (OpenID Connect Core §5.3), as JSON or as a JWT signed
    /// by the issuer; `None` if the endpoint does not exist or refuses the token.
    async fn userinfo(&self, endpoint: &str, expected: &Expectations<'_>, tokens: &Tokens) -> Result<Option<Value>, AnswerError> {
        let answer = self.outgoing.fetch(endpoint, Some(tokens.access_token.expose_secret()), None).await?;
        match answer.status() {
            200..=299 => {}
            401 | 403 | 404 => return Ok(None),
            status => return Err(AnswerError::Senseless(format!("the userinfo endpoint answers {status}"))),
        }
        let text = answer.text().unwrap_or_default().trim_start();
        if text.starts_with('{') {
            return answer.json().map(Some);
        }
        Ok(Some(id_token::verify_claims(self.outgoing, text, expected, self.now).await?))
    }

    /// The account, read from a provider's own API.
    pub(crate) async fn read_api(&self, api: &Api, tokens: &Tokens) -> Result<Profile, AnswerError> {
        let answer = self.ask(api, &tokens.access_token).await?;
        let refused = |status: u16| match status {
            401 => AnswerError::Unauthorized,
            status => AnswerError::Refused(format!("its API answers {status}")),
        };
        if !is_success(&answer) {
            return Err(refused(answer.status()));
        }
        let mut profile = api.fields.read(&answer.json()?).map_err(senseless)?;
        if let Some((url, addresses)) = api.addresses {
            let answer = self.outgoing.fetch(url, Some(tokens.access_token.expose_secret()), None).await?;
            // An app without permission to read addresses still gets the account.
            let found = match answer.status() {
                403 | 404 => None,
                _ if is_success(&answer) => addresses.primary(&answer.json()?),
                status => return Err(refused(status)),
            };
            if let Some((email, verified)) = found {
                (profile.email, profile.email_verified) = (Some(email), verified);
            }
        }
        Ok(profile)
    }

    /// Calls the API that returns the account.
    pub(crate) async fn ask(&self, api: &Api, token: &SecretString) -> Result<Answer, AnswerError> {
        let header = api.client_id_header.map(|name| (name, self.client_id));
        let proof = |name: &str| {
            let separator = if api.url.contains('?') { '&' } else { '?' };
            format!("{}{separator}{name}={}", api.url, hmac_sha256_hex(self.secret, token.expose_secret()))
        };
        let url = api.secret_proof.map_or_else(|| api.url.to_owned(), proof);
        self.outgoing.fetch(&url, Some(token.expose_secret()), header).await
    }
}

fn is_success(answer: &Answer) -> bool {
    (200..=299).contains(&answer.status())
}

/// Adds claims from userinfo to the claims of the ID token, which take precedence because they are
/// signed.
///
/// Fails if the added claims belong to another account (OpenID Connect Core §5.3.2).
/// `email_verified` describes the address in the same document, so it is not applied to a different
/// address.
fn add(claims: &mut Value, more: &Value) -> Result<(), AnswerError> {
    if more["sub"].as_str().is_none_or(|sub| claims["sub"].as_str() != Some(sub)) {
        return Err(AnswerError::Senseless("the userinfo response belongs to another account".to_owned()));
    }
    let same = |one: &Value, other: &Value| match (one.as_str(), other.as_str()) {
        (Some(one), Some(other)) => one.eq_ignore_ascii_case(other),
        _ => true,
    };
    let is_same_address = same(&claims["email"], &more["email"]);
    for name in CLAIMS {
        let is_lacking = claims[name].is_null() || claims[name].as_str().is_some_and(|text| text.trim().is_empty());
        if is_lacking && !more[name].is_null() && (name != "email_verified" || is_same_address) {
            claims[name] = more[name].clone();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn added(token: Value, userinfo: Value) -> Option<(Option<String>, bool)> {
        let mut claims = token;
        add(&mut claims, &userinfo).ok()?;
        let profile = Fields::OPENID.read(&claims).ok()?;
        Some((profile.email.map(|email| email.to_string()), profile.email_verified))
    }

    #[test]
    fn claims_may_be_split_between_the_id_token_and_userinfo() {
        let ada = Some("ada@example.com".to_owned());
        for (token, userinfo, verified) in [
            (json!({ "sub": "1" }), json!({ "sub": "1", "email": "ada@example.com", "email_verified": true }), true),
            (
                json!({ "sub": "1", "email": "ada@example.com" }),
                json!({ "sub": "1", "email": "Ada@Example.com", "email_verified": true }),
                true,
            ),
            (json!({ "sub": "1", "email": "ada@example.com" }), json!({ "sub": "1", "email_verified": "true" }), true),
            (json!({ "sub": "1", "email_verified": true }), json!({ "sub": "1", "email": "ada@example.com" }), true),
            (
                json!({ "sub": "1", "email": "ada@example.com", "email_verified": false }),
                json!({ "sub": "1", "email_verified": true }),
                false,
            ),
            // The address in userinfo is verified, but the address in the token is not.
            (
                json!({ "sub": "1", "email": "ada@example.com" }),
                json!({ "sub": "1", "email": "eve@example.com", "email_verified": true }),
                false,
            ),
        ] {
            assert_eq!(added(token.clone(), userinfo), Some((ada.clone(), verified)), "{token}");
        }
    }

    #[test]
    fn userinfo_of_another_account_is_refused() {
        for userinfo in [json!({ "sub": "2" }), json!({}), json!({ "sub": 1 }), json!([])] {
            assert_eq!(added(json!({ "sub": "1" }), userinfo), None);
        }
    }
}
