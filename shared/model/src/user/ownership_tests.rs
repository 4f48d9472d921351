use jiff::Timestamp;
use wire::entropy::Entropy;
use wire::id::ChannelId;

use crate::email::Email;
use crate::provider::account::ProviderAccount;
use crate::user::channel::ChannelPatch;
use crate::user::ownership::*;
use crate::user::standing::Standing;
use crate::user::{Channel, User};

fn email(text: &str) -> Email {
    Email::parse(text).expect("an address")
}

fn id() -> ChannelId {
    ChannelId::from(Entropy::system().uuid())
}

fn channel(value: &str, is_verified: bool, standing: Standing) -> Channel {
    Channel { used_for_auth: true, is_verified, ..Channel::new(id(), email(value), standing) }
}

/// An account with the unverified address `ada@example.com`, in which both flags for emailed codes
/// are set. An attacker has added other addresses and a provider account to the account.
fn prepared() -> User {
    let mut user = User::new(&Entropy::system(), Timestamp::UNIX_EPOCH);
    user.add_primary_email(&Entropy::system(), email("ada@example.com"), false);
    user.channels.push(channel("eve@example.com", true, Standing::Wished));
    user.channels.push(channel("bob@example.com", false, Standing::Wished));
    user.otp_enabled = true;
    user.otp_refused = true;
    user.provider_accounts.push(ProviderAccount {
        id: Entropy::system().uuid().into(),
        provider_id: "github".to_owned(),
        issuer: None,
        account_id: "1".to_owned(),
        email: None,
        allow_sign_in: true,
        allow_connected_accounts: true,
    });
    user
}

#[test]
fn a_first_proof_by_a_stranger_removes_everything_prepared() {
    let (mut user, fresh) = (prepared(), id());
    let before = user.clone();
    assert_eq!(user.prove(&email("ada@example.com"), Prover::Stranger, fresh), Some(Proof::First));
    let [only] = user.channels.as_slice() else { panic!("{:?}", user.channels) };
    assert_eq!((only.id, only.value.as_str(), only.is_verified, only.is_primary), (fresh, "ada@example.com", true, true));
    assert!(user.password.is_none() && user.totp.is_none() && user.provider_accounts.is_empty());
    assert!(!user.otp_enabled && !user.otp_refused);
    assert!(user.session_epoch > before.session_epoch && user.credential_epoch > before.credential_epoch);
    assert_eq!(user.kept_session, None);
}

#[test]
fn the_creator_and_a_second_proof_remove_nothing() {
    let mut user = prepared();
    assert_eq!(user.prove(&email("ada@example.com"), Prover::Creator, id()), Some(Proof::Confirmed));
    let mut expected = prepared();
    expected.channels[0].is_verified = true;
    assert_eq!((user.channels.len(), user.credential_epoch, user.session_epoch), (3, 0, 0));
    let proved = user.clone();
    assert_eq!(user.prove(&email("ada@example.com"), Prover::Stranger, id()), Some(Proof::Known));
    assert_eq!(user, proved);
}

#[test]
fn a_verification_without_a_session_settles_nothing() {
    let ada = email("ada@example.com");
    let mut user = prepared();
    assert!(user.verify_email(&ada, Prover::Stranger));
    assert!(user.channels[0].is_verified && !user.channels[0].is_proved());
    assert_eq!(user.unproved().collect::<Vec<_>>(), [&ada]);
    let (mut taken, mut kept, mut again) = (user.clone(), user.clone(), user.clone());
    assert_eq!(taken.prove(&ada, Prover::Stranger, id()), Some(Proof::First));
    assert_eq!(taken.channels.len(), 1);
    assert_eq!(kept.prove(&ada, Prover::Creator, id()), Some(Proof::Confirmed));
    assert_eq!(kept.prove(&ada, Prover::Stranger, id()), Some(Proof::Known));
    // Verifying the address again in a session of the account makes it proved; a proved address
    // stays proved.
    assert!(again.verify_email(&ada, Prover::Creator) && again.channels[0].is_proved());
    assert!(again.verify_email(&ada, Prover::Stranger) && again.channels[0].is_proved());
    // A server's declaration also makes the address proved; an address that replaces it is not
    // verified.
    let id = user.channels[0].id;
    let patch = ChannelPatch { is_verified: Some(true), ..ChannelPatch::default() };
    let mut vouched = user.clone();
    vouched.change_channel(id, patch, Author::Server).expect("a change");
    assert!(vouched.channels[0].is_proved());
    let other = ChannelPatch { value: Some(email("other@example.com")), ..ChannelPatch::default() };
    user.change_channel(id, other, Author::User).expect("a change");
    assert!(!user.channels[0].is_verified && !user.channels[0].is_unproved);
}

#[test]
fn an_address_verified_without_a_session_is_confirmed_by_a_proof() {
    let (ada, bob) = (email("ada@example.com"), email("bob@example.com"));
    for is_further in [false, true] {
        let mut user = prepared();
        if is_further {
            assert!(user.verify_email(&ada, Prover::Creator));
        } else {
            user.channels.remove(1);
        }
        assert!(user.verify_email(&bob, Prover::Stranger));
        let is_confirmed = |user: &User| user.channel_of(&bob).expect("a channel").is_confirmed();
        let is_proved = user.channel_of(&bob).expect("a channel").is_proved();
        assert_eq!((is_proved, is_confirmed(&user)), (is_further, false));
        let (mut again, mut proved) = (user.clone(), user.clone());
        assert!(again.verify_email(&bob, Prover::Creator) && is_confirmed(&again));
        proved.prove(&bob, Prover::Stranger, id()).expect("a proof");
        assert!(is_confirmed(&proved));
        // A later click on the link does not undo the owner's proof.
        assert!(proved.verify_email(&bob, Prover::Stranger) && is_confirmed(&proved));
        let vouched = ChannelPatch { is_verified: Some(true), ..ChannelPatch::default() };
        user.change_channel(user.channel_of(&bob).expect("a channel").id, vouched, Author::Server).expect("a change");
        assert!(is_confirmed(&user));
    }
}

#[test]
fn the_first_verified_address_is_unproved_even_if_it_was_added() {
    let bob = email("bob@example.com");
    let mut user = prepared();
    user.channels.remove(1);
    user.verify_email(&bob, Prover::Stranger);
    assert!(user.channels[1].signs_in());
    assert_eq!(user.prove(&bob, Prover::Stranger, id()), Some(Proof::First));
}

/// If an added address could replace the owner, an intruder with a stolen session could become the
/// owner of the account.
#[test]
fn an_address_that_was_added_to_a_verified_one_does_not_replace_the_owner() {
    let (ada, bob) = (email("ada@example.com"), email("bob@example.com"));
    for prover in [Prover::Stranger, Prover::Creator] {
        let mut user = prepared();
        user.verify_email(&ada, prover);
        user.verify_email(&bob, Prover::Stranger);
        assert!(user.channels[2].is_proved());
        assert_eq!(user.prove(&bob, Prover::Stranger, id()), Some(Proof::Known));
    }
    // The sign-up address still belongs to its recipient, regardless of what was added to the
    // account before.
    let mut user = prepared();
    user.verify_email(&bob, Prover::Creator);
    user.verify_email(&ada, Prover::Stranger);
    assert_eq!(user.prove(&ada, Prover::Stranger, id()), Some(Proof::First));
}

#[test]
fn only_an_account_that_a_server_created_and_nobody_entered_was_not_used() {
    let untouched = || {
        let mut user = User::new(&Entropy::system(), Timestamp::UNIX_EPOCH);
        user.channels.push(channel("ada@example.com", false, Standing::Assigned));
        user
    };
    assert!(!untouched().may_have_been_used());
    let changes: [fn(&mut User); 6] = [
        |user| user.channels[0].standing = Standing::Provisional,
        |user| user.channels.push(channel("eve@example.com", true, Standing::Assigned)),
        |user| user.provider_accounts = prepared().provider_accounts,
        |user| user.end_sessions(None),
        |user| user.raise_epoch(),
        |user| user.sign_up(Timestamp::UNIX_EPOCH),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut user = untouched();
        change(&mut user);
        assert!(user.may_have_been_used(), "{number}");
    }
}

#[test]
fn only_an_address_that_signs_in_can_be_proved() {
    let mut user = prepared();
    let before = user.clone();
    for other in ["bob@example.com", "nobody@example.com"] {
        assert_eq!(user.prove(&email(other), Prover::Stranger, id()), None);
    }
    assert_eq!(user, before);
}

#[test]
fn the_first_address_counts_as_original_until_a_way_in_is_lost() {
    let began = |user: &User, address: &str| user.channel_of(&email(address)).is_some_and(|channel| user.began_with(channel));
    let mut user = prepared();
    assert!(began(&user, "ada@example.com") && !began(&user, "bob@example.com"));
    let id = user.channels[0].id;
    user.channels.truncate(1);
    user.passkeys.clear();
    user.provider_accounts.clear();
    let patch = ChannelPatch { value: Some(email("eve@example.com")), ..ChannelPatch::default() };
    assert_eq!(user.change_channel(id, patch, Author::User), Ok(()));
    assert!(user.channels[0].signs_in() && began(&user, "eve@example.com"));
    user.end_sessions(None);
    assert!(began(&user, "eve@example.com"), "a new password does not remove a way to sign in");
    user.raise_epoch();
    assert!(!began(&user, "eve@example.com"));
}

#[test]
fn an_unverified_address_signs_in_and_gives_way_by_its_standing() {
    let of = |is_verified, is_primary, standing| {
        let channel = Channel { is_primary, ..channel("ada@example.com", is_verified, standing) };
        (channel.signs_in(), channel.gives_way())
    };
    assert_eq!(of(false, false, Standing::Provisional), (true, true));
    assert_eq!(of(false, true, Standing::Provisional), (true, false));
    assert_eq!(of(true, false, Standing::Provisional), (true, false));
    assert_eq!(of(false, false, Standing::Wished), (false, false));
    assert_eq!(of(true, false, Standing::Wished), (true, false));
    assert_eq!(of(false, false, Standing::Assigned), (true, false));
    // The first user to verify an address gets the address, even if another person's proof may
    // still take the account away.
    let unproved = Channel { is_unproved: true, ..channel("ada@example.com", true, Standing::Provisional) };
    assert!(unproved.signs_in() && !unproved.gives_way());
}

#[test]
fn codes_become_invalid_when_a_sign_in_method_is_removed_but_not_when_added() {
    let raised = |change: fn(&mut User)| {
        let before = prepared();
        let mut after = before.clone();
        change(&mut after);
        after.raise_epoch_if_way_in_went(&before);
        after.credential_epoch > before.credential_epoch
    };
    assert!(!raised(|_| {}));
    assert!(!raised(|user| user.channels.push(channel("new@example.com", false, Standing::Wished))));
    assert!(!raised(|user| user.channels[2].is_verified = true));
    assert!(raised(|user| drop(user.channels.remove(1))));
    assert!(raised(|user| user.channels[1].value = email("new@example.com")));
    assert!(raised(|user| user.channels[1].used_for_auth = false));
    assert!(raised(|user| user.channels[0].is_primary = false));
    assert!(raised(|user| user.provider_accounts.clear()));
    assert!(raised(|user| user.provider_accounts[0].allow_sign_in = false));
    assert!(!raised(|user| user.provider_accounts[0].allow_connected_accounts = false));
    assert!(!raised(|user| user
        .provider_accounts
        .push(ProviderAccount { account_id: "2".to_owned(), ..user.provider_accounts[0].clone() })));
}
