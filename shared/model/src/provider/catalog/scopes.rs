//! The relations between a provider's scopes: which names mean the same, and which scopes include
//! others. Without these relations, a token would seem to lack scopes that the provider reports
//! under other names, and the app would keep sending its users to the provider.

use std::collections::BTreeSet;

/// The scope that requests a refresh token (OpenID Connect Core §11). The scope does not permit
/// anything by itself, and issuers omit it from the scopes that they report.
pub const OFFLINE_ACCESS: &str = "offline_access";

/// The relations of a provider's scopes.
#[derive(Debug, Clone, Copy)]
pub struct Scopes {
    /// The prefixes of long scope names: a scope has the same meaning with and without a prefix.
    pub prefixes: &'static [&'static str],
    /// Whether case is ignored.
    pub ignores_case: bool,
    /// Pairs of names, without a prefix, of the same scope.
    pub aliases: &'static [(&'static str, &'static str)],
    /// Scopes, each with the scopes that it includes. The included scopes may include further
    /// scopes.
    pub includes: &'static [(&'static str, &'static [&'static str])],
    /// A part of a scope's name, and the text that replaces it in the name of an included scope.
    pub narrower: &'static [(&'static str, &'static str)],
    /// Scopes that the provider grants but never reports.
    pub unreported: &'static [&'static str],
}

impl Scopes {
    /// The relations of scopes that have only one name each and do not include other scopes.
    pub const PLAIN: Self =
        Self { prefixes: &[], ignores_case: false, aliases: &[], includes: &[], narrower: &[], unreported: &[OFFLINE_ACCESS] };

    /// Whether the granted scopes permit everything that the wanted scopes permit. Scopes are
    /// separated by spaces or, as at GitHub and LinkedIn, by commas.
    pub fn cover(&self, granted: &str, wanted: &str) -> bool {
        let mut have: BTreeSet<String> = BTreeSet::new();
        let mut open: Vec<String> = split(granted).map(|scope| self.name(scope)).collect();
        while let Some(scope) = open.pop() {
            if have.insert(scope.clone()) {
                open.extend(self.included(&scope));
            }
        }
        split(wanted).map(|scope| self.name(scope)).all(|scope| have.contains(&scope) || self.unreported.contains(&scope.as_str()))
    }

    /// The normalized name of a scope, for comparisons.
    fn name(&self, scope: &str) -> String {
        let scope = if self.ignores_case { scope.to_lowercase() } else { scope.to_owned() };
        let short = self.prefixes.iter().find_map(|prefix| scope.strip_prefix(prefix)).unwrap_or(&scope);
        self.aliases.iter().find(|(_, other)| *other == short).map_or(short, |(name, _)| name).to_owned()
    }

    fn included(&self, scope: &str) -> Vec<String> {
        let listed = self.includes.iter().filter(|(wider, _)| *wider == scope).flat_map(|(_, others)| *others);
        let derived = self.narrower.iter().filter(|(part, _)| scope.contains(part)).map(|(part, other)| scope.replacen(part, other, 1));
        listed.map(|other| (*other).to_owned()).chain(derived).collect()
    }
}

/// The scopes of a list.
fn split(list: &str) -> impl Iterator<Item = &str> {
    list.split([' ', ',']).filter(|scope| !scope.is_empty())
}

/// The scopes of several lists, without duplicates.
pub fn joined<'a>(lists: impl IntoIterator<Item = &'a str>) -> String {
    let mut all: Vec<&str> = Vec::new();
    for scope in lists.into_iter().flat_map(str::split_whitespace) {
        if !all.contains(&scope) {
            all.push(scope);
        }
    }
    all.join(" ")
}
