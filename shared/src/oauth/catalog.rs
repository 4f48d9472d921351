//! The providers that are known by name. Each is an entry of data; the flow is the same for all.
//!
//! Endpoints and scopes are those of the providers' own documents. A project names other OpenID issuers with their endpoints.

/// A provider that is known by name.
#[derive(Debug, Clone, Copy)]
pub struct Provider {
    pub id: &'static str,
    pub authorization_endpoint: &'static str,
    /// What sign-in needs: the account's id, and its address where the provider gives it.
    pub scope: &'static str,
    /// Parameters that the provider wants besides those of RFC 6749.
    pub extra: &'static [(&'static str, &'static str)],
}

/// Stands for a Microsoft tenant in an endpoint.
pub const TENANT: &str = "{tenant}";

const OFFLINE: &[(&str, &str)] = &[("access_type", "offline"), ("prompt", "consent")];

const CATALOG: [Provider; 12] = [
    Provider {
        id: "google",
        authorization_endpoint: "https://accounts.google.com/o/oauth2/v2/auth",
        scope: "openid email profile",
        extra: OFFLINE,
    },
    Provider { id: "github", authorization_endpoint: "https://github.com/login/oauth/authorize", scope: "user:email", extra: OFFLINE },
    Provider {
        id: "microsoft",
        authorization_endpoint: "https://login.microsoftonline.com/{tenant}/oauth2/v2.0/authorize",
        scope: "openid email profile offline_access User.Read",
        extra: OFFLINE,
    },
    Provider {
        id: "apple",
        authorization_endpoint: "https://appleid.apple.com/auth/authorize",
        scope: "openid name email",
        extra: &[("access_type", "offline"), ("prompt", "consent"), ("response_mode", "form_post")],
    },
    Provider {
        id: "facebook",
        authorization_endpoint: "https://www.facebook.com/v23.0/dialog/oauth",
        scope: "public_profile email",
        extra: OFFLINE,
    },
    Provider {
        id: "spotify",
        authorization_endpoint: "https://accounts.spotify.com/authorize",
        scope: "user-read-email user-read-private",
        extra: OFFLINE,
    },
    Provider { id: "discord", authorization_endpoint: "https://discord.com/oauth2/authorize", scope: "identify email", extra: OFFLINE },
    Provider {
        id: "gitlab",
        authorization_endpoint: "https://gitlab.com/oauth/authorize",
        scope: "openid read_user email",
        extra: OFFLINE,
    },
    Provider {
        id: "bitbucket",
        authorization_endpoint: "https://bitbucket.org/site/oauth2/authorize",
        scope: "account email",
        extra: OFFLINE,
    },
    Provider {
        id: "linkedin",
        authorization_endpoint: "https://www.linkedin.com/oauth/v2/authorization",
        scope: "openid profile email",
        extra: OFFLINE,
    },
    Provider {
        id: "x",
        authorization_endpoint: "https://x.com/i/oauth2/authorize",
        scope: "users.read users.email tweet.read offline.access",
        extra: OFFLINE,
    },
    Provider { id: "twitch", authorization_endpoint: "https://id.twitch.tv/oauth2/authorize", scope: "user:read:email", extra: OFFLINE },
];

/// The provider of this id.
pub fn find(id: &str) -> Option<&'static Provider> {
    CATALOG.iter().find(|provider| provider.id == id)
}

/// What an OpenID issuer outside the catalog is asked for.
pub const OPENID: Provider = Provider { id: "oidc", authorization_endpoint: "", scope: "openid email profile", extra: OFFLINE };
