//! The providers that are known by name. Each is an entry of data; the flow is the same for all.
//!
//! Endpoints, scopes and fields are those of the providers' own documents. Other OpenID issuers describe themselves
//! ([`oauth::metadata`]).

use crate::provider::profile::{Addresses, Fields, Verified};

/// A provider that is known by name.
#[derive(Debug, Clone, Copy)]
pub struct Provider {
    pub id: &'static str,
    pub authorization_endpoint: &'static str,
    pub token_endpoint: &'static str,
    /// What sign-in needs: the account's id, and its address where the provider gives it.
    pub scope: &'static str,
    /// Parameters that the provider wants besides those of RFC 6749.
    pub extra: &'static [(&'static str, &'static str)],
    pub client_auth: ClientAuth,
    pub identity: Identity,
}

/// How a client proves itself at the token endpoint (RFC 6749 §2.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientAuth {
    Basic,
    Body,
}

/// Where the account comes from.
#[derive(Debug, Clone, Copy)]
pub enum Identity {
    /// The ID token of OpenID Connect.
    IdToken { issuer: &'static str, jwks_uri: &'static str },
    /// The provider's own API, asked with the access token.
    Api(Api),
}

/// What a provider's API tells of the account.
#[derive(Debug, Clone, Copy)]
pub struct Api {
    pub url: &'static str,
    /// The header in which the API wants the client id.
    pub client_id_header: Option<&'static str>,
    pub fields: Fields,
    /// Where its addresses are, when they are not in the account.
    pub addresses: Option<(&'static str, Addresses)>,
}

/// Stands for a Microsoft tenant in an endpoint.
pub const TENANT: &str = "{tenant}";

const OFFLINE: &[(&str, &str)] = &[("access_type", "offline"), ("prompt", "consent")];

const fn api(url: &'static str, fields: Fields) -> Identity {
    Identity::Api(Api { url, client_id_header: None, fields, addresses: None })
}

const CATALOG: [Provider; 12] = [
    Provider {
        id: "google",
        authorization_endpoint: "https://accounts.google.com/o/oauth2/v2/auth",
        token_endpoint: "https://oauth2.googleapis.com/token",
        scope: "openid email profile",
        extra: OFFLINE,
        client_auth: ClientAuth::Body,
        identity: Identity::IdToken { issuer: "https://accounts.google.com", jwks_uri: "https://www.googleapis.com/oauth2/v3/certs" },
    },
    Provider {
        id: "github",
        authorization_endpoint: "https://github.com/login/oauth/authorize",
        token_endpoint: "https://github.com/login/oauth/access_token",
        scope: "user:email",
        extra: OFFLINE,
        client_auth: ClientAuth::Body,
        identity: Identity::Api(Api {
            url: "https://api.github.com/user",
            client_id_header: None,
            fields: Fields { id: "/id", names: &["/name", "/login"], email: None, picture: Some("/avatar_url") },
            addresses: Some((
                "https://api.github.com/user/emails",
                Addresses { list: "", email: "/email", primary: "/primary", verified: "/verified" },
            )),
        }),
    },
    Provider {
        id: "microsoft",
        authorization_endpoint: "https://login.microsoftonline.com/{tenant}/oauth2/v2.0/authorize",
        token_endpoint: "https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token",
        scope: "openid email profile offline_access User.Read",
        extra: OFFLINE,
        client_auth: ClientAuth::Body,
        // A tenant's administrator may give any address to an account, so none is taken for verified.
        identity: api(
            "https://graph.microsoft.com/v1.0/me",
            Fields { id: "/id", names: &["/displayName"], email: Some(("/mail", Verified::Never)), picture: None },
        ),
    },
    Provider {
        id: "apple",
        authorization_endpoint: "https://appleid.apple.com/auth/authorize",
        token_endpoint: "https://appleid.apple.com/auth/token",
        scope: "openid name email",
        extra: &[("access_type", "offline"), ("prompt", "consent"), ("response_mode", "form_post")],
        client_auth: ClientAuth::Body,
        identity: Identity::IdToken { issuer: "https://appleid.apple.com", jwks_uri: "https://appleid.apple.com/auth/keys" },
    },
    Provider {
        id: "facebook",
        authorization_endpoint: "https://www.facebook.com/v23.0/dialog/oauth",
        token_endpoint: "https://graph.facebook.com/v23.0/oauth/access_token",
        scope: "public_profile email",
        extra: OFFLINE,
        client_auth: ClientAuth::Body,
        identity: api(
            "https://graph.facebook.com/v23.0/me?fields=id,name,email,picture.type(large)",
            Fields { id: "/id", names: &["/name"], email: Some(("/email", Verified::Never)), picture: Some("/picture/data/url") },
        ),
    },
    Provider {
        id: "spotify",
        authorization_endpoint: "https://accounts.spotify.com/authorize",
        token_endpoint: "https://accounts.spotify.com/api/token",
        scope: "user-read-email user-read-private",
        extra: OFFLINE,
        client_auth: ClientAuth::Basic,
        // The document says in so many words that the address is not verified.
        identity: api(
            "https://api.spotify.com/v1/me",
            Fields { id: "/id", names: &["/display_name"], email: Some(("/email", Verified::Never)), picture: Some("/images/0/url") },
        ),
    },
    Provider {
        id: "discord",
        authorization_endpoint: "https://discord.com/oauth2/authorize",
        token_endpoint: "https://discord.com/api/oauth2/token",
        scope: "identify email",
        extra: OFFLINE,
        client_auth: ClientAuth::Body,
        identity: api(
            "https://discord.com/api/v10/users/@me",
            Fields { id: "/id", names: &["/global_name", "/username"], email: Some(("/email", Verified::If("/verified"))), picture: None },
        ),
    },
    Provider {
        id: "gitlab",
        authorization_endpoint: "https://gitlab.com/oauth/authorize",
        token_endpoint: "https://gitlab.com/oauth/token",
        scope: "openid read_user email",
        extra: OFFLINE,
        client_auth: ClientAuth::Body,
        identity: api(
            "https://gitlab.com/api/v4/user",
            Fields {
                id: "/id",
                names: &["/name", "/username"],
                email: Some(("/email", Verified::IfPresent("/confirmed_at"))),
                picture: Some("/avatar_url"),
            },
        ),
    },
    Provider {
        id: "bitbucket",
        authorization_endpoint: "https://bitbucket.org/site/oauth2/authorize",
        token_endpoint: "https://bitbucket.org/site/oauth2/access_token",
        scope: "account email",
        extra: OFFLINE,
        client_auth: ClientAuth::Basic,
        identity: Identity::Api(Api {
            url: "https://api.bitbucket.org/2.0/user",
            client_id_header: None,
            fields: Fields { id: "/account_id", names: &["/display_name"], email: None, picture: Some("/links/avatar/href") },
            addresses: Some((
                "https://api.bitbucket.org/2.0/user/emails",
                Addresses { list: "/values", email: "/email", primary: "/is_primary", verified: "/is_confirmed" },
            )),
        }),
    },
    Provider {
        id: "linkedin",
        authorization_endpoint: "https://www.linkedin.com/oauth/v2/authorization",
        token_endpoint: "https://www.linkedin.com/oauth/v2/accessToken",
        scope: "openid profile email",
        extra: OFFLINE,
        client_auth: ClientAuth::Body,
        identity: api("https://api.linkedin.com/v2/userinfo", Fields::OPENID),
    },
    Provider {
        id: "x",
        authorization_endpoint: "https://x.com/i/oauth2/authorize",
        token_endpoint: "https://api.x.com/2/oauth2/token",
        scope: "users.read users.email tweet.read offline.access",
        extra: OFFLINE,
        client_auth: ClientAuth::Basic,
        identity: api(
            "https://api.x.com/2/users/me?user.fields=confirmed_email,profile_image_url",
            Fields {
                id: "/data/id",
                names: &["/data/name", "/data/username"],
                email: Some(("/data/confirmed_email", Verified::Always)),
                picture: Some("/data/profile_image_url"),
            },
        ),
    },
    Provider {
        id: "twitch",
        authorization_endpoint: "https://id.twitch.tv/oauth2/authorize",
        token_endpoint: "https://id.twitch.tv/oauth2/token",
        scope: "user:read:email",
        extra: OFFLINE,
        client_auth: ClientAuth::Body,
        identity: Identity::Api(Api {
            url: "https://api.twitch.tv/helix/users",
            client_id_header: Some("client-id"),
            // The API gives an address only once the user has verified it.
            fields: Fields {
                id: "/data/0/id",
                names: &["/data/0/display_name"],
                email: Some(("/data/0/email", Verified::Always)),
                picture: Some("/data/0/profile_image_url"),
            },
            addresses: None,
        }),
    },
];

/// The provider of this id.
pub fn find(id: &str) -> Option<&'static Provider> {
    CATALOG.iter().find(|provider| provider.id == id)
}

/// The ids of all of them.
pub fn ids() -> impl Iterator<Item = &'static str> {
    CATALOG.iter().map(|provider| provider.id)
}

/// What an OpenID issuer outside the catalog is asked for.
pub const OPENID_SCOPE: &str = "openid email profile";
/// And the parameters it gets besides: a refresh token is given to those who ask for consent (OpenID Connect Core §11).
pub const OPENID_EXTRA: &[(&str, &str)] = OFFLINE;
