//! Tests of the maximum number of keys, and of which keys count.

use wire::id::UserId;

use super::*;

fn at(hours: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hours)
}

fn key(expires_at: Option<Timestamp>, now: Timestamp) -> OwnedKey {
    let entropy = Entropy::system();
    let owner = Owner::User(UserId::from(entropy.uuid()));
    let text = KeyText::random(&wire::id::ProjectId::internal(), owner, false, &entropy);
    let new = NewKey { description: "ci".to_owned(), is_public: false, scopes: Vec::new(), expires_at };
    OwnedKey::new(&text, new, &entropy, now)
}

#[test]
fn ended_keys_do_not_count_towards_the_maximum() {
    let mut keys = OwnedKeys::default();
    for _ in 0..MAX_KEYS {
        keys.add(key(None, at(0)), at(0)).expect("below the maximum");
    }
    assert_eq!(keys.add(key(None, at(0)), at(0)), Err(KeyCountRefusal));
    let first = keys.iter().next().expect("a key").id;
    keys.get_mut(first).expect("a key").revoke(at(1));
    assert_eq!(keys.add(key(None, at(1)), at(1)), Ok(()));
    assert!(keys.get(first).is_some(), "a revoked key stays visible");
}

#[test]
fn each_of_the_maximum_of_keys_can_be_replaced_and_none_counts_twice() {
    let mut keys = OwnedKeys::default();
    for _ in 0..MAX_KEYS {
        keys.add(key(None, at(0)), at(0)).expect("below the maximum");
    }
    let first = keys.ids();
    for id in &first {
        keys.get_mut(*id).expect("a key").replace(at(24));
        keys.add(key(None, at(0)), at(0)).expect("the replaced key does not count");
        assert_eq!(keys.add(key(None, at(0)), at(0)), Err(KeyCountRefusal));
    }
    assert!(first.iter().all(|id| keys.get(*id).is_some()), "a replaced key is kept while it works");
    let new = keys.iter().next_back().expect("a key").id;
    keys.get_mut(new).expect("a key").replace(at(24));
    assert_eq!(keys.add(key(None, at(0)), at(0)), Err(KeyCountRefusal), "too many work already");
    assert_eq!(keys.add(key(None, at(24)), at(24)), Ok(()), "they have ended");
    assert_eq!(keys.iter().count(), MAX_KEYS + MAX_ENDED);
}

#[test]
fn a_later_end_makes_a_key_count_again() {
    let mut keys = OwnedKeys::default();
    for _ in 0..MAX_KEYS {
        keys.add(key(None, at(0)), at(0)).expect("below the maximum");
    }
    let [replaced, expired] = [keys.ids()[0], keys.ids()[1]];
    keys.get_mut(replaced).expect("a key").replace(at(24));
    assert_eq!(keys.set_expiry(expired, Some(at(1)), at(0)), Ok(()), "it counted before");
    for _ in 0..2 {
        keys.add(key(None, at(1)), at(1)).expect("below the maximum");
    }
    for id in [replaced, expired] {
        assert_eq!(keys.clone().set_expiry(id, None, at(1)), Err(KeyCountRefusal));
        assert_eq!(keys.clone().set_expiry(id, Some(at(1)), at(1)), Ok(()), "it has expired");
    }
    assert_eq!(keys.clone().set_expiry(replaced, Some(at(23)), at(1)), Ok(()), "it ends earlier");
    assert_eq!(keys.clone().set_expiry(replaced, Some(at(25)), at(1)), Err(KeyCountRefusal));
    let active = keys.ids()[2];
    assert_eq!(keys.set_expiry(active, Some(at(100)), at(1)), Ok(()), "an active key counts anyway");
    keys.get_mut(active).expect("a key").revoke(at(1));
    assert_eq!(keys.set_expiry(replaced, None, at(1)), Ok(()));
    assert_eq!(keys.add(key(None, at(1)), at(1)), Err(KeyCountRefusal), "it counts again");
}

#[test]
fn keys_that_ended_long_ago_are_dropped() {
    let mut keys = OwnedKeys::default();
    keys.add(key(Some(at(1)), at(0)), at(0)).expect("below the maximum");
    keys.add(key(None, at(24 * 30)), at(24 * 30)).expect("below the maximum");
    assert_eq!(keys.iter().count(), 2, "29 days and 23 hours are not 30 days");
    keys.add(key(None, at(24 * 31)), at(24 * 31)).expect("below the maximum");
    assert_eq!(keys.iter().count(), 2);
}

#[test]
fn the_number_of_ended_keys_is_bounded() {
    let mut keys = OwnedKeys::default();
    for hour in 0..100 {
        let new = key(Some(at(hour + 1)), at(hour));
        keys.add(new, at(hour)).expect("only one key is active");
    }
    assert_eq!(keys.iter().count(), MAX_ENDED + 1);
}

#[test]
fn a_key_keeps_the_time_of_its_first_revocation() {
    let mut key = key(None, at(0));
    key.revoke(at(1));
    key.revoke(at(2));
    assert_eq!(key.revoked_at, Some(at(1)));
}

#[test]
fn a_use_is_recorded_once_an_hour() {
    let mut key = key(None, at(0));
    assert!(key.is_use_news(at(0)));
    key.last_used_at = Some(at(0));
    assert!(!key.is_use_news(at(0) + SignedDuration::from_mins(59)));
    assert!(key.is_use_news(at(1)));
}
