//! Access tokens: JWT signed with ES256, one key per audience, derived from the deployment secret. While that is being
//! replaced, tokens of the previous one are believed, and its keys are published.
//!
//! A key is derived, not stored: there is nothing to create, to read at a cold start or to lose, and every instance has the same.
//! `jsonwebtoken` parses and validates, [`super::jws`] signs and verifies. p256 computes a key's public half, which ring cannot.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use p256::elliptic_curve::sec1::ToSec1Point as _;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::deployment_secret::DeploymentSecret;
use crate::model::id::{ProjectId, SessionId, TeamId, UserId};
use crate::model::user::RestrictedReason;

/// Which of a project's three audiences a token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Audience {
    Normal,
    Restricted,
    Anonymous,
}

impl Audience {
    const ALL: [Self; 3] = [Self::Normal, Self::Restricted, Self::Anonymous];

    fn name(self, project: &ProjectId) -> String {
        match self {
            Self::Normal => project.to_string(),
            Self::Restricted => format!("{project}:restricted"),
            Self::Anonymous => format!("{project}:anon"),
        }
    }

    fn issuer(self, api_url: &str, project: &ProjectId) -> String {
        let collection = match self {
            Self::Normal => "projects",
            Self::Restricted => "projects-restricted-users",
            Self::Anonymous => "projects-anonymous-users",
        };
        format!("{api_url}/api/v1/{collection}/{project}")
    }
}

/// The payload of an access token: this exact set.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Claims {
    pub sub: UserId,
    pub iss: String,
    pub aud: String,
    /// Seconds since the epoch.
    pub iat: i64,
    /// Seconds since the epoch.
    pub exp: i64,
    pub project_id: ProjectId,
    pub branch_id: String,
    pub refresh_token_id: SessionId,
    pub role: String,
    pub name: Option<String>,
    pub email: Option<String>,
    pub email_verified: bool,
    pub selected_team_id: Option<String>,
    /// Seconds since the epoch.
    pub signed_up_at: i64,
    pub is_anonymous: bool,
    pub is_restricted: bool,
    pub restricted_reason: Option<RestrictedReason>,
    pub requires_totp_mfa: bool,
}

impl Claims {
    /// The team that the user had selected.
    pub fn selected_team(&self) -> Option<TeamId> {
        self.selected_team_id.as_deref().and_then(|id| TeamId::parse(id).ok())
    }
}

/// What a token says of a user, before issuer, audience and times.
pub struct Subject {
    pub user: UserId,
    pub project: ProjectId,
    pub session: SessionId,
    pub name: Option<String>,
    pub email: Option<String>,
    pub email_verified: bool,
    pub selected_team: Option<String>,
    pub signed_up_at: Timestamp,
    pub restricted: Option<RestrictedReason>,
    pub requires_totp: bool,
}

/// Why a token is not believed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the token is not one of ours")]
    Unparsable,
    /// The signature is right, but the time is over.
    #[error("the token has expired")]
    Expired(Box<Claims>),
}

/// Signs and verifies the tokens of every project.
pub struct Signer {
    secret: DeploymentSecret,
    api_url: String,
    /// By generation, the current one being 0, and audience.
    keys: Mutex<HashMap<(usize, String), Arc<Key>>>,
}

struct Key {
    id: String,
    encoding: EncodingKey,
    decoding: DecodingKey,
    /// Uncompressed point (SEC 1 §2.3.3): 4, x, y.
    public: [u8; 65],
}

/// The type of access tokens (RFC 9068 §2.1): a token that is signed with the same key for something else is none.
const TYPE: &str = "at+jwt";

/// Whether a token of this type is an access token. Those that were signed before they had a type have none.
fn is_access_token(typ: Option<&str>) -> bool {
    // A media type, whose prefix may be left out and whose case does not count (RFC 7515 §4.1.9).
    typ.is_none_or(|typ| [TYPE, "application/at+jwt"].iter().any(|known| typ.eq_ignore_ascii_case(known)))
}

/// How many keys an instance keeps: three audiences of some hundred projects, in two generations.
const KEPT_KEYS: usize = 1024;

impl Signer {
    pub fn new(secret: &DeploymentSecret, api_url: &str) -> Self {
        super::jws::install();
        Self { secret: secret.clone(), api_url: api_url.to_owned(), keys: Mutex::default() }
    }

    /// An audience's key that signs now.
    #[expect(clippy::expect_used, reason = "an operation that signs has the secret; the contract tests compare routes with operations")]
    fn key(&self, audience: &str) -> Arc<Key> {
        self.keys(audience).next().expect("the function has the deployment secret")
    }

    /// An audience's keys of all generations, the current one first.
    fn keys<'a>(&'a self, audience: &'a str) -> impl Iterator<Item = Arc<Key>> + 'a {
        self.secret.generations().enumerate().map(move |(generation, secret)| self.key_of(generation, secret, audience))
    }

    fn key_of(&self, generation: usize, secret: &SecretString, audience: &str) -> Arc<Key> {
        let name = (generation, audience.to_owned());
        if let Some(key) = self.keys.lock().unwrap_or_else(PoisonError::into_inner).get(&name) {
            return Arc::clone(key);
        }
        let key = Arc::new(Key::derive(secret, audience));
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if keys.len() >= KEPT_KEYS {
            keys.clear();
        }
        keys.insert(name, Arc::clone(&key));
        key
    }

    /// Signs a token that lives for `life` from `now`.
    #[expect(clippy::expect_used, reason = "claims serialise, and a derived key signs")]
    pub fn sign(&self, subject: &Subject, now: Timestamp, life: Duration) -> String {
        let audience = match &subject.restricted {
            None => Audience::Normal,
            Some(RestrictedReason::Anonymous) => Audience::Anonymous,
            Some(_) => Audience::Restricted,
        };
        let iat = now.as_second();
        let claims = Claims {
            sub: subject.user,
            iss: audience.issuer(&self.api_url, &subject.project),
            aud: audience.name(&subject.project),
            iat,
            exp: iat.saturating_add_unsigned(life.as_secs()),
            project_id: subject.project.clone(),
            branch_id: "main".to_owned(),
            refresh_token_id: subject.session,
            role: "authenticated".to_owned(),
            name: subject.name.clone(),
            email: subject.email.clone(),
            email_verified: subject.email_verified,
            selected_team_id: subject.selected_team.clone(),
            signed_up_at: subject.signed_up_at.as_second(),
            is_anonymous: audience == Audience::Anonymous,
            is_restricted: subject.restricted.is_some(),
            restricted_reason: subject.restricted,
            requires_totp_mfa: subject.requires_totp,
        };
        let key = self.key(&claims.aud);
        let header = Header { typ: Some(TYPE.to_owned()), kid: Some(key.id.clone()), ..Header::new(Algorithm::ES256) };
        jsonwebtoken::encode(&header, &claims, &key.encoding).expect("a token can be signed")
    }

    /// Reads a token of any project: its audience names the project, and so the key and the issuer it must have.
    pub fn verify(&self, token: &str, now: Timestamp) -> Result<Claims, Error> {
        let unverified: Claims = jsonwebtoken::dangerous::insecure_decode_claims(token).map_err(|_| Error::Unparsable)?;
        let project = unverified.aud.split(':').next().and_then(|id| ProjectId::parse(id).ok()).ok_or(Error::Unparsable)?;
        let audience = Audience::ALL.into_iter().find(|audience| audience.name(&project) == unverified.aud);
        let audience = audience.ok_or(Error::Unparsable)?;
        let mut validation = Validation::new(Algorithm::ES256);
        validation.set_audience(&[&unverified.aud]);
        validation.set_issuer(&[audience.issuer(&self.api_url, &project)]);
        validation.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
        // The time is compared below with the app's clock; the crate knows only the machine's.
        validation.validate_exp = false;
        let header = jsonwebtoken::decode_header(token).map_err(|_| Error::Unparsable)?;
        if !is_access_token(header.typ.as_deref()) {
            return Err(Error::Unparsable);
        }
        // Derived one after another: a token of the current secret costs one key.
        let key = self.keys(&unverified.aud).find(|key| header.kid.as_ref() == Some(&key.id)).ok_or(Error::Unparsable)?;
        let claims: Claims = jsonwebtoken::decode(token, &key.decoding, &validation).map_err(|_| Error::Unparsable)?.claims;
        let consistent = claims.project_id == project && claims.is_anonymous == (audience == Audience::Anonymous);
        if !consistent {
            return Err(Error::Unparsable);
        }
        if claims.exp <= now.as_second() { Err(Error::Expired(Box::new(claims))) } else { Ok(claims) }
    }

    /// The public keys of a project (RFC 7517), in the order normal, restricted, anonymous; then those of the previous secret.
    pub fn jwks(&self, project: &ProjectId, restricted: bool, anonymous: bool) -> Value {
        let wanted = [(Audience::Normal, true), (Audience::Restricted, restricted || anonymous), (Audience::Anonymous, anonymous)];
        let audiences = wanted.into_iter().filter(|(_, wanted)| *wanted).map(|(audience, _)| audience.name(project));
        let audiences: Vec<String> = audiences.collect();
        let generations = self.secret.generations().enumerate();
        let keys =
            generations.flat_map(|(generation, secret)| audiences.iter().map(move |name| self.key_of(generation, secret, name).jwk()));
        json!({ "keys": keys.collect::<Vec<_>>() })
    }
}

impl Key {
    #[expect(clippy::expect_used, reason = "a derived scalar is valid, or the next attempt's is")]
    fn derive(secret: &SecretString, audience: &str) -> Self {
        // A 256-bit number is no valid scalar once in 2^32 times; then the next counter gives another.
        let scalar = (0..=u8::MAX)
            .find_map(|attempt| p256::SecretKey::from_slice(&super::derive(secret, &[b"token ", audience.as_bytes(), &[attempt]])).ok())
            .expect("one of 256 numbers is a scalar");
        let point = scalar.public_key().to_sec1_point(false);
        let mut public = [0; 65];
        public.copy_from_slice(point.as_bytes());
        let private = [&scalar.to_bytes()[..], &public].concat();
        let id = super::digest::Digest::of(&format!("{audience}{}", URL_SAFE_NO_PAD.encode(public)));
        Self {
            id: id.as_str()[..12].to_owned(),
            encoding: EncodingKey::from_ec_der(&private),
            decoding: DecodingKey::from_ec_der(&public),
            public,
        }
    }

    fn jwk(&self) -> Value {
        let (x, y) = self.public[1..].split_at(32);
        let (x, y) = (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y));
        json!({ "kty": "EC", "alg": "ES256", "crv": "P-256", "x": x, "y": y, "kid": self.id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::Entropy;

    fn signer() -> Signer {
        Signer::new(&"a deployment secret of some length".to_owned().into(), "http://api.test")
    }

    fn subject(restricted: Option<RestrictedReason>) -> Subject {
        let entropy = Entropy::system();
        Subject {
            user: UserId::from(entropy.uuid()),
            project: ProjectId::from(entropy.uuid()),
            session: SessionId::from(entropy.uuid()),
            name: None,
            email: Some("ada@example.com".to_owned()),
            email_verified: false,
            selected_team: None,
            signed_up_at: Timestamp::UNIX_EPOCH,
            restricted,
            requires_totp: false,
        }
    }

    const LIFE: Duration = Duration::from_secs(600);

    #[test]
    fn a_token_is_believed_until_it_expires() {
        let (signer, now) = (signer(), Timestamp::UNIX_EPOCH);
        let token = signer.sign(&subject(None), now, LIFE);
        assert!(signer.verify(&token, now).is_ok());
        let later = Timestamp::from_second(600).unwrap_or_default();
        assert!(matches!(signer.verify(&token, later), Err(Error::Expired(_))));
    }

    #[test]
    fn without_a_secret_no_token_is_believed_and_no_key_published() {
        let (subject, now) = (subject(None), Timestamp::UNIX_EPOCH);
        let keyless = Signer::new(&DeploymentSecret::absent(), "http://api.test");
        assert!(matches!(keyless.verify(&signer().sign(&subject, now, LIFE), now), Err(Error::Unparsable)));
        assert_eq!(keyless.jwks(&subject.project, true, true), json!({ "keys": [] }));
    }

    #[test]
    fn a_header_has_type_algorithm_and_key_id_alone() {
        let token = signer().sign(&subject(None), Timestamp::UNIX_EPOCH, LIFE);
        let header = URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap_or_default()).unwrap_or_default();
        let header: serde_json::Map<String, Value> = serde_json::from_slice(&header).unwrap_or_default();
        assert_eq!(header.keys().collect::<Vec<_>>(), ["alg", "kid", "typ"]);
        assert_eq!(header["typ"], "at+jwt");
    }

    #[test]
    fn a_token_of_another_type_is_no_access_token_whoever_signed_it() {
        let (signer, now) = (signer(), Timestamp::UNIX_EPOCH);
        let claims = signer.verify(&signer.sign(&subject(None), now, LIFE), now).expect("a token");
        let key = signer.key(&claims.aud);
        let of_type = |typ: Option<&str>| {
            let header = Header { typ: typ.map(str::to_owned), kid: Some(key.id.clone()), ..Header::new(Algorithm::ES256) };
            signer.verify(&jsonwebtoken::encode(&header, &claims, &key.encoding).expect("a token"), now)
        };
        for typ in [None, Some("at+jwt"), Some("AT+JWT"), Some("application/at+jwt")] {
            assert!(of_type(typ).is_ok(), "{typ:?}");
        }
        for typ in ["JWT", "", "id_token", "logout+jwt", "at+jwt ", "text/at+jwt"] {
            assert!(matches!(of_type(Some(typ)), Err(Error::Unparsable)), "{typ:?}");
        }
    }

    #[test]
    fn no_audience_has_the_key_of_another() {
        let (signer, now) = (signer(), Timestamp::UNIX_EPOCH);
        let token = signer.sign(&subject(Some(RestrictedReason::Anonymous)), now, LIFE);
        let mut parts = token.split('.').map(str::to_owned).collect::<Vec<_>>();
        let mut claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(&parts[1]).unwrap_or_default()).unwrap_or_default();
        claims["aud"] = claims["project_id"].clone();
        claims["iss"] = json!(format!("http://api.test/api/v1/projects/{}", claims["project_id"].as_str().unwrap_or_default()));
        parts[1] = URL_SAFE_NO_PAD.encode(claims.to_string());
        assert!(matches!(signer.verify(&parts.join("."), now), Err(Error::Unparsable)));
    }
}
