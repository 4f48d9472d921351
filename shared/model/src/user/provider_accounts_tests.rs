//! Tests of [`crate::provider::account`].

use crypto::password::hash::Hash;
use jiff::Timestamp;
use wire::entropy::Entropy;
use wire::id::ProviderAccountId;

use crate::email::Email;
use crate::project::ProjectConfig;
use crate::provider::account::ProviderAccount;
use crate::user::provider_accounts::{AccountPatch, AccountRefusal};
use crate::user::{MAX_ACCOUNTS, User};

fn account(account_id: &str) -> ProviderAccount {
    ProviderAccount {
        id: ProviderAccountId::from(Entropy::system().uuid()),
        provider_id: "github".to_owned(),
        issuer: None,
        account_id: account_id.to_owned(),
        email: None,
        allow_sign_in: true,
        allow_connected_accounts: true,
    }
}

fn user() -> User {
    User::new(&Entropy::system(), Timestamp::UNIX_EPOCH)
}

#[test]
fn a_user_has_each_account_once_and_a_limited_number() {
    let mut user = user();
    for number in 0..MAX_ACCOUNTS {
        assert_eq!(user.add_account(account(&number.to_string())), Ok(()));
    }
    assert_eq!(user.add_account(account("0")), Err(AccountRefusal::Duplicate));
    assert_eq!(user.add_account(account("new")), Err(AccountRefusal::TooMany));
    let first = user.provider_accounts[0].id;
    let taken = AccountPatch { account_id: Some("1".to_owned()), ..AccountPatch::default() };
    assert_eq!(user.change_account(first, taken), Err(AccountRefusal::Duplicate));
    let same = AccountPatch { account_id: Some("0".to_owned()), allow_sign_in: Some(false), ..AccountPatch::default() };
    assert_eq!(user.change_account(first, same), Ok(()));
    assert_eq!(user.provider_account(first).map(|account| account.allow_sign_in), Some(false));
    assert_eq!((user.remove_account(first), user.remove_account(first)), (Ok(()), Err(AccountRefusal::NotFound)));
}

/// Users who each have only one way to sign in, with project settings that permit only that way.
fn ways() -> [(&'static str, User, ProjectConfig); 2] {
    let email = Email::parse("ada@example.com").expect("valid");
    let mut with_password = user();
    with_password.add_primary_email(&Entropy::system(), email.clone(), true);
    with_password.password = Hash::import_bcrypt("$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy");
    let mut with_code = user();
    with_code.add_primary_email(&Entropy::system(), email, true);
    with_code.otp_enabled = true;
    let passwords = ProjectConfig { credential_enabled: true, magic_link_enabled: false, ..ProjectConfig::default() };
    let codes = ProjectConfig { credential_enabled: false, magic_link_enabled: true, ..ProjectConfig::default() };
    [("password", with_password, passwords), ("code", with_code, codes)]
}

#[test]
fn a_sign_in_method_must_be_enabled_and_usable() {
    let none = ProjectConfig { credential_enabled: false, magic_link_enabled: false, ..ProjectConfig::default() };
    for (way, mut user, config) in ways() {
        assert!(user.has_way_to_sign_in(&config), "{way}");
        assert!(!user.has_way_to_sign_in(&none), "{way}");
        for channel in &mut user.channels {
            channel.used_for_auth = false;
        }
        assert!(!user.has_way_to_sign_in(&config), "{way}, but no address that can be used to sign in");
    }
    let mut with_account = user();
    with_account.provider_accounts.push(account("1"));
    assert!(!with_account.has_way_to_sign_in(&ProjectConfig::default()), "the project does not have this provider");
}

#[test]
fn only_a_user_with_a_way_to_sign_in_can_lose_the_last_one() {
    let config = ProjectConfig::default();
    let (mut before, after) = (user(), user());
    before.provider_accounts.push(account("of a provider that was removed"));
    assert_eq!(after.keeps_way_to_sign_in(&before, &config), Ok(()));
    let (_, able, config) = ways().into_iter().next().expect("two");
    assert_eq!(after.keeps_way_to_sign_in(&able, &config), Err(AccountRefusal::LastWay));
}

#[test]
fn codes_that_were_never_used_are_a_way_that_cannot_be_disabled() {
    let (_, mut before, config) = ways().into_iter().next_back().expect("two");
    before.otp_enabled = false;
    let mut after = before.clone();
    after.set_email_codes(false);
    assert_eq!(after.keeps_way_to_sign_in(&before, &config), Err(AccountRefusal::LastWay));
    let without_codes = ProjectConfig { magic_link_enabled: false, ..config.clone() };
    assert_eq!(after.keeps_way_to_sign_in(&before, &without_codes), Ok(()));
    assert_eq!(after.keeps_way_to_sign_in(&after, &config), Ok(()));
}
