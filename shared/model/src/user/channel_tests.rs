//! Tests of the rules for contact channels: single steps, and random walks that preserve the
//! invariants.

use jiff::Timestamp;
use proptest::prelude::*;
use uuid::Uuid;
use wire::entropy::Entropy;
use wire::id::ChannelId;

use crate::email::Email;
use crate::user::channel::{ChannelPatch, NewChannel, Refusal};
use crate::user::ownership::{Author, Prover};
use crate::user::{Channel, MAX_CHANNELS, User};

fn email(number: u8) -> Email {
    Email::parse(&format!("a{number}@example.com")).expect("an address")
}

fn id(number: u8) -> ChannelId {
    ChannelId::from(Uuid::from_bytes([number; 16]))
}

fn new(number: u8) -> NewChannel {
    NewChannel { value: email(number), used_for_auth: false, is_verified: false, is_primary: false }
}

/// A user with the channels 0 and 1; channel 0 is primary, verified and used for signing in.
fn user() -> User {
    let mut user = User::new(&Entropy::system(), Timestamp::UNIX_EPOCH);
    user.add_channel(id(0), NewChannel { used_for_auth: true, is_verified: true, is_primary: true, ..new(0) }, Author::Server)
        .expect("added");
    user.add_channel(id(1), new(1), Author::Server).expect("added");
    user
}

fn changed(number: u8, patch: ChannelPatch) -> Result<User, Refusal> {
    let mut user = user();
    user.change_channel(id(number), patch, Author::Server).map(|()| user)
}

#[test]
fn a_channel_is_added_last_and_primary_only_on_request() {
    let mut user = user();
    user.add_channel(id(2), new(2), Author::Server).expect("added");
    assert_eq!(user.channels.iter().map(|channel| channel.id).collect::<Vec<_>>(), [id(0), id(1), id(2)]);
    assert_eq!(user.primary().map(|channel| channel.id), Some(id(0)));
    user.add_channel(id(3), NewChannel { is_primary: true, ..new(3) }, Author::Server).expect("added");
    assert_eq!(user.primary().map(|channel| channel.id), Some(id(3)));
}

#[test]
fn a_user_has_each_address_once() {
    assert_eq!(user().add_channel(id(2), new(1), Author::Server), Err(Refusal::Duplicate));
    assert_eq!(changed(1, ChannelPatch { value: Some(email(0)), ..ChannelPatch::default() }), Err(Refusal::Duplicate));
    assert!(changed(1, ChannelPatch { value: Some(email(1)), ..ChannelPatch::default() }).is_ok());
}

#[test]
fn a_user_can_add_fifty_channels() {
    let mut user = user();
    for number in 2..u8::try_from(MAX_CHANNELS).expect("a small number") {
        user.add_channel(id(number), new(number), Author::Server).expect("added");
    }
    assert_eq!(user.add_channel(id(200), new(200), Author::Server), Err(Refusal::TooMany));
    user.remove_channel(id(0)).expect("removed");
    assert_eq!(user.add_channel(id(200), new(200), Author::Server), Ok(()));
}

#[test]
fn a_changed_address_is_unverified_unless_stated() {
    let verified = |patch| changed(0, patch).map(|user| user.channels[0].is_verified);
    assert_eq!(verified(ChannelPatch { value: Some(email(5)), ..ChannelPatch::default() }), Ok(false));
    assert_eq!(verified(ChannelPatch { value: Some(email(0)), ..ChannelPatch::default() }), Ok(true));
    assert_eq!(verified(ChannelPatch { value: Some(email(5)), is_verified: Some(true), ..ChannelPatch::default() }), Ok(true));
    assert_eq!(verified(ChannelPatch { is_verified: Some(false), ..ChannelPatch::default() }), Ok(false));
}

#[test]
fn at_most_one_channel_is_primary() {
    let primary = |number, is_primary| {
        let user = changed(number, ChannelPatch { is_primary: Some(is_primary), ..ChannelPatch::default() }).expect("changed");
        user.primary().map(|channel| channel.id)
    };
    assert_eq!(primary(1, true), Some(id(1)));
    assert_eq!(primary(0, false), None);
    assert_eq!(primary(1, false), Some(id(0)));
}

#[test]
fn removing_the_primary_channel_promotes_no_other() {
    let mut user = user();
    user.remove_channel(id(0)).expect("removed");
    assert_eq!((user.primary(), user.channels.len()), (None, 1));
    assert!(!user.channels[0].used_for_auth);
    assert_eq!(user.remove_channel(id(0)), Err(Refusal::NotFound));
    assert_eq!(user.change_channel(id(0), ChannelPatch::default(), Author::Server), Err(Refusal::NotFound));
}

#[derive(Debug, Clone)]
enum Step {
    Add(u8, u8, [bool; 3]),
    Change(u8, Option<u8>, [Option<bool>; 3]),
    Remove(u8),
    Verify(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let number = 0..6_u8;
    prop_oneof![
        (number.clone(), number.clone(), any::<[bool; 3]>()).prop_map(|(id, value, flags)| Step::Add(id, value, flags)),
        (number.clone(), proptest::option::of(number.clone()), any::<[Option<bool>; 3]>())
            .prop_map(|(id, value, flags)| Step::Change(id, value, flags)),
        number.clone().prop_map(Step::Remove),
        number.prop_map(Step::Verify),
    ]
}

/// Takes a step, and returns whether it was refused.
fn take(user: &mut User, step: Step) -> bool {
    match step {
        Step::Add(number, value, [used_for_auth, is_verified, is_primary]) => {
            // Real ids are random and never used twice.
            let taken = user.channel(id(number)).is_some();
            taken
                || user
                    .add_channel(id(number), NewChannel { value: email(value), used_for_auth, is_verified, is_primary }, Author::Server)
                    .is_err()
        }
        Step::Change(number, value, [used_for_auth, is_verified, is_primary]) => {
            let patch = ChannelPatch { value: value.map(email), used_for_auth, is_verified, is_primary };
            user.change_channel(id(number), patch, Author::Server).is_err()
        }
        Step::Remove(number) => user.remove_channel(id(number)).is_err(),
        Step::Verify(value) => !user.verify_email(&email(value), Prover::Creator),
    }
}

proptest! {
    #[test]
    fn any_changes_leave_at_most_one_primary_and_unique_addresses(steps in prop::collection::vec(step(), 1..60)) {
        let mut user = User::new(&Entropy::system(), Timestamp::UNIX_EPOCH);
        for step in steps {
            let before = user.clone();
            let refused = take(&mut user, step.clone());
            prop_assert!(!refused || user == before, "{step:?} was refused and changed something");
            prop_assert!(user.channels.iter().filter(|channel| channel.is_primary).count() <= 1);
            let mut values: Vec<&Email> = user.channels.iter().map(|channel| &channel.value).collect();
            values.sort();
            values.dedup();
            prop_assert_eq!(values.len(), user.channels.len());
            let others = |user: &User| user.channels.iter().map(|Channel { id, value, used_for_auth, .. }| (*id, value.clone(), *used_for_auth)).collect::<Vec<_>>();
            if let Step::Remove(number) = step {
                let kept: Vec<_> = others(&before).into_iter().filter(|(channel, ..)| *channel != id(number)).collect();
                prop_assert_eq!(others(&user), kept);
            }
        }
    }
}
