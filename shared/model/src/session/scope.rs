//! Scopes, which determine what a client can learn about a user.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

/// The maximum length of a list of scopes, in bytes.
const MAX_LENGTH: usize = 2048;
/// The maximum number of scopes in a list.
const MAX_SCOPES: usize = 64;

/// A scope that every project supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Scope {
    /// Gives access to the user's id, and to an ID token (OpenID Connect Core §3.1.2.1).
    Openid,
    /// Gives access to the user's name and picture (OpenID Connect Core §5.4).
    Profile,
    /// Gives access to the user's primary address, and to whether it is verified (OpenID Connect
    /// Core §5.4).
    Email,
    /// Gives access to the teams that the user is a member of.
    Teams,
    /// Gives access to the permissions that the user has in the project.
    Permissions,
    /// Requests a refresh token (OpenID Connect Core §11).
    OfflineAccess,
}

impl Scope {
    /// Every scope.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The name of the scope in a list of scopes.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Scopes without duplicates, in the order of their first occurrence.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Scopes(Vec<String>);

/// The text is not a list of scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be at most 64 scopes, separated by single spaces, in printable ASCII without quotation marks or backslashes")]
pub struct ScopesRefusal;

wire::deserr_from!(Scopes, Vec<String>, |scopes| {
    if scopes.iter().any(|scope| scope.is_empty() || scope.contains(' ')) { Err(ScopesRefusal) } else { Self::parse(&scopes.join(" ")) }
});

impl Scopes {
    /// Parses scopes separated by spaces (RFC 6749 §3.3); an empty text is an empty list.
    pub fn parse(text: &str) -> Result<Self, ScopesRefusal> {
        let is_character = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
        if text.len() > MAX_LENGTH || !text.bytes().all(|byte| byte == b' ' || is_character(byte)) {
            return Err(ScopesRefusal);
        }
        let mut scopes = Self::default();
        text.split(' ').filter(|scope| !scope.is_empty()).for_each(|scope| scopes.add(scope));
        if scopes.0.len() > MAX_SCOPES { Err(ScopesRefusal) } else { Ok(scopes) }
    }

    /// The scopes that every project supports.
    pub fn standard() -> Self {
        Self(Scope::ALL.iter().map(|scope| scope.name().to_owned()).collect())
    }

    /// Adds a scope, unless the list already contains it.
    pub fn add(&mut self, scope: &str) {
        if !self.has_name(scope) {
            self.0.push(scope.to_owned());
        }
    }

    /// Whether the list contains this scope.
    pub fn has(&self, scope: Scope) -> bool {
        self.has_name(scope.name())
    }

    /// Whether the list contains a scope with this name.
    pub fn has_name(&self, name: &str) -> bool {
        self.0.iter().any(|scope| scope == name)
    }

    /// Whether the other list contains all scopes of this list.
    pub fn are_within(&self, others: &Self) -> bool {
        self.0.iter().all(|scope| others.has_name(scope))
    }

    /// The scopes that both lists contain.
    #[must_use]
    pub fn only(&self, others: &Self) -> Self {
        Self(self.0.iter().filter(|scope| others.has_name(scope)).cloned().collect())
    }

    /// The scopes of both lists.
    #[must_use]
    pub fn and(mut self, others: &Self) -> Self {
        others.0.iter().for_each(|scope| self.add(scope));
        self
    }

    /// Each scope.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_each_scope_once_in_the_order_of_the_request() {
        let scopes = Scopes::parse("openid  email openid x:y").expect("scopes");
        assert_eq!(scopes.to_string(), "openid email x:y");
        assert!(scopes.has(Scope::Openid) && !scopes.has(Scope::OfflineAccess));
        assert!(scopes.only(&Scopes::standard()).are_within(&Scopes::standard()));
        assert!(!scopes.are_within(&Scopes::standard()));
        assert_eq!(Scopes::standard().to_string(), "openid profile email teams permissions offline_access");
    }

    #[test]
    fn other_texts_are_no_scopes() {
        for text in ["a\tb", "a\"b", "a\\b", "é", &"a ".repeat(2000), &(0..65).map(|n| format!("s{n}")).collect::<Vec<_>>().join(" ")] {
            assert_eq!(Scopes::parse(text), Err(ScopesRefusal), "{text}");
        }
        assert_eq!(Scopes::parse(" "), Ok(Scopes::default()));
    }
}
