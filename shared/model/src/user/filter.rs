//! Filters for lists of users.

use wire::id::UserId;

use crate::project::ProjectConfig;
use crate::user::User;
use crate::user::restriction::RestrictedReason;
use crate::user::search::Search;

/// The filter of a list of users.
#[derive(Debug, Clone, Default)]
pub struct UserFilter {
    /// Parts of a display name or of addresses to search for, or a user id; absent if the list is
    /// not searched this way.
    pub words: Option<Search>,
    /// The beginnings of words to search for, or a user id; absent if the list is not searched this
    /// way.
    pub beginning: Option<Search>,
    /// Whether restricted users who are not anonymous are included.
    pub includes_restricted: bool,
    /// Whether anonymous users are included.
    pub includes_anonymous: bool,
    /// Whether only anonymous users are included.
    pub only_anonymous: bool,
}

impl UserFilter {
    /// The user id, if the search text is a user id.
    pub fn id(&self) -> Option<UserId> {
        self.words.as_ref().or(self.beginning.as_ref()).and_then(|search| UserId::parse(&search.text()).ok())
    }

    /// Whether the filter's flags include this user, regardless of the search text.
    pub fn shows(&self, user: &User, config: &ProjectConfig) -> bool {
        match user.restricted_reason(config) {
            _ if self.only_anonymous => user.is_anonymous,
            Some(RestrictedReason::Anonymous) => self.includes_anonymous,
            Some(_) => self.includes_restricted,
            None => true,
        }
    }

    /// Whether the list includes this user. Not used in a search by user id, which reads the user
    /// directly ([`Self::id`]).
    pub fn takes(&self, user: &User, config: &ProjectConfig) -> bool {
        let begins = |search: &Search| user.first_word(search).is_some() && user.begins_with(search);
        self.shows(user, config)
            && self.words.as_ref().is_none_or(|search| user.contains(search))
            && self.beginning.as_ref().is_none_or(begins)
    }
}
