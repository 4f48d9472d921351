//! Two concurrent requests remove a user's last two ways to sign in. Each request removes one way.
//! Whichever ways the requests remove, and however they do so, one of the requests is refused.

use serde_json::{Value, json};
use support::provider::Provider;
use support::{Caller, SignedInUser, TestApp};

use super::{NEW, change, password_sign_in};
use crate::auth::oauth_callback::{sign_in, start};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Account,
    Passkey,
    Codes,
    /// A password, which works as long as an email address of the user is used for signing in.
    Password,
}

/// A client's request to remove a way to sign in, with its path and, for a change, its body.
type Removal = (String, Option<Value>);

async fn first(own: &Caller, list: &str) -> String {
    let items = own.get(list).await.json();
    items["items"][0]["id"].as_str().unwrap_or_else(|| panic!("{list}: {items}")).to_owned()
}

/// The requests that remove this way from the signed-in user.
async fn removals(own: &Caller, way: Way) -> [Removal; 2] {
    let me = |field: &str| ("/api/v1/users/me".to_owned(), Some(json!({ field: false })));
    match way {
        Way::Account => {
            let path = format!("/api/v1/oauth-providers/me/{}", first(own, "/api/v1/oauth-providers?user_id=me").await);
            [(path.clone(), None), (path, Some(json!({ "allow_sign_in": false })))]
        }
        Way::Passkey => {
            let path = format!("/api/v1/passkeys/me/{}", first(own, "/api/v1/passkeys?user_id=me").await);
            [(path, None), me("passkey_auth_enabled")]
        }
        Way::Codes => {
            let path = format!("/api/v1/contact-channels/me/{}", first(own, "/api/v1/contact-channels?user_id=me").await);
            [me("otp_auth_enabled"), (path, Some(json!({ "used_for_auth": false })))]
        }
        Way::Password => {
            let path = format!("/api/v1/contact-channels/me/{}", first(own, "/api/v1/contact-channels?user_id=me").await);
            let removal = (path, Some(json!({ "used_for_auth": false })));
            [removal.clone(), removal]
        }
    }
}

/// A user who has exactly these two ways to sign in.
async fn user(app: &TestApp, provider: &Provider, (one, other): (Way, Way), number: u64) -> SignedInUser {
    let email = format!("ada{number}@example.com");
    if one == Way::Account && matches!(other, Way::Codes | Way::Password) {
        sign_in(app, provider, json!({ "sub": email, "email": email, "email_verified": true })).await;
    }
    let user = match other {
        Way::Codes => app.sign_in_by_mail(&email).await,
        Way::Password => with_password(app, &email).await,
        _ => sign_in(app, provider, json!({ "sub": email })).await.0,
    };
    if other == Way::Passkey || one == Way::Passkey {
        app.add_passkey(&user, number).await;
    }
    user
}

/// A user who can sign in with this address and a password, but not with emailed codes.
async fn with_password(app: &TestApp, email: &str) -> SignedInUser {
    let id = app.sign_in_by_mail(email).await.user_id;
    change(app, &id, json!({ "password": NEW, "otp_auth_enabled": false })).await;
    SignedInUser::of(email, &password_sign_in(app, email, NEW).await.json())
}

#[tokio::test(flavor = "multi_thread")]
async fn of_the_last_two_ways_to_sign_in_one_stays() {
    let mut number = 0;
    // Codes and the password have the same address, so removing the address removes both ways.
    let pairs = [
        (Way::Account, Way::Passkey),
        (Way::Account, Way::Codes),
        (Way::Account, Way::Password),
        (Way::Passkey, Way::Codes),
        (Way::Passkey, Way::Password),
    ];
    for ways in pairs {
        for (one, other) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let (app, provider) = start().await;
            app.offer_passkeys().await;
            app.configure(json!({ "config": { "magic_link_enabled": true } })).await;
            for _ in 0..3 {
                number += 1;
                let user = user(&app, &provider, ways, number).await;
                let own = app.signed_in(&user);
                let (one, other) = (removals(&own, ways.0).await[one].clone(), removals(&own, ways.1).await[other].clone());
                let both = [one, other].map(|(path, body)| {
                    let own = app.signed_in(&user);
                    tokio::spawn(async move {
                        match body {
                            None => own.delete(&path).await,
                            Some(body) => own.patch(&path, body).await,
                        }
                    })
                });
                let mut refused = Vec::new();
                for answer in both {
                    let answer = answer.await.unwrap();
                    if answer.status() != 200 {
                        refused.push((answer.status(), answer.code()));
                    }
                }
                assert_eq!(refused, [(409, "LAST_SIGN_IN_METHOD".to_owned())]);
            }
        }
    }
}
