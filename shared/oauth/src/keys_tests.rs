use base64::Engine as _;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};
use crypto::jws::{Algorithm, PublicKey};
use serde_json::{Value, json};

use crate::jwt::Jwt;
use crate::keys::*;

fn key() -> Value {
    json!({ "kty": "EC", "crv": "P-256", "kid": "one", "x": "AA", "y": "AA" })
}

fn with(name: &str, value: Value) -> Value {
    let mut key = key();
    key[name] = value;
    key
}

fn read(keys: Vec<Value>) -> Keys {
    serde_json::from_value(json!({ "keys": keys })).expect("a set of keys")
}

#[test]
fn a_set_of_keys_is_bounded() {
    assert_eq!(read(vec![key(); MAX_KEYS + 100]).0.len(), MAX_KEYS);
    for hostile in [json!({ "keys": { "": 0 } }), json!([{ "": 0 }]), json!({ "keys": ["text"] }), json!({})] {
        assert!(serde_json::from_value::<Keys>(hostile).is_err());
    }
}

#[test]
fn keys_that_cannot_verify_are_left_out_and_the_others_are_read() {
    let odd = vec![
        json!({ "": vec![0; 1000] }),
        json!({ "kty": "AKP", "alg": "ML-DSA-44", "pub": "AA" }),
        json!({ "kty": "oct", "k": "AA" }),
        json!({ "kty": "RSA", "kid": "incomplete" }),
        with("crv", json!("secp256k1")),
        json!({ "kty": "OKP", "crv": "X25519", "x": "AA" }),
        with("use", json!("enc")),
        with("key_ops", json!(["sign", "encrypt"])),
        with("x", json!(7)),
    ];
    assert!(read(odd.clone()).is_empty());
    let mut all = odd;
    all.extend([key(), with("x5c", json!(vec![""; 1000])), with("use", json!("sig")), with("key_ops", json!(["verify"]))]);
    all.extend([with("crv", json!("P-521")), with("kid", json!(1)), with("alg", Value::Null), with("use", json!(true))]);
    assert_eq!(read(all).0.len(), 8);
}

/// The keys and tokens of a file that was made with Node's `crypto`.
fn vectors() -> (Value, Vec<String>) {
    let file: Value = serde_json::from_str(include_str!("keys_vectors.json")).expect("JSON");
    let tokens = file["tokens"].as_array().expect("a list").iter().filter_map(Value::as_str).map(str::to_owned).collect();
    (file, tokens)
}

fn verify(keys: &Keys, token: &str) -> Verification {
    let jwt = Jwt::parse(token).expect("a token");
    keys.verify(&jwt, jwt.asymmetric().expect("a supported algorithm"))
}

#[test]
fn every_algorithm_is_verified_as_another_implementation_signs() {
    let (file, tokens) = vectors();
    let keys: Keys = serde_json::from_value(file).expect("a set of keys");
    assert_eq!((keys.0.len(), tokens.len()), (6, 12));
    for token in tokens {
        let mut jwt = Jwt::parse(&token).expect("a token");
        let algorithm = jwt.asymmetric().expect("a supported algorithm");
        assert_eq!(keys.verify(&jwt, algorithm), Verification::Signed, "{}", jwt.algorithm);
        jwt.signed = &token[..10];
        assert_eq!(keys.verify(&jwt, algorithm), Verification::Forged, "{}", jwt.algorithm);
    }
}

/// Some libraries write a sign byte before numbers, omit leading zeros, or pad base64.
#[test]
fn numbers_of_keys_may_be_written_in_other_lengths() {
    let (mut file, tokens) = vectors();
    let of = |field: &Value| URL_SAFE_NO_PAD.decode(field.as_str().expect("a text")).expect("base64");
    for key in file["keys"].as_array_mut().expect("a list") {
        for name in ["n", "e", "x", "y"] {
            if key[name].is_null() || key["kty"] == "OKP" {
                continue;
            }
            let zeros = of(&key[name]).iter().take_while(|byte| **byte == 0).count();
            assert_eq!(zeros > 0, key["kid"] == "zero" && name == "x");
            let digits = of(&key[name])[zeros..].to_vec();
            let written = if zeros > 0 { digits } else { [vec![0], digits].concat() };
            key[name] = json!(URL_SAFE.encode(written));
        }
    }
    let keys: Keys = serde_json::from_value(file).expect("a set of keys");
    for token in tokens {
        assert_eq!(verify(&keys, &token), Verification::Signed, "{token}");
    }
    // A number with more digits is a different number.
    let long = json!({ "kty": "EC", "crv": "P-256", "x": URL_SAFE_NO_PAD.encode([1; 33]), "y": "AA" });
    let Some(PublicKey::Point(point)) = read(vec![long]).0[0].public() else { panic!("a point") };
    assert_eq!(point.len(), 1 + 33 + 32);
}

/// OpenID Connect Core §10.1.
#[test]
fn a_token_without_a_key_id_needs_an_issuer_with_a_single_key() {
    let (file, tokens) = vectors();
    let keys = |kinds: &[&str]| -> Keys {
        let all = file["keys"].as_array().expect("a list").iter();
        read(all.filter(|key| kinds.contains(&key["kid"].as_str().expect("an id"))).cloned().collect())
    };
    for token in tokens {
        let mut jwt = Jwt::parse(&token).expect("a token");
        let (algorithm, id) = (jwt.asymmetric().expect("a supported algorithm"), jwt.key_id.take().expect("an id"));
        assert_eq!(keys(&[&id]).verify(&jwt, algorithm), Verification::Signed, "{id}");
        assert_eq!(keys(&[&id, "es384", "ed"]).verify(&jwt, algorithm), Verification::Signed, "keys of other types");
        let others = Keys([&keys(&[&id]).0[..], &keys(&[&id]).0[..]].concat());
        assert_eq!(others.verify(&jwt, algorithm), Verification::Ambiguous, "{id}");
    }
}

#[test]
fn a_key_signs_only_with_its_own_algorithm() {
    let may_sign = |key: Value, algorithm, name: &str| read(vec![key]).0[0].may_sign(algorithm, name);
    assert!(may_sign(key(), Algorithm::Es256, "ES256") && may_sign(with("alg", json!("ES256")), Algorithm::Es256, "ES256"));
    assert!(!may_sign(key(), Algorithm::Es384, "ES384") && !may_sign(key(), Algorithm::Rs256, "RS256"));
    assert!(!may_sign(with("alg", json!("ES384")), Algorithm::Es256, "ES256"));
    let okp = |alg: &str| json!({ "kty": "OKP", "crv": "Ed25519", "x": "AA", "alg": alg });
    assert!(may_sign(okp("EdDSA"), Algorithm::EdDsa, "Ed25519") && may_sign(okp("Ed25519"), Algorithm::EdDsa, "EdDSA"));
    assert!(!may_sign(okp("ES256"), Algorithm::EdDsa, "EdDSA"));
}
