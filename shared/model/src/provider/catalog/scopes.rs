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

#[cfg(test)]
mod tests {
    use crate::provider::catalog::scopes_of;

    use super::joined;

    #[test]
    fn a_scope_covers_itself_under_every_name_and_what_it_includes() {
        for (provider, granted, wanted) in [
            ("acme", "openid email", ""),
            ("acme", "openid email", "email openid"),
            ("acme", "openid email", "openid offline_access"),
            ("github", "user:email,repo", "repo"),
            ("github", "user:email repo", "repo,user:email"),
            ("github", "repo", "public_repo repo:status security_events"),
            ("github", "user", "user:email read:user user:follow"),
            ("github", "admin:org", "read:org"),
            ("github", "admin:repo_hook,write:packages", "read:repo_hook read:packages"),
            ("google", "openid https://www.googleapis.com/auth/userinfo.email", "openid email"),
            ("google", "email profile", "https://www.googleapis.com/auth/userinfo.profile"),
            ("google", "https://www.googleapis.com/auth/calendar", "https://www.googleapis.com/auth/calendar.events.readonly"),
            ("google", "https://mail.google.com/", "https://www.googleapis.com/auth/gmail.send"),
            ("microsoft", "openid User.Read", "openid offline_access https://graph.microsoft.com/User.Read"),
            ("microsoft", "https://graph.microsoft.com/mail.readwrite", "Mail.Read"),
            ("microsoft", "Files.ReadWrite.All", "Files.Read.All"),
            ("microsoft", "Mail.Send", "https://graph.microsoft.com/.default"),
            ("gitlab", "api", "read_user read_api"),
            ("bitbucket", "pullrequest:write", "repository pullrequest repository:write"),
            ("bitbucket", "account", "email"),
            ("twitch", "channel:manage:polls", "channel:read:polls"),
            ("linkedin", "email,openid,profile", "profile openid"),
        ] {
            assert!(scopes_of(provider).cover(granted, wanted), "{provider}: {granted} for {wanted}");
        }
    }

    #[test]
    fn a_scope_does_not_cover_a_wider_one_or_that_of_another_provider() {
        for (provider, granted, wanted) in [
            ("acme", "", "email"),
            ("acme", "openid email", "email profile"),
            ("acme", "repo", "public_repo"),
            ("acme", "Email", "email"),
            ("github", "public_repo", "repo"),
            ("github", "read:org", "write:org"),
            ("github", "user:email", "user"),
            ("github", "repo", "read:org"),
            ("google", "https://www.googleapis.com/auth/calendar.readonly", "https://www.googleapis.com/auth/calendar"),
            ("google", "https://www.googleapis.com/auth/drive", "https://www.googleapis.com/auth/drive.appdata"),
            ("google", "https://evil.example/auth/calendar", "https://www.googleapis.com/auth/calendar"),
            ("microsoft", "Mail.Read", "Mail.ReadWrite"),
            ("microsoft", "Files.ReadWrite", "Files.Read.All"),
            ("gitlab", "read_user", "read_api"),
            ("bitbucket", "repository:admin", "repository"),
            ("twitch", "channel:manage:ads", "channel:read:ads"),
        ] {
            assert!(!scopes_of(provider).cover(granted, wanted), "{provider}: {granted} for {wanted}");
        }
    }

    #[test]
    fn a_scope_that_is_asked_for_twice_is_sent_once() {
        assert_eq!(joined(["openid email", "", " email  calendar openid"]), "openid email calendar");
    }
}
