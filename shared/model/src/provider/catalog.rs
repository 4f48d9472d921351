//! The catalog of providers. Providers differ only in their data; the flow is the same for all.
//!
//! Endpoints, scopes and fields are taken from the providers' documentation. Other OpenID issuers
//! are discovered through their metadata (`shared/oauth/src/metadata.rs`).

use crate::provider::profile::{Addresses, Fields, Verified};

/// A provider of the catalog.
#[derive(Debug, Clone, Copy)]
pub struct Provider {
    /// The id, which app developers write in SDK calls.
    pub id: &'static str,
    /// Where users are redirected to authorize.
    pub authorization_endpoint: &'static str,
    /// Where authorization codes are exchanged for tokens.
    pub token_endpoint: &'static str,
    /// The scopes of every flow: for reading the account and, if the provider reports one, its
    /// email address, and for getting a refresh token if that requires a scope.
    pub scope: &'static str,
    /// Parameters for the authorization endpoint beyond those of RFC 6749, such as those that ask
    /// for a refresh token.
    pub extra: &'static [(&'static str, &'static str)],
    /// How the client authenticates at the token endpoint.
    pub client_auth: ClientAuth,
    /// The source of the account's data.
    pub identity: Identity,
}

/// How a client authenticates at the token endpoint (RFC 6749 §2.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientAuth {
    /// The id and the secret are sent with HTTP basic authentication.
    Basic,
    /// The id and the secret are sent in the body.
    Body,
}

/// The source of an account's data.
#[derive(Debug, Clone, Copy)]
pub enum Identity {
    /// An OpenID Connect ID token.
    IdToken {
        /// The issuer: the `iss` claim of the provider's tokens.
        issuer: &'static str,
        /// The URL of the provider's keys.
        jwks_uri: &'static str,
    },
    /// The provider's own API, called with the access token.
    Api(Api),
}

/// How to read an account from a provider's API.
#[derive(Debug, Clone, Copy)]
pub struct Api {
    /// The URL that returns the account.
    pub url: &'static str,
    /// The header in which the API expects the client id, if the API requires it.
    pub client_id_header: Option<&'static str>,
    /// Where the response contains the fields.
    pub fields: Fields,
    /// The URL that returns the email addresses, and where its response contains them, if the
    /// account does not include them.
    pub addresses: Option<(&'static str, Addresses)>,
}

/// Placeholder for a Microsoft tenant in an endpoint.
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
        // An administrator of the tenant can set any address, so no address counts as verified.
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
        // Spotify's documentation says explicitly that the address is not verified.
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
            // The API returns an address only once the user has verified it.
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

/// The provider of the catalog with this id.
pub fn find(id: &str) -> Option<&'static Provider> {
    CATALOG.iter().find(|provider| provider.id == id)
}

/// The ids of all providers of the catalog.
pub fn ids() -> impl Iterator<Item = &'static str> {
    CATALOG.iter().map(|provider| provider.id)
}

/// The scopes requested from an OpenID issuer outside the catalog.
pub const OPENID_SCOPE: &str = "openid email profile";
/// Additional parameters for an OpenID issuer outside the catalog: a refresh token requires
/// `prompt=consent` (OpenID Connect Core §11).
pub const OPENID_EXTRA: &[(&str, &str)] = OFFLINE;
