//! Tests of the ceremonies, with the standard's test vectors, and of the rules about passkeys.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use crypto::webauthn::Refusal as Wrong;
use jiff::Timestamp;
use serde_json::{Value, json};
use wire::entropy::Entropy;
use wire::id::ProjectId;

use crate::passkey::ceremony::{CeremonyRefusal, authenticate, register};
use crate::passkey::challenge::Challenge;
use crate::project::Project;
use crate::project::own_pages::OwnPages;
use crate::project::passkeys::parse_rp_id;
use crate::project::redirect::TrustedDomain;
use crate::text::bytes::Bytes;
use crate::user::User;
use crate::user::passkey::{Assertion, Passkey, Refusal};

const VECTORS: &str = include_str!("w3c-vectors.json");

fn own() -> OwnPages {
    OwnPages::new("https://api.example.com", None).expect("pages")
}

fn project() -> Project {
    let mut project = Project::new(ProjectId::internal(), "Example", Timestamp::UNIX_EPOCH);
    project.config.domains = vec![TrustedDomain { domain: "https://example.org".to_owned(), handler_path: "/handler".to_owned() }];
    project
}

fn bytes(hexadecimal: &Value) -> Vec<u8> {
    base16ct::lower::decode_vec(hexadecimal.as_str().expect("text")).expect("hexadecimal digits")
}

fn encoded(hexadecimal: &Value) -> String {
    URL_SAFE_NO_PAD.encode(bytes(hexadecimal))
}

fn challenge(hexadecimal: &Value) -> Challenge {
    let fresh = Challenge::for_authentication(false, &Entropy::system(), Timestamp::UNIX_EPOCH);
    Challenge { bytes: Bytes(bytes(hexadecimal)), ..fresh }
}

fn registered(vector: &Value) -> Result<Passkey, CeremonyRefusal> {
    let given = &vector["registration"];
    let id = encoded(&given["credential_id"]);
    let response = json!({ "id": id, "rawId": id, "type": "public-key", "response": {
        "clientDataJSON": encoded(&given["clientDataJSON"]), "attestationObject": encoded(&given["attestationObject"]),
    } });
    register(&project(), &own(), &challenge(&given["challenge"]), &response, Entropy::system().uuid().into(), Timestamp::UNIX_EPOCH)
}

fn assertion(vector: &Value, user: &User) -> Value {
    let (given, id) = (&vector["authentication"], encoded(&vector["registration"]["credential_id"]));
    json!({ "id": id, "rawId": id, "type": "public-key", "response": {
        "clientDataJSON": encoded(&given["clientDataJSON"]), "authenticatorData": encoded(&given["authenticatorData"]),
        "signature": encoded(&given["signature"]), "userHandle": URL_SAFE_NO_PAD.encode(user.id.to_string()),
    } })
}

/// The standard's test vectors with an accepted registration, each with a user who has registered
/// that passkey.
fn supported() -> Vec<(User, Value)> {
    let vectors: Value = serde_json::from_str(VECTORS).expect("JSON");
    let user = |vector: &Value| {
        let mut user = User::new(&Entropy::system(), Timestamp::UNIX_EPOCH);
        user.add_passkey(registered(vector).ok()?).expect("a first passkey");
        Some((user, vector.clone()))
    };
    vectors["vectors"].as_array().expect("a list").iter().filter_map(user).collect()
}

#[test]
fn the_vectors_of_the_standard_are_accepted_or_refused_as_expected() {
    let vectors: Value = serde_json::from_str(VECTORS).expect("JSON");
    let refused = |vector: &Value| match vector["name"].as_str().expect("a name") {
        "none-es256-crossOrigin" | "none-es256-topOrigin" => Some(Wrong::CrossOrigin),
        "packed-es384" | "packed-es512" | "packed-ed448" => Some(Wrong::UnsupportedKey),
        _ => None,
    };
    for vector in vectors["vectors"].as_array().expect("a list") {
        let result = registered(vector).map(|passkey| passkey.credential_id.0);
        let expected = refused(vector).map_or_else(|| Ok(bytes(&vector["registration"]["credential_id"])), |wrong| Err(wrong.into()));
        assert_eq!(result, expected, "{}", vector["name"]);
    }
    let supported = supported();
    assert_eq!(supported.len(), 10);
    for (user, vector) in supported {
        let used = authenticate(&project(), &own(), &challenge(&vector["authentication"]["challenge"]), &assertion(&vector, &user), &user);
        assert_eq!(used.map(|used| used.credential_id.0), Ok(bytes(&vector["registration"]["credential_id"])), "{}", vector["name"]);
    }
}

#[test]
fn fields_that_are_null_or_absent_do_not_matter() {
    for (user, vector) in supported() {
        let challenge = challenge(&vector["authentication"]["challenge"]);
        for absent in [None, Some(Value::Null)] {
            let mut response = assertion(&vector, &user);
            for field in ["rawId", "type"] {
                let fields = response.as_object_mut().expect("an object");
                fields.remove(field);
                fields.extend(absent.clone().map(|null| (field.to_owned(), null)));
            }
            let fields = response["response"].as_object_mut().expect("an object");
            fields.remove("userHandle");
            fields.extend(absent.clone().map(|null| ("userHandle".to_owned(), null)));
            assert!(authenticate(&project(), &own(), &challenge, &response, &user).is_ok(), "{}", vector["name"]);
            // Optional fields must be correct if they are present.
            for (field, value) in [("rawId", json!("AAAA")), ("type", json!("password"))] {
                let mut wrong = response.clone();
                wrong[field] = value;
                assert_eq!(authenticate(&project(), &own(), &challenge, &wrong, &user), Err(CeremonyRefusal::Malformed));
            }
            response["response"]["userHandle"] = json!(URL_SAFE_NO_PAD.encode("somebody else"));
            assert_eq!(authenticate(&project(), &own(), &challenge, &response, &user), Err(CeremonyRefusal::Unknown));
        }
    }
}

#[test]
fn a_vector_with_any_changed_byte_is_refused() {
    for (user, vector) in supported() {
        let challenge = challenge(&vector["authentication"]["challenge"]);
        for part in ["clientDataJSON", "authenticatorData", "signature"] {
            let right = bytes(&vector["authentication"][part]);
            for at in 0..right.len() {
                for bit in [1, 0x80] {
                    let mut wrong = right.clone();
                    wrong[at] ^= bit;
                    let mut response = assertion(&vector, &user);
                    response["response"][part] = json!(URL_SAFE_NO_PAD.encode(wrong));
                    assert!(
                        authenticate(&project(), &own(), &challenge, &response, &user).is_err(),
                        "{}: {part}, byte {at}",
                        vector["name"]
                    );
                }
            }
        }
    }
}

#[test]
fn a_key_of_one_vector_does_not_verify_another() {
    let all = supported();
    for (user, vector) in &all {
        let (other, _) = all.iter().find(|(other, _)| other.id != user.id).expect("another vector");
        let mut forged = user.clone();
        forged.passkeys[0].public_key = other.passkeys[0].public_key.clone();
        let challenge = challenge(&vector["authentication"]["challenge"]);
        assert_eq!(authenticate(&project(), &own(), &challenge, &assertion(vector, user), &forged), Err(Wrong::WrongSignature.into()));
    }
}

#[test]
fn a_stored_passkey_is_read_back_and_users_of_earlier_versions_have_none() {
    let (user, _) = supported().remove(0);
    let stored = serde_json::to_value(&user).expect("JSON");
    assert_eq!(serde_json::from_value::<User>(stored.clone()).expect("a user"), user);
    let mut before = stored;
    before.as_object_mut().expect("an object").remove("passkeys");
    assert!(serde_json::from_value::<User>(before).expect("a user stored by an earlier version").passkeys.is_empty());
}

#[test]
fn a_signature_counter_must_grow_once_it_is_above_zero() {
    let (mut user, _) = supported().remove(0);
    let credential_id = user.passkeys[0].credential_id.clone();
    let mut uses = |sign_count| {
        let (is_backup_eligible, is_backed_up) = (false, false);
        let credential_id = credential_id.clone();
        let assertion = Assertion { credential_id, sign_count, is_backup_eligible, is_backed_up, is_user_verified: true };
        user.use_passkey(&assertion, Timestamp::UNIX_EPOCH)
    };
    assert_eq!([0, 0, 3, 9].map(&mut uses), [Ok(()); 4]);
    assert_eq!([9, 8, 0].map(&mut uses), [Err(Refusal::Cloned); 3]);
    assert_eq!(uses(10), Ok(()));
}

#[test]
fn a_relying_party_id_is_a_domain_below_a_public_suffix() {
    for (text, id) in [("example.com", "example.com"), (" App.Example.co.uk", "app.example.co.uk"), ("site.localhost", "site.localhost")] {
        assert_eq!(parse_rp_id(text).as_deref(), Some(id));
    }
    let suffixes = ["com", "co.uk", "github.io", "localhost"];
    let others = [
        "",
        ".",
        "example.com.",
        "https://example.com",
        "example.com:443",
        "example.com/a",
        "a b.com",
        "127.0.0.1",
        "[::1]",
        "*.example.com",
    ];
    for text in suffixes.into_iter().chain(others) {
        assert_eq!(parse_rp_id(text), None, "{text}");
    }
}
