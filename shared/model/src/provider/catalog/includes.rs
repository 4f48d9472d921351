//! Scopes that include other scopes, according to the documentation of the providers.

/// A scope and the scopes that it includes.
pub(super) type Includes = &'static [(&'static str, &'static [&'static str])];

/// <https://developers.google.com/identity/protocols/oauth2/scopes>
pub(super) const GOOGLE: Includes = &[
    ("https://mail.google.com/", &["gmail.modify"]),
    ("gmail.modify", &["gmail.readonly", "gmail.compose", "gmail.labels"]),
    ("gmail.compose", &["gmail.send"]),
    ("calendar", &["calendar.readonly", "calendar.events"]),
    ("calendar.readonly", &["calendar.events.readonly"]),
    ("calendar.events", &["calendar.events.readonly"]),
    ("drive", &["drive.readonly", "drive.file", "drive.metadata"]),
    ("drive.readonly", &["drive.metadata.readonly"]),
    ("drive.metadata", &["drive.metadata.readonly"]),
    ("contacts", &["contacts.readonly"]),
    ("documents", &["documents.readonly"]),
    ("presentations", &["presentations.readonly"]),
    ("spreadsheets", &["spreadsheets.readonly"]),
    ("tasks", &["tasks.readonly"]),
    ("youtube", &["youtube.readonly"]),
];

/// <https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/scopes-for-oauth-apps>
pub(super) const GITHUB: Includes = &[
    ("repo", &["repo:status", "repo_deployment", "public_repo", "repo:invite", "security_events"]),
    ("admin:repo_hook", &["write:repo_hook"]),
    ("write:repo_hook", &["read:repo_hook"]),
    ("admin:org", &["write:org", "manage_runners:org"]),
    ("write:org", &["read:org"]),
    ("admin:public_key", &["write:public_key"]),
    ("write:public_key", &["read:public_key"]),
    ("admin:ssh_signing_key", &["write:ssh_signing_key"]),
    ("write:ssh_signing_key", &["read:ssh_signing_key"]),
    ("admin:gpg_key", &["write:gpg_key"]),
    ("write:gpg_key", &["read:gpg_key"]),
    ("admin:enterprise", &["manage_runners:enterprise", "manage_billing:enterprise", "read:enterprise"]),
    ("user", &["read:user", "user:email", "user:follow"]),
    ("write:packages", &["read:packages"]),
    ("write:discussion", &["read:discussion"]),
    ("project", &["read:project"]),
    ("audit_log", &["read:audit_log"]),
    ("codespace", &["codespace:secrets"]),
];

/// <https://developer.atlassian.com/cloud/bitbucket/rest/intro/#authentication>
pub(super) const BITBUCKET: Includes = &[
    ("account:write", &["account"]),
    ("account", &["email"]),
    ("pullrequest:write", &["pullrequest", "repository:write"]),
    ("pullrequest", &["repository"]),
    ("repository:write", &["repository"]),
    ("issue:write", &["issue"]),
    ("snippet:write", &["snippet"]),
    ("pipeline:variable", &["pipeline:write"]),
    ("pipeline:write", &["pipeline"]),
    ("runner:write", &["runner"]),
];

/// <https://dev.twitch.tv/docs/api/reference/> lists the scopes that permit each operation.
pub(super) const TWITCH: Includes = &[
    ("channel:manage:polls", &["channel:read:polls"]),
    ("channel:manage:predictions", &["channel:read:predictions"]),
    ("channel:manage:redemptions", &["channel:read:redemptions"]),
    ("channel:manage:vips", &["channel:read:vips"]),
];
