//! Tests of users.

use super::*;
use crate::project::ProjectConfig;
use crate::user::restriction::RestrictedReason;

fn user() -> User {
    User::new(&Entropy::system(), Timestamp::UNIX_EPOCH)
}

#[test]
fn a_new_primary_address_demotes_and_keeps_the_old_one() {
    let mut user = user();
    let (old, new) = (Email::parse("a@example.com").expect("valid"), Email::parse("b@example.com").expect("valid"));
    user.add_primary_email(&Entropy::system(), old, true);
    user.add_primary_email(&Entropy::system(), new.clone(), false);
    assert_eq!(user.channels.len(), 2);
    assert_eq!(user.primary().map(|channel| &channel.value), Some(&new));
}

#[test]
fn the_first_reason_for_a_restriction_wins() {
    let mut user = user();
    let config = ProjectConfig { require_email_verification: true, ..ProjectConfig::default() };
    user.restriction = Some(Restriction { reason: None, private_details: None });
    user.is_anonymous = true;
    assert_eq!(user.restricted_reason(&config), Some(RestrictedReason::Anonymous));
    user.upgrade(Timestamp::UNIX_EPOCH);
    assert_eq!(user.restricted_reason(&config), Some(RestrictedReason::EmailNotVerified));
    assert_eq!(user.restricted_reason(&ProjectConfig::default()), Some(RestrictedReason::RestrictedByAdministrator));
    user.restriction = None;
    assert_eq!(user.restricted_reason(&ProjectConfig::default()), None);
}
