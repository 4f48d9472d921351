//! How the scopes of a provider relate: which names mean the same, and which scopes include others.
//! Without this, a token whose scopes the provider reports under other names would seem to lack
//! them, and an app would send its users to the provider again and again.

use std::collections::BTreeSet;

/// The scope that asks for a refresh token (OpenID Connect Core §11). It permits nothing by itself,
/// and issuers leave it out of the scopes that they report.
pub const OFFLINE_ACCESS: &str = "offline_access";

/// The relations of a provider's scopes.
#[derive(Debug, Clone, Copy)]
pub struct Scopes {
    /// The beginnings of long names: with one or without, a name is that of the same scope.
    pub prefixes: &'static [&'static str],
    /// Whether upper and lower case are the same.
    pub ignores_case: bool,
    /// Pairs of names, without a prefix, of the same scope.
    pub aliases: &'static [(&'static str, &'static str)],
    /// A scope, and scopes that it includes; each of these may include further ones.
    pub includes: &'static [(&'static str, &'static [&'static str])],
    /// A part of names, and the part in place of it in the name of a scope that is included.
    pub narrower: &'static [(&'static str, &'static str)],
    /// Scopes that the provider never reports, although it has granted them.
    pub unreported: &'static [&'static str],
}

impl Scopes {
    /// Scopes that have one name each and include no others.
    pub const PLAIN: Self =
        Self { prefixes: &[], ignores_case: false, aliases: &[], includes: &[], narrower: &[], unreported: &[OFFLINE_ACCESS] };

    /// Whether granted scopes give everything that the wanted ones would. Scopes are separated by
    /// spaces or, as at GitHub and LinkedIn, by commas.
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

    /// The name by which a scope is compared.
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

/// Lists of scopes as one, in which each scope occurs once.
pub fn joined<'a>(lists: impl IntoIterator<Item = &'a str>) -> String {
    let mut all: Vec<&str> = Vec::new();
    for scope in lists.into_iter().flat_map(str::split_whitespace) {
        if !all.contains(&scope) {
            all.push(scope);
        }
    }
    all.join(" ")
}
