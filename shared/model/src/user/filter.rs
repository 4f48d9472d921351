//! Filters for lists of users.

use wire::id::UserId;

use crate::project::ProjectConfig;
use crate::user::User;
use crate::user::restriction::RestrictedReason;

/// The filter of a list of users.
#[derive(Debug, Clone, Default)]
pub struct UserFilter {
    /// A part of a display name or of an address to search for, in lower case, or a user id; absent
    /// for no such search.
    pub words: Option<String>,
    /// The beginning of a word to search for, folded ([`crate::user::search`]), or a user id;
    /// absent for no such search.
    pub beginning: Option<String>,
    /// Whether restricted users who are not anonymous are included.
    pub includes_restricted: bool,
    /// Whether anonymous users are included.
    pub includes_anonymous: bool,
    /// Whether only anonymous users are included.
    pub only_anonymous: bool,
}

impl UserFilter {
    /// The user id to search for, if the text to search for is one.
    pub fn id(&self) -> Option<UserId> {
        self.words.as_deref().or(self.beginning.as_deref()).and_then(|words| UserId::parse(words).ok())
    }

    /// Whether the flags of the filter include this user, whatever the text to search for.
    pub fn shows(&self, user: &User, config: &ProjectConfig) -> bool {
        match user.restricted_reason(config) {
            _ if self.only_anonymous => user.is_anonymous,
            Some(RestrictedReason::Anonymous) => self.includes_anonymous,
            Some(_) => self.includes_restricted,
            None => true,
        }
    }

    /// Whether the list includes this user. Not for a search by user id, which reads that user
    /// ([`Self::id`]).
    pub fn takes(&self, user: &User, config: &ProjectConfig) -> bool {
        let begins = |beginning| user.first_word(beginning).is_some();
        self.shows(user, config)
            && self.words.as_deref().is_none_or(|words| has_words(user, words))
            && self.beginning.as_deref().is_none_or(begins)
    }
}

fn has_words(user: &User, words: &str) -> bool {
    let name = user.display_name.as_deref().is_some_and(|name| name.to_lowercase().contains(words));
    name || user.channels.iter().any(|channel| channel.value.as_str().contains(words))
}
