//! The effect of a change on a project's totals: the number of teams, and the number of users in
//! total, by country and by sign-in method. The change's entry in the audit trail contains the
//! tally. The worker that links the entry into the trail's chain adds the tally to the totals.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::user::User;

/// Users who have signed up.
pub const USERS: &str = "users";
/// Anonymous users.
pub const ANONYMOUS: &str = "anonymous";
/// Users who have signed up and have a verified primary address.
pub const VERIFIED: &str = "verified";
/// Teams.
pub const TEAMS: &str = "teams";
/// Prefix of the totals of signed-up users by country.
pub const COUNTRY: &str = "c.";
/// Prefix of the totals of anonymous users by country.
pub const ANONYMOUS_COUNTRY: &str = "a.";
/// Prefix of the totals of signed-up users by sign-in method: `password`, `otp`, `passkey` or a
/// provider's id.
pub const METHOD: &str = "m.";

/// Differences, or the totals themselves, by the name of the total; totals of zero are absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tally(BTreeMap<String, i64>);

impl Tally {
    /// The totals that count this user, each with the difference 1.
    pub fn of(user: &User) -> Self {
        let mut tally = Self::default();
        let (kind, country) = if user.is_anonymous { (ANONYMOUS, ANONYMOUS_COUNTRY) } else { (USERS, COUNTRY) };
        tally.add(kind, 1);
        if let Some(code) = &user.country_code {
            tally.add(&format!("{country}{code}"), 1);
        }
        if !user.is_anonymous {
            if user.primary().is_some_and(|channel| channel.is_verified) {
                tally.add(VERIFIED, 1);
            }
            for method in methods(user) {
                tally.add(&format!("{METHOD}{method}"), 1);
            }
        }
        tally
    }

    /// The effect of a change to a user; `None` stands for a user who does not exist.
    pub fn change(before: Option<&User>, after: Option<&User>) -> Self {
        let mut tally = after.map(Self::of).unwrap_or_default();
        tally.merge(&before.map(Self::of).unwrap_or_default(), -1);
        tally
    }

    /// The effect of a team that is created (1) or deleted (-1).
    pub fn teams(by: i64) -> Self {
        let mut tally = Self::default();
        tally.add(TEAMS, by);
        tally
    }

    /// Adds another tally, multiplied by `times`.
    pub fn merge(&mut self, other: &Self, times: i64) {
        for (name, by) in &other.0 {
            self.add(name, by * times);
        }
    }

    fn add(&mut self, name: &str, by: i64) {
        let sum = self.0.get(name).copied().unwrap_or_default() + by;
        if sum == 0 {
            self.0.remove(name);
        } else {
            self.0.insert(name.to_owned(), sum);
        }
    }

    /// Whether all differences, or all totals, are zero.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The difference of one total, or the total itself.
    pub fn get(&self, name: &str) -> i64 {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// All differences or totals that are not zero.
    pub fn iter(&self) -> impl Iterator<Item = (&str, i64)> {
        self.0.iter().map(|(name, by)| (name.as_str(), *by))
    }

    /// The positive totals whose names have this prefix, keyed by the rest of the name.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, i64)> {
        self.iter().filter(|(_, by)| *by > 0).filter_map(move |(name, by)| Some((name.strip_prefix(prefix)?, by)))
    }
}

impl FromIterator<(String, i64)> for Tally {
    fn from_iter<I: IntoIterator<Item = (String, i64)>>(totals: I) -> Self {
        Self(totals.into_iter().filter(|(_, by)| *by != 0).collect())
    }
}

/// The sign-in methods counted for a user: password, emailed codes, passkeys and each provider with
/// an account that the user can sign in with.
fn methods(user: &User) -> Vec<&str> {
    let own = [("password", user.password.is_some()), ("otp", user.otp_enabled), ("passkey", !user.passkeys.is_empty())];
    let own = own.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name);
    let providers = user.provider_accounts.iter().filter(|account| account.allow_sign_in).map(|account| account.provider_id.as_str());
    let mut methods: Vec<&str> = own.chain(providers).collect();
    methods.sort_unstable();
    methods.dedup();
    methods
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use wire::entropy::Entropy;

    use super::*;
    use crate::email::Email;

    fn ada() -> User {
        let mut user = User::new(&Entropy::system(), Timestamp::UNIX_EPOCH);
        user.add_primary_email(&Entropy::system(), Email::parse("ada@example.com").expect("an address"), false);
        user.otp_enabled = true;
        user.country_code = Some("DE".to_owned());
        user
    }

    fn entries(tally: &Tally) -> Vec<(&str, i64)> {
        tally.iter().collect()
    }

    #[test]
    fn a_tally_has_only_what_a_change_alters() {
        let before = ada();
        assert_eq!(entries(&Tally::change(None, Some(&before))), [("c.DE", 1), ("m.otp", 1), ("users", 1)]);
        assert_eq!(entries(&Tally::change(Some(&before), None)), [("c.DE", -1), ("m.otp", -1), ("users", -1)]);
        let named = User { display_name: Some("Ada".to_owned()), ..before.clone() };
        assert!(Tally::change(Some(&before), Some(&named)).is_empty());
        let mut verified = before.clone();
        verified.channels[0].is_verified = true;
        assert_eq!(entries(&Tally::change(Some(&before), Some(&verified))), [("verified", 1)]);
    }

    #[test]
    fn an_anonymous_user_who_signs_up_moves_from_one_total_to_the_other() {
        let mut user = User { is_anonymous: true, channels: Vec::new(), otp_enabled: false, ..ada() };
        let before = user.clone();
        user.upgrade(Timestamp::UNIX_EPOCH);
        assert_eq!(entries(&Tally::change(Some(&before), Some(&user))), [("a.DE", -1), ("anonymous", -1), ("c.DE", 1), ("users", 1)]);
    }
}
