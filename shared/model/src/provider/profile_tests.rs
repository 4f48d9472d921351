use serde_json::json;

use crate::provider::catalog::{self, Api, Identity};
use crate::provider::profile::*;

fn api(id: &str) -> Api {
    match catalog::find(id).expect("a provider in the catalog").identity {
        Identity::Api(api) => api,
        Identity::IdToken { .. } => panic!("{id} has no API"),
    }
}

/// Responses from the providers' documentation, reduced to the fields that are read.
#[test]
fn accounts_are_read_from_the_api_of_each_provider() {
    let cases = [
        ("microsoft", json!({ "id": "a1", "displayName": "Ada", "mail": "Ada@Example.com" }), "a1", Some(false)),
        ("facebook", json!({ "id": "102", "name": "Ada", "email": "ada@example.com" }), "102", Some(false)),
        ("spotify", json!({ "id": "ada", "display_name": "Ada", "email": "ada@example.com", "images": [] }), "ada", Some(false)),
        ("discord", json!({ "id": "8", "username": "Ada", "email": "ada@example.com", "verified": true }), "8", Some(true)),
        ("gitlab", json!({ "id": 1, "name": "Ada", "email": "ada@example.com", "confirmed_at": null }), "1", Some(false)),
        ("linkedin", json!({ "sub": "z", "name": "Ada", "email": "ada@example.com", "email_verified": true }), "z", Some(true)),
        ("x", json!({ "data": { "id": "5", "name": "Ada", "confirmed_email": "ada@example.com" } }), "5", Some(true)),
        ("twitch", json!({ "data": [{ "id": "4", "display_name": "Ada", "email": "ada@example.com" }] }), "4", Some(true)),
        ("github", json!({ "id": 583_231, "login": "Ada", "name": null }), "583231", None),
        ("bitbucket", json!({ "account_id": "557058:x", "display_name": "Ada" }), "557058:x", None),
    ];
    for (id, account, account_id, verified) in cases {
        let profile = api(id).fields.read(&account).expect("an account");
        assert_eq!((profile.account_id.as_str(), profile.name.as_deref()), (account_id, Some("Ada")), "{id}");
        assert_eq!(
            profile.email.map(|email| (email.to_string(), profile.email_verified)),
            verified.map(|v| ("ada@example.com".to_owned(), v)),
            "{id}"
        );
    }
}

#[test]
fn a_mailbox_less_account_of_microsoft_has_the_address_it_signs_in_with() {
    let address = |account: serde_json::Value| {
        let profile = api("microsoft").fields.read(&account).expect("an account");
        assert!(!profile.email_verified);
        profile.email.map(|email| email.to_string())
    };
    let upn = "Ada@contoso.example";
    assert_eq!(address(json!({ "id": "a", "mail": null, "userPrincipalName": upn })).as_deref(), Some("ada@contoso.example"));
    assert_eq!(address(json!({ "id": "a", "mail": "ada@example.com", "userPrincipalName": upn })).as_deref(), Some("ada@example.com"));
    for guest in ["ada_example.com#EXT#@contoso.example", "ada_example.com#ext#@contoso.example", "no address"] {
        assert_eq!(address(json!({ "id": "a", "mail": null, "userPrincipalName": guest })), None, "{guest}");
    }
    let home = json!({ "id": "a", "mail": "ada@example.com", "userPrincipalName": "ada_example.com#EXT#@contoso.example" });
    assert_eq!(address(home).as_deref(), Some("ada@example.com"));
}

#[test]
fn a_name_may_come_in_parts() {
    let name = |claims: serde_json::Value| Fields::OPENID.read(&claims).expect("an account").name;
    assert_eq!(name(json!({ "sub": "1", "given_name": "Ada", "family_name": "Lovelace" })).as_deref(), Some("Ada Lovelace"));
    assert_eq!(name(json!({ "sub": "1", "family_name": "Lovelace", "preferred_username": "ada" })).as_deref(), Some("Lovelace"));
    assert_eq!(name(json!({ "sub": "1", "name": " ", "given_name": "", "preferred_username": "ada" })).as_deref(), Some("ada"));
    assert_eq!(name(json!({ "sub": "1", "name": "Countess", "given_name": "Ada" })).as_deref(), Some("Countess"));
    assert_eq!(name(json!({ "sub": "1", "given_name": 1 })), None);
}

#[test]
fn the_primary_address_of_a_list_is_read() {
    let github = json!([{ "email": "old@example.com", "primary": false, "verified": true }, { "email": "ada@example.com", "primary": true, "verified": false }]);
    let bitbucket = json!({ "values": [{ "email": "ada@example.com", "is_primary": true, "is_confirmed": true }] });
    for (id, answer, verified) in [("github", github, false), ("bitbucket", bitbucket, true)] {
        let (_, addresses) = api(id).addresses.expect("addresses");
        assert_eq!(
            addresses.primary(&answer).map(|(email, verified)| (email.to_string(), verified)),
            Some(("ada@example.com".to_owned(), verified))
        );
        assert_eq!(addresses.primary(&json!({ "message": "Not Found" })), None);
    }
}

#[test]
fn a_profile_without_a_valid_account_id_is_rejected() {
    for account in [json!({}), json!({ "sub": null }), json!({ "sub": "" }), json!([]), json!({ "sub": "x".repeat(256) })] {
        assert_eq!(Fields::OPENID.read(&account), Err(ProfileError), "{account}");
    }
}
