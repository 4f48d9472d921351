//! Tests of users' access tokens: which tokens are valid, until when, and that stored tokens are
//! not verified again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use super::*;
use wire::entropy::Entropy;

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
fn a_token_is_valid_until_it_expires() {
    let (signer, now) = (signer(), Timestamp::UNIX_EPOCH);
    let token = signer.sign(&subject(None), now, LIFE);
    assert!(signer.verify(&token, now).is_ok());
    let later = Timestamp::from_second(600).unwrap_or_default();
    assert!(matches!(signer.verify(&token, later), Err(Error::Expired(_))));
}

#[test]
fn without_a_secret_no_token_is_valid_and_no_key_published() {
    let (subject, now) = (subject(None), Timestamp::UNIX_EPOCH);
    let keyless = Signer::new(&DeploymentSecret::absent(), "http://api.test");
    assert!(matches!(keyless.verify(&signer().sign(&subject, now, LIFE), now), Err(Error::Unparsable)));
    assert!(keyless.jwks(&subject.project, true, true, true).is_empty());
}

#[test]
fn a_header_has_only_type_algorithm_and_key_id() {
    let token = signer().sign(&subject(None), Timestamp::UNIX_EPOCH, LIFE);
    let header = URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap_or_default()).unwrap_or_default();
    let header: serde_json::Map<String, Value> = serde_json::from_slice(&header).unwrap_or_default();
    assert_eq!(header.keys().collect::<Vec<_>>(), ["alg", "kid", "typ"]);
    assert_eq!(header["typ"], "at+jwt");
}

#[test]
fn a_token_of_another_type_is_not_an_access_token() {
    let (signer, now) = (signer(), Timestamp::UNIX_EPOCH);
    let claims = signer.verify(&signer.sign(&subject(None), now, LIFE), now).expect("a token");
    let key = signer.keys.current(&claims.aud);
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

/// Stores every token, and counts how many times a token was found.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<(HashMap<String, Claims>, usize)>>);

impl Remember for Memory {
    fn claims(&self, token: &str) -> Option<Claims> {
        let (known, found) = &mut *self.0.lock().expect("no panic");
        let claims = known.get(token).cloned();
        *found += usize::from(claims.is_some());
        claims
    }

    fn keep(&self, token: &str, claims: &Claims, _: Timestamp) {
        self.0.lock().expect("no panic").0.insert(token.to_owned(), claims.clone());
    }
}

#[test]
fn a_remembered_token_expires_and_an_altered_one_is_verified() {
    let (memory, now) = (Memory::default(), Timestamp::UNIX_EPOCH);
    let signer = signer().remembering_in(memory.clone());
    let token = signer.sign(&subject(None), now, LIFE);
    let first = signer.verify(&token, now).expect("a token");
    assert_eq!(signer.verify(&token, now).expect("a token").sub, first.sub);
    assert!(matches!(signer.verify(&token, Timestamp::from_second(600).unwrap_or_default()), Err(Error::Expired(_))));
    assert_eq!(memory.0.lock().expect("no panic").1, 2);

    let altered = format!("{}{}", &token[..token.len() - 2], if token.ends_with("AA") { "BB" } else { "AA" });
    for _ in 0..2 {
        assert!(matches!(signer.verify(&altered, now), Err(Error::Unparsable)));
    }
    let expired = signer.sign(&subject(None), now, Duration::ZERO);
    assert!(matches!(signer.verify(&expired, now), Err(Error::Expired(_))));
    let (known, found) = &*memory.0.lock().expect("no panic");
    assert_eq!((known.len(), *found), (1, 2), "neither a forged nor an expired token is remembered");
}
