use crate::provider::catalog::scopes::joined;
use crate::provider::catalog::scopes_of;

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
