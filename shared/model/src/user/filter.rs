//! Which users a list has.

use wire::id::UserId;

use crate::project::ProjectConfig;
use crate::user::User;
use crate::user::restriction::RestrictedReason;

/// What a list of users is asked for.
#[derive(Debug, Clone, Default)]
pub struct UserFilter {
    /// In lower case.
    pub words: Option<String>,
    pub includes_restricted: bool,
    pub includes_anonymous: bool,
    pub only_anonymous: bool,
}

impl UserFilter {
    /// The id that is searched for, if the words are one.
    pub fn id(&self) -> Option<UserId> {
        self.words.as_deref().and_then(|words| UserId::parse(words).ok())
    }

    /// Whether the list has users of this kind.
    pub fn shows(&self, user: &User, config: &ProjectConfig) -> bool {
        match user.restricted_reason(config) {
            _ if self.only_anonymous => user.is_anonymous,
            Some(RestrictedReason::Anonymous) => self.includes_anonymous,
            Some(_) => self.includes_restricted,
            None => true,
        }
    }

    /// Whether the list has this user.
    pub fn takes(&self, user: &User, config: &ProjectConfig) -> bool {
        self.shows(user, config) && self.words.as_deref().is_none_or(|words| has_words(user, words))
    }
}

fn has_words(user: &User, words: &str) -> bool {
    let name = user.display_name.as_deref().is_some_and(|name| name.to_lowercase().contains(words));
    name || user.channels.iter().any(|channel| channel.value.as_str().contains(words))
}
