use crypto::seal::SealedText;
use jiff::Timestamp;
use wire::entropy::Entropy;
use wire::id::ChannelId;

use crate::email::Email;
use crate::email::notice::Kind;
use crate::notice::*;
use crate::user::ownership::Prover;
use crate::user::recovery::RecoveryCodes;
use crate::user::standing::Standing;
use crate::user::{Channel, User};

fn email(text: &str) -> Email {
    Email::parse(text).expect("an address")
}

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + minutes * 60).expect("a time")
}

fn channel(value: &str, is_verified: bool) -> Channel {
    let id = ChannelId::from(Entropy::system().uuid());
    Channel { used_for_auth: true, is_verified, ..Channel::new(id, email(value), Standing::Wished) }
}

/// An account with a verified address.
fn ada() -> User {
    let mut user = User::new(&Entropy::system(), Timestamp::UNIX_EPOCH);
    user.add_primary_email(&Entropy::system(), email("ada@example.com"), true);
    user
}

/// The same account, with another verified address added at this minute.
fn with_eve(minute: i64) -> User {
    let (before, mut user) = (ada(), ada());
    user.channels.push(channel("eve@example.com", true));
    user.note_verified(&before, at(minute));
    user
}

fn told(user: &User) -> Vec<(String, bool)> {
    user.told().into_iter().map(|recipient| (recipient.email.to_string(), recipient.may_undo)).collect()
}

fn link(user: &User, address: &str) -> NotMe {
    let may_undo = user.told().iter().any(|recipient| recipient.email == email(address) && recipient.may_undo);
    NotMe { email: email(address), since: user.notices.next(), before: may_undo.then(|| user.snapshot()) }
}

/// Counts a notice about a change in this minute, and returns when to send the notice.
fn told_change(user: &mut User, minute: i64) -> Option<Timestamp> {
    user.notices.admit(&[Kind::AddressAdded], at(minute))
}

#[test]
fn the_address_verified_first_may_undo_at_any_position() {
    let mut user = with_eve(1);
    assert_eq!(told(&user), [("ada@example.com".to_owned(), true), ("eve@example.com".to_owned(), false)]);
    user.channels.reverse();
    assert_eq!(told(&user), [("ada@example.com".to_owned(), true), ("eve@example.com".to_owned(), false)]);
    // Data from earlier versions does not record which address was verified first, so all addresses
    // rank equally.
    let mut old = ada();
    old.channels.push(channel("work@example.com", true));
    assert!(old.told().iter().all(|recipient| recipient.may_undo));
}

#[test]
fn an_unverified_primary_address_is_notified_if_no_address_is_verified() {
    let mut user = ada();
    user.channels[0].is_verified = false;
    user.channels.push(channel("other@example.com", false));
    assert_eq!(told(&user), [("ada@example.com".to_owned(), true)]);
}

#[test]
fn at_most_ten_addresses_are_notified() {
    let mut user = ada();
    user.channels.extend((0..20).map(|number| channel(&format!("a{number}@example.com"), true)));
    user.note_verified(&ada(), at(1));
    assert_eq!((user.told().len(), told(&user)[0].0.as_str()), (MAX_RECIPIENTS, "ada@example.com"));
}

#[test]
fn five_emails_are_sent_in_an_hour_the_last_at_its_end() {
    let mut user = ada();
    let times: Vec<_> = (0..100).map(|minute| told_change(&mut user, minute / 4)).collect();
    assert!((0..4).all(|index| times[index] == Some(at(0))));
    assert_eq!(times[4], Some(at(60)));
    assert!(times[5..].iter().all(Option::is_none));
    assert_eq!(user.notices.admit(&[Kind::AuthenticatorRemoved], at(25)), Some(at(25)), "another kind of change has its own quota");
    let both = [Kind::AddressAdded, Kind::PasswordChanged];
    assert_eq!(user.notices.admit(&both, at(26)), Some(at(26)));
    assert_eq!(told_change(&mut user, 60), Some(at(60)), "the next hour has a new quota");
}

/// Earlier versions cannot read an account that contains a kind unknown to them.
#[test]
fn new_kinds_are_counted_as_kinds_that_earlier_versions_know() {
    let mut user = ada();
    user.notices.admit(&[Kind::EmailCodesEnabled, Kind::EmailCodesDisabled], at(0));
    let stored = serde_json::to_string(&user.notices).expect("JSON");
    assert!(stored.contains("address-added") && stored.contains("address-removed") && !stored.contains("email-codes"), "{stored}");
}

#[test]
fn notices_of_several_kinds_do_not_use_up_the_last_email_of_one() {
    let mut user = ada();
    for _ in 0..4 {
        told_change(&mut user, 0);
    }
    for _ in 0..3 {
        assert_eq!(user.notices.admit(&[Kind::AddressAdded, Kind::PasswordChanged], at(1)), Some(at(1)));
    }
    assert_eq!(told_change(&mut user, 2), Some(at(60)));
}

#[test]
fn undo_restores_everything_but_the_password() {
    let before = ada();
    let first = link(&before, "ada@example.com");
    let mut user = with_eve(1);
    told_change(&mut user, 1);
    user.channels.remove(0);
    user.otp_refused = true;
    assert_eq!(user.undo(&first, &LostCredentials::default()), Ok(()));
    assert_eq!(user.channels, before.channels);
    assert!(!user.otp_refused && user.password.is_none());
    assert!(user.session_epoch > before.session_epoch && user.credential_epoch > before.credential_epoch);
    assert_eq!(user.undo(&first, &LostCredentials::default()), Err(Refusal), "a link works once");
}

#[test]
fn an_undo_link_invalidates_only_later_links() {
    let mut user = ada();
    let links: Vec<NotMe> = (0..3)
        .map(|minute| {
            let link = link(&user, "ada@example.com");
            told_change(&mut user, minute);
            link
        })
        .collect();
    let undo = |user: &mut User, number: usize| user.undo(&links[number], &LostCredentials::default());
    let mut backwards = user.clone();
    assert_eq!([2, 1, 0].map(|number| undo(&mut backwards, number)), [Ok(()); 3]);
    assert_eq!([0, 1, 2].map(|number| undo(&mut user, number)), [Ok(()), Err(Refusal), Err(Refusal)]);
    // A later change has its own links.
    let next = link(&user, "ada@example.com");
    told_change(&mut user, 5);
    assert_eq!(user.undo(&next, &LostCredentials::default()), Ok(()));
}

#[test]
fn links_to_later_addresses_restore_nothing_and_end_with_the_address() {
    let mut user = with_eve(1);
    let links = ["ada@example.com", "eve@example.com"].map(|address| link(&user, address));
    assert!(links[0].before.is_some() && links[1].before.is_none());
    told_change(&mut user, 2);
    let mut inside = user.clone();
    assert_eq!(inside.undo(&links[1], &LostCredentials::default()), Ok(()), "a verified address can lock the account");
    assert_eq!(inside.channels, user.channels);
    let mut removed = user.clone();
    removed.channels.pop();
    assert_eq!(removed.undo(&links[1], &LostCredentials::default()), Err(Refusal));
    assert_eq!(
        inside.undo(&links[0], &LostCredentials::default()),
        Ok(()),
        "a lock by a junior address does not end the links of senior addresses"
    );
}

#[test]
fn a_new_owner_invalidates_all_earlier_links() {
    let mut user = ada();
    let old = link(&user, "ada@example.com");
    told_change(&mut user, 1);
    let sign_in = link(&user, "ada@example.com");
    user.channels.push(Channel { standing: Standing::Provisional, ..channel("bob@example.com", false) });
    user.prove(&email("bob@example.com"), Prover::Stranger, ChannelId::from(Entropy::system().uuid())).expect("proved");
    for link in [&old, &sign_in] {
        assert_eq!(user.clone().undo(link, &LostCredentials::default()), Err(Refusal));
    }
    let own = link(&user, "bob@example.com");
    assert_eq!(user.undo(&own, &LostCredentials::default()), Ok(()));
}

#[test]
fn undo_takes_nothing_from_other_users() {
    let first = link(&ada(), "ada@example.com");
    let mut user = with_eve(1);
    let taken = LostCredentials { emails: vec![email("ada@example.com")], accounts: Vec::new(), passkeys: Vec::new() };
    assert_eq!(user.undo(&first, &taken), Ok(()));
    assert_eq!(user.channels.len(), 1);
    assert!(!user.channels[0].signs_in());
}

#[test]
fn merging_the_ranges_of_undone_links_revives_no_link() {
    let mut user = ada();
    let links: Vec<NotMe> = (0..60)
        .map(|minute| {
            let link = link(&user, "ada@example.com");
            told_change(&mut user, minute * 61);
            link
        })
        .collect();
    for link in links.iter().step_by(2) {
        let _ = user.undo(link, &LostCredentials::default());
    }
    for link in links.iter().step_by(2) {
        assert_eq!(user.undo(link, &LostCredentials::default()), Err(Refusal));
    }
}

#[test]
fn every_link_drops_recovery_codes_and_none_restores_them() {
    let set = |left: usize| RecoveryCodes { hashes: SealedText::from_text(format!("{left} hashes")), left, created_at: at(1) };
    let mut user = with_eve(1);
    let app = serde_json::json!({ "secret": "app", "last_step": 7 });
    user.totp = Some(Totp { recovery: Some(set(9)), ..serde_json::from_value(app).expect("an app") });
    let (before, mut after) = (user.clone(), user.clone());
    after.totp.as_mut().expect("an app").recovery = Some(set(8));
    assert_eq!(changes(&before, &after), [Change::about(Kind::RecoveryCodeUsed, 8)]);
    after.totp.as_mut().expect("an app").recovery = Some(set(10));
    assert_eq!(changes(&before, &after), [Change::of(Kind::RecoveryCodesCreated)]);
    assert_eq!(changes(&before, &before), []);
    for address in ["ada@example.com", "eve@example.com"] {
        let (link, mut undone) = (link(&before, address), after.clone());
        assert_eq!(link.before.is_some(), address.starts_with("ada"));
        undone.undo(&link, &LostCredentials::default()).expect("an open link");
        assert_eq!(undone.totp.map(|totp| (totp.first.last_step, totp.recovery)), Some((7, None)), "{address}");
    }
}

#[test]
fn a_click_between_a_notice_and_its_link_proves_nothing() {
    let bob = email("bob@example.com");
    let mut user = User::new(&Entropy::system(), Timestamp::UNIX_EPOCH);
    user.add_primary_email(&Entropy::system(), bob.clone(), false);
    let link = link(&user, "bob@example.com");
    for (prover, is_proved) in [(Prover::Stranger, false), (Prover::Creator, true)] {
        let mut clicked = user.clone();
        assert!(clicked.verify_email(&bob, prover));
        clicked.undo(&link, &LostCredentials::default()).expect("a link");
        let channel = clicked.channel_of(&bob).expect("a channel");
        assert_eq!((channel.is_verified, channel.is_proved(), channel.is_confirmed()), (true, is_proved, is_proved));
    }
}
