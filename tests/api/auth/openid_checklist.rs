//! A list of what OpenID issuers may and may not send. The list follows the names of the checks and
//! tests of npm's `openid-client` (5 and 6) and `oauth4webapi`. Gatelet accepts what these packages
//! accept by default, and refuses what OpenID Connect forbids.
//!
//! There is one exception. Version 6 does not verify signatures, because the token comes from the
//! issuer over TLS (OpenID Connect Core §3.1.3.7 step 6). Gatelet always verifies signatures.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::TestApp;
use support::provider::Part::{Claims, Header, Keys, Metadata, TokenAnswer, Userinfo};
use support::provider::{CLIENT_ID, Key, Misbehaviour, Part, Provider};
use url::Url;

use super::oauth_callback::{begin, error_of, flow, landed, start};

/// The name of the check, the part of the issuer that the check edits, the changed fields of this
/// part, and whether the account signs in.
type Row = (&'static str, Part, Value, bool);

/// An account whose name and address are in the ID token if `whole` is set, and otherwise only in
/// userinfo.
fn account(number: usize, whole: bool) -> Value {
    let email = format!("ada{number}@example.com");
    json!({ "sub": format!("acme|{number}"), "email": email, "email_verified": true, "name": "Ada", "userinfo": !whole })
}

fn is_signed_in(url: &Url) -> bool {
    if url.query_pairs().any(|(name, _)| name == "code") {
        return true;
    }
    let code = error_of(url);
    let known = ["OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE", "OAUTH_PROVIDER_MISCONFIGURED", "INVALID_AUTHORIZATION_CODE"];
    assert!(known.contains(&code.as_str()), "{code}");
    false
}

/// Signs in with a new account for each row. The service reads the issuer's documents again for
/// each row that changes them.
async fn check(app: &TestApp, provider: &Provider, rows: impl IntoIterator<Item = Row>, whole: bool) {
    let mut wrong = Vec::new();
    for (number, (name, part, fields, accepted)) in rows.into_iter().enumerate() {
        if matches!(part, Metadata | Keys) {
            app.advance(SignedDuration::from_hours(2));
        }
        provider.edit(part, fields);
        let url = flow(app, provider, account(number, whole), &[]).await;
        if is_signed_in(&url) != accepted {
            wrong.push(format!("{name}: {url}"));
        }
        provider.undo_edits();
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The rows about the claims of ID tokens, at this time in seconds.
fn claims(now: i64, issuer: &str) -> Vec<Row> {
    let both = json!([CLIENT_ID, "another client"]);
    let row = |name, fields, accepted| (name, Claims, fields, accepted);
    vec![
        row("iss is missing", json!({ "iss": null }), false),
        row("iss is not a string", json!({ "iss": [issuer] }), false),
        row("iss of another issuer", json!({ "iss": format!("{issuer}/other") }), false),
        row("iss differs by a slash at the end", json!({ "iss": format!("{issuer}/") }), false),
        row("sub is missing", json!({ "sub": null }), false),
        row("sub is not a string", json!({ "sub": 7 }), false),
        row("sub is longer than 255 characters", json!({ "sub": "x".repeat(256) }), false),
        row("sub has 255 characters", json!({ "sub": "x".repeat(255) }), true),
        row("aud is missing", json!({ "aud": null }), false),
        row("aud is not a string", json!({ "aud": { "client": CLIENT_ID } }), false),
        row("aud of another client", json!({ "aud": "another client" }), false),
        row("aud is an empty list", json!({ "aud": [] }), false),
        row("aud lists only others", json!({ "aud": ["another client"] }), false),
        row("aud lists only the client", json!({ "aud": [CLIENT_ID] }), true),
        row("aud lists others, and azp is missing", json!({ "aud": both }), false),
        row("aud lists others, and azp is another", json!({ "aud": both, "azp": "another client" }), false),
        row("aud lists others, and azp is the client", json!({ "aud": both, "azp": CLIENT_ID }), true),
        row("azp is the client", json!({ "azp": CLIENT_ID }), true),
        row("azp is another, with a single aud", json!({ "azp": "an app of the same maker" }), true),
        row("exp is missing", json!({ "exp": null }), false),
        row("exp is not a number", json!({ "exp": (now + 300).to_string() }), false),
        row("exp is in the past", json!({ "exp": now - 61 }), false),
        row("exp is within the tolerance", json!({ "exp": now - 30 }), true),
        row("exp has an exponent", json!({ "exp": 1e11 }), true),
        row("iat is missing", json!({ "iat": null }), false),
        row("iat is not a number", json!({ "iat": now.to_string() }), false),
        row("iat is in the future", json!({ "iat": now + 600 }), true),
        row("iat is long ago", json!({ "iat": now - 86_400 }), true),
        row("iat is negative", json!({ "iat": -1 }), true),
        row("nbf is not a number", json!({ "nbf": "0" }), false),
        row("nbf is in the future", json!({ "nbf": now + 61 }), false),
        row("nbf is within the tolerance", json!({ "nbf": now + 30 }), true),
        row("nonce is missing", json!({ "nonce": null }), false),
        row("nonce of another flow", json!({ "nonce": "of another flow" }), false),
        row("nonce is not a string", json!({ "nonce": 7 }), false),
        row("auth_time, acr, amr and unknown claims", json!({ "auth_time": 0, "acr": "0", "amr": ["pwd"], "cat": { "of": [] } }), true),
        row("at_hash, c_hash and s_hash, which only hybrid flows need", json!({ "at_hash": "x", "c_hash": "x", "s_hash": "x" }), true),
    ]
}

/// The rows about the headers of ID tokens. The tokens are signed with ES256, no matter what their
/// headers say.
fn headers() -> Vec<Row> {
    let row = |name, fields, accepted| (name, Header, fields, accepted);
    vec![
        row("alg is missing", json!({ "alg": null }), false),
        row("alg is none", json!({ "alg": "none" }), false),
        row("alg is not a string", json!({ "alg": ["ES256"] }), false),
        row("alg of another type of key", json!({ "alg": "RS256" }), false),
        row("alg is symmetric", json!({ "alg": "HS256" }), false),
        row("alg in lower case", json!({ "alg": "es256" }), false),
        row("crit is empty", json!({ "crit": [] }), false),
        row("crit names an extension", json!({ "crit": ["exp"], "exp": 1 }), false),
        row("kid is missing, with a single key", json!({ "kid": null }), true),
        row("kid of no key", json!({ "kid": "of no key" }), false),
        row("kid is not a string", json!({ "kid": 7 }), false),
        row("typ is missing", json!({ "typ": null }), true),
        row("typ is another", json!({ "typ": "id_token+jwt" }), true),
        row("a key in the header is not used", json!({ "jwk": Key::new(99).jwk(), "jku": "https://evil.example", "x5c": [""] }), true),
    ]
}

/// The rows about the responses of the token endpoint.
fn answers() -> Vec<Row> {
    let row = |name, fields, accepted| (name, TokenAnswer, fields, accepted);
    vec![
        row("access_token is missing", json!({ "access_token": null }), false),
        row("access_token is not a string", json!({ "access_token": 7 }), false),
        row("token_type in another case", json!({ "token_type": "bEARER" }), true),
        row("token_type is another", json!({ "token_type": "mac" }), false),
        row("expires_in is missing", json!({ "expires_in": null }), true),
        row("expires_in is a string", json!({ "expires_in": "3600" }), true),
        row("expires_in has a fraction", json!({ "expires_in": 3600.5 }), true),
        row("expires_in is 0", json!({ "expires_in": 0 }), true),
        row("refresh_token is missing", json!({ "refresh_token": null }), true),
        row("scope is missing", json!({ "scope": null }), true),
        row("scope is a string", json!({ "scope": "openid email" }), true),
        row("id_token is missing", json!({ "id_token": null }), false),
        row("id_token is not a string", json!({ "id_token": {} }), false),
        row("id_token is empty", json!({ "id_token": "" }), false),
        row("id_token is not a JWT", json!({ "id_token": "a.b" }), false),
        row("id_token is encrypted", json!({ "id_token": "a.b.c.d.e" }), false),
        row("unknown fields", json!({ "session_state": "x", "not_before": {}, "token": [1] }), true),
        row("an empty error beside the tokens", json!({ "error": "", "error_description": "" }), true),
        row("an error", json!({ "error": "invalid_grant" }), false),
    ]
}

/// The rows about userinfo, as JSON or as a JWT.
fn userinfo() -> Vec<Row> {
    let row = |name, fields, accepted| (name, Userinfo, fields, accepted);
    vec![
        row("sub is missing", json!({ "sub": null }), false),
        row("sub of another account", json!({ "sub": "another" }), false),
        row("sub is not a string", json!({ "sub": 7 }), false),
        row("no address", json!({ "email": null, "email_verified": null }), true),
        row("claims that have another form", json!({ "email": ["x"], "name": 7, "address": { "locality": "x" } }), true),
    ]
}

/// The additional claims of a signed userinfo response (OpenID Connect Core §5.3.2).
fn signed_userinfo(now: i64) -> Vec<Row> {
    let row = |name, fields, accepted| (name, Userinfo, fields, accepted);
    let header = |name, fields, accepted| (name, Header, fields, accepted);
    let mut rows = vec![
        row("iss is missing", json!({ "iss": null }), true),
        row("iss of another issuer", json!({ "iss": "https://another.example" }), false),
        row("aud is missing", json!({ "aud": null }), true),
        row("aud of another client", json!({ "aud": "another client" }), false),
        row("aud lists others, too", json!({ "aud": ["another client", CLIENT_ID] }), true),
        row("exp is in the past", json!({ "exp": now - 61 }), false),
        row("exp is not a number", json!({ "exp": "x" }), false),
        row("iat is not a number", json!({ "iat": "x" }), false),
        row("nbf is in the future", json!({ "nbf": now + 61 }), false),
        row("exp, iat and nbf", json!({ "exp": now + 300, "iat": now, "nbf": now }), true),
    ];
    rows.extend(userinfo());
    // The ID token has the same header, so these rows fail even if the userinfo response is
    // accepted.
    rows.extend([header("alg is none", json!({ "alg": "none" }), false), header("crit is empty", json!({ "crit": [] }), false)]);
    rows
}

/// The rows about the keys of an issuer that signs with this key.
fn keys(own: &Value) -> Vec<Row> {
    let with = |name: &str, value: Value| {
        let mut key = own.clone();
        key[name] = value;
        key
    };
    let row = |name, keys: Value, accepted| (name, Keys, json!({ "keys": keys }), accepted);
    let other = Key::new(50).jwk();
    vec![
        row("keys are missing", Value::Null, false),
        row("keys is not a list", own.clone(), false),
        row("keys has other values than objects", json!(["key", own]), false),
        row("keys is empty", json!([]), false),
        row("several keys with ids", json!([other, own]), true),
        row("keys of unknown types", json!([{ "kty": "AKP", "alg": "ML-DSA-44" }, { "kty": 7 }, {}, own]), true),
        row("use is missing", json!([with("use", Value::Null)]), true),
        row("use is enc", json!([with("use", json!("enc"))]), false),
        row("key_ops has verify", json!([with("key_ops", json!(["verify"]))]), true),
        row("key_ops lacks verify", json!([with("key_ops", json!(["encrypt"]))]), false),
        row("alg is missing", json!([with("alg", Value::Null)]), true),
        row("alg is another", json!([with("alg", json!("ES384"))]), false),
        row("crv is another", json!([with("crv", json!("P-384"))]), false),
        row("kid is another", json!([with("kid", json!("another"))]), false),
    ]
}

/// An issuer's metadata.
fn metadata(issuer: &str) -> Vec<Row> {
    let row = |name, fields, accepted| (name, Metadata, fields, accepted);
    vec![
        row("userinfo_endpoint is missing", json!({ "userinfo_endpoint": null }), true),
        row("id_token_signing_alg_values_supported is missing", json!({ "id_token_signing_alg_values_supported": null }), true),
        row("several signing algorithms", json!({ "id_token_signing_alg_values_supported": ["none", "RS256", "ES256"] }), true),
        row("unknown fields", json!({ "claims_supported": null, "mtls_endpoint_aliases": {}, "op_policy_uri": "" }), true),
        row("token_endpoint_auth_methods_supported is missing", json!({ "token_endpoint_auth_methods_supported": null }), true),
        row(
            "the issuer announces itself, and its answer has no iss",
            json!({ "authorization_response_iss_parameter_supported": true }),
            false,
        ),
        row("userinfo_endpoint of another host", json!({ "userinfo_endpoint": format!("{issuer}/userinfo?tenant=7") }), true),
    ]
}

#[tokio::test]
async fn claims_and_headers_of_id_tokens_are_judged_as_openid_client_does() {
    let (app, provider) = start().await;
    let rows = claims(app.now().as_second(), &provider.issuer).into_iter().chain(headers());
    check(&app, &provider, rows, true).await;
}

#[tokio::test]
async fn answers_of_the_token_endpoint_are_judged_as_openid_client_does() {
    let (app, provider) = start().await;
    check(&app, &provider, answers(), true).await;
}

#[tokio::test]
async fn keys_and_metadata_are_judged_as_openid_client_does() {
    let (app, provider) = start().await;
    let rows = keys(&provider.key().jwk()).into_iter().chain(metadata(&provider.issuer));
    check(&app, &provider, rows, true).await;
}

#[tokio::test]
async fn userinfo_is_judged_as_openid_client_does() {
    let (app, provider) = start().await;
    check(&app, &provider, userinfo(), false).await;
    let (app, provider) = start().await;
    provider.misbehave(Misbehaviour::SignedUserinfo);
    check(&app, &provider, signed_userinfo(app.now().as_second()), false).await;
}

#[tokio::test]
async fn a_token_names_its_key_if_the_issuer_has_several() {
    let (app, provider) = start().await;
    let nameless = |number| Key::new(number).nameless().jwk();
    for (published, accepted) in [(json!([nameless(1)]), true), (json!([nameless(1), nameless(2)]), false)] {
        app.advance(SignedDuration::from_hours(2));
        provider.use_key(Key::new(1).nameless());
        provider.edit(Keys, json!({ "keys": published }));
        assert_eq!(is_signed_in(&flow(&app, &provider, account(0, true), &[]).await), accepted, "{published}");
    }
}

#[tokio::test]
async fn an_id_token_with_an_address_suffices_whatever_userinfo_answers() {
    let (app, provider) = start().await;
    for (number, fault) in [
        Misbehaviour::UserinfoIsPage,
        Misbehaviour::ForgedUserinfo,
        Misbehaviour::UserinfoAnswers(204),
        Misbehaviour::UserinfoAnswers(302),
        Misbehaviour::UserinfoAnswers(405),
        Misbehaviour::UserinfoAnswers(500),
    ]
    .into_iter()
    .enumerate()
    {
        provider.misbehave(fault);
        for (number, elsewhere, accepted) in [(2 * number, json!(["name"]), true), (2 * number + 1, json!(["name", "email"]), false)] {
            let mut ada = account(number, true);
            ada["userinfo"] = elsewhere;
            assert_eq!(is_signed_in(&flow(&app, &provider, ada, &[]).await), accepted, "{fault:?}");
        }
    }
    // Claims of another account show that the access token belongs to another person.
    provider.misbehave(Misbehaviour::OtherUserinfo);
    let mut ada = account(99, true);
    ada["userinfo"] = json!(["name"]);
    assert!(!is_signed_in(&flow(&app, &provider, ada, &[]).await));
}

#[tokio::test]
async fn parameters_of_the_callback_are_judged_as_openid_client_does() {
    let (app, provider) = start().await;
    let issuer = provider.issuer.clone();
    for (number, (name, more, accepted)) in [
        ("iss of the issuer", format!("iss={issuer}"), true),
        ("iss of another issuer", "iss=https://another.example".to_owned(), false),
        ("iss differs by a slash at the end", format!("iss={issuer}/"), false),
        ("unknown parameters", "session_state=x&scope=openid&hd=example.com&prompt=none".to_owned(), true),
    ]
    .into_iter()
    .enumerate()
    {
        let (code, state) = provider.allow(&app, &begin(&app, &[]).await, account(number, true));
        let path = format!("/api/v1/auth/oauth/callback/acme?code={code}&state={state}&{more}");
        let url = landed(&app.anonymous().get(&path).await);
        assert_eq!(is_signed_in(&url), accepted, "{name}: {url}");
    }
}
