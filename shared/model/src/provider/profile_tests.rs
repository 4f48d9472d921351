use serde_json::json;

use crate::provider::catalog::{self, Api, Identity};
use crate::provider::profile::*;

fn api(id: &str) -> Api {
    match catalog::find(id).expect("a provider of the catalog").identity {
        Identity::Api(api) => api,
        Identity::IdToken { .. } => panic!("{id} has no API"),
    }
}

/// Responses as the providers document them, reduced to the fields that are read.
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
        assert_eq!(Fields::OPENID.read(&account), Err(NoAccount), "{account}");
    }
}
