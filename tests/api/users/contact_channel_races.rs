//! Contact channels during concurrent changes and long random walks. The claims of addresses always
//! match the channels that are used for signing in.

use std::collections::BTreeMap;

use model::email::Email;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use support::{SignedInUser, TestApp};
use tokio::task::JoinSet;

use super::contact_channels::{PATH, add, channels, new};

fn path_of(channel: &Value) -> String {
    format!("{PATH}/{}/{}", channel["user_id"].as_str().unwrap(), channel["id"].as_str().unwrap())
}

async fn sign_up_many(app: &TestApp, count: usize) -> Vec<SignedInUser> {
    let mut users = Vec::with_capacity(count);
    for number in 0..count {
        users.push(app.sign_up(&format!("user{number}@example.com")).await);
    }
    users
}

/// Asserts that no user has two primary channels or the same address twice, and that an address
/// signs in at most one user. Also asserts that the claims of `addresses` match the channels.
async fn assert_consistent(app: &TestApp, users: &[SignedInUser], addresses: &[String]) {
    let mut expected: BTreeMap<String, (String, bool)> = BTreeMap::new();
    for user in users {
        let channels = channels(app, &user.user_id).await;
        assert!(channels.iter().filter(|channel| channel["is_primary"] == true).count() <= 1, "{channels:?}");
        let mut values: Vec<&str> = channels.iter().map(|channel| channel["value"].as_str().unwrap()).collect();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values.len(), channels.len(), "{channels:?}");
        for channel in channels.iter().filter(|channel| channel["used_for_auth"] == true) {
            let value = channel["value"].as_str().unwrap().to_owned();
            let other = expected.insert(value.clone(), (user.user_id.clone(), channel["is_verified"] == true));
            assert!(other.is_none(), "two users sign in with {value}");
        }
    }
    for address in addresses {
        let claim = app.app.store.email_claim(app.project_id(), &Email::parse(address).unwrap()).await.unwrap();
        let claim = claim.map(|claim| (claim.user_id.to_string(), claim.is_verified));
        assert_eq!(claim.as_ref(), expected.get(address), "{address}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_fifty_concurrent_claims_of_an_address_one_succeeds() {
    let app = TestApp::start().await;
    let users = sign_up_many(&app, 50).await;
    let mut race = JoinSet::new();
    for user in &users {
        let caller = app.server();
        let mut body = new(&user.user_id, "wanted@example.com");
        body["used_for_auth"] = json!(true);
        race.spawn(async move { caller.post(PATH, body).await });
    }
    let answers = race.join_all().await;
    let (won, lost): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status() == 201);
    assert_eq!(won.len(), 1);
    for answer in lost {
        assert_eq!((answer.status(), answer.code().as_str()), (409, "CONTACT_CHANNEL_ALREADY_USED_FOR_AUTH_BY_SOMEONE_ELSE"));
    }
    assert_eq!(app.sign_in("wanted@example.com").await.user_id, won[0].json()["user_id"].as_str().unwrap());
    assert_consistent(&app, &users, &["wanted@example.com".to_owned()]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_concurrent_primary_switch_and_removal_stay_consistent() {
    let app = TestApp::start().await;
    let users = sign_up_many(&app, 12).await;
    for user in &users {
        let caller = app.signed_in(user);
        let second = add(&caller, new("me", &format!("second-{}@example.com", &user.user_id[..8]))).await;
        let path = path_of(&second);
        let (switched, removed) = tokio::join!(caller.patch(&path, json!({ "is_primary": true })), caller.delete(&path));
        assert_eq!(removed.status(), 200, "{}", removed.text());
        let channels = channels(&app, &user.user_id).await;
        assert_eq!(channels.len(), 1);
        // If the primary channel was switched first, the removal removed the new primary channel.
        // If the switch came second, it did not find the channel, and left the old channel primary.
        let expected = match switched.status() {
            200 => false,
            404 => true,
            status => panic!("{status}: {}", switched.text()),
        };
        assert_eq!(channels[0]["is_primary"], expected);
    }
    assert_consistent(&app, &users, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_primary_switches_leave_one_primary_channel() {
    let app = TestApp::start().await;
    let user = app.sign_up("ada@example.com").await;
    let caller = app.signed_in(&user);
    let (mut race, mut added) = (JoinSet::new(), Vec::new());
    for number in 0..4 {
        added.push(add(&caller, new("me", &format!("ada{number}@example.com"))).await);
    }
    for channel in added {
        let caller = caller.clone();
        race.spawn(async move { caller.patch(&path_of(&channel), json!({ "is_primary": true })).await });
    }
    for answer in race.join_all().await {
        assert_eq!(answer.status(), 200, "{}", answer.text());
    }
    let primary = channels(&app, &user.user_id).await.iter().filter(|channel| channel["is_primary"] == true).count();
    assert_eq!(primary, 1);
}

/// A random request about a user's channels.
async fn stumble(app: &TestApp, users: &[SignedInUser], addresses: &[String], random: [usize; 8]) {
    let [user, action, channel, address, auth, primary, verified, change] = random;
    let user = &users[user % users.len()];
    let own = channels(app, &user.user_id).await;
    let address = &addresses[address % addresses.len()];
    let body = json!({ "used_for_auth": auth % 2 == 0, "is_primary": primary % 2 == 0, "is_verified": verified % 2 == 0 });
    let answer = if action % 3 == 0 || own.is_empty() {
        let mut new = body;
        new["user_id"] = json!(user.user_id);
        new["type"] = json!("email");
        new["value"] = json!(address);
        app.server().post(PATH, new).await
    } else if action % 3 == 1 {
        let mut patch = body;
        if change % 2 == 0 {
            patch["value"] = json!(address);
        }
        app.server().patch(&path_of(&own[channel % own.len()]), patch).await
    } else {
        app.server().delete(&path_of(&own[channel % own.len()])).await
    };
    assert!([200, 201, 404, 409].contains(&answer.status()), "{}", answer.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn claims_and_channels_agree_after_concurrent_changes() {
    let app = TestApp::start().await;
    let users = sign_up_many(&app, 3).await;
    let addresses: Vec<String> = (0..5).map(|number| format!("user{number}@example.com")).collect();
    let mut random = ChaCha20Rng::seed_from_u64(7);
    let mut any = || usize::try_from(random.next_u32()).unwrap();
    for _ in 0..40 {
        let steps: [[usize; 8]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| any()));
        let [one, two, three] = steps.map(|step| stumble(&app, &users, &addresses, step));
        tokio::join!(one, two, three);
        assert_consistent(&app, &users, &addresses).await;
    }
}
