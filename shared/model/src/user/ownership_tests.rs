use jiff::Timestamp;
use wire::entropy::Entropy;
use wire::id::ChannelId;

use crate::email::Email;
use crate::user::channel::ChannelPatch;
use crate::user::ownership::*;
use crate::user::standing::Standing;
use crate::user::{Channel, ProviderAccount, User};

fn email(text: &str) -> Email {
    Email::parse(text).expect("an address")
}

fn id() -> ChannelId {
    ChannelId::from(Entropy::system().uuid())
}

fn channel(value: &str, is_verified: bool, standing: Standing) -> Channel {
    Channel { id: id(), value: email(value), used_for_auth: true, is_verified, is_primary: false, standing }
}

/// An account with the unverified address `ada@example.com`, to which an attacker has added other
/// addresses and a provider account, and with both flags for emailed codes set.
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
    assert!(began(&user, "eve@example.com"), "a new password takes no way in away");
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
