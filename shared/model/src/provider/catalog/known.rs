//! The providers in the catalog.

use crate::provider::catalog::includes;
use crate::provider::catalog::kinds::{Api, ClientAuth, Identity, OfflineAccess, Provider, TokenCheck};
use crate::provider::catalog::scopes::{OFFLINE_ACCESS, Scopes};
use crate::provider::profile::{Addresses, EmailVerification, Fields};

pub(super) static CATALOG: [&Provider; 12] =
    [&GOOGLE, &GITHUB, &MICROSOFT, &APPLE, &FACEBOOK, &SPOTIFY, &DISCORD, &GITLAB, &BITBUCKET, &LINKEDIN, &X, &TWITCH];

const GOOGLE: Provider = Provider {
    id: "google",
    docs: "https://developers.google.com/identity/protocols/oauth2/web-server",
    notes: "Google issues a refresh token only with `access_type=offline`, and a second refresh \
            token only with `prompt=consent`. Google reports `email` and `profile` under their \
            long names.",
    authorization_endpoint: "https://accounts.google.com/o/oauth2/v2/auth",
    token_endpoint: "https://oauth2.googleapis.com/token",
    scope: "openid email profile",
    sign_in: &[],
    offline: OfflineAccess { scope: "", parameters: &[("access_type", "offline"), ("prompt", "consent")] },
    takes_pkce: true,
    client_auth: ClientAuth::Body,
    wants_scope: false,
    scopes: Scopes {
        prefixes: &["https://www.googleapis.com/auth/"],
        aliases: &[("email", "userinfo.email"), ("profile", "userinfo.profile")],
        includes: includes::GOOGLE,
        ..Scopes::PLAIN
    },
    identity: Identity::IdToken { issuer: "https://accounts.google.com", jwks_uri: "https://www.googleapis.com/oauth2/v3/certs" },
    token_check: TokenCheck::TokenInfo("https://oauth2.googleapis.com/tokeninfo"),
};

const GITHUB: Provider = Provider {
    id: "github",
    docs: "https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps",
    notes: "GitHub does not report scopes that another scope includes. A GitHub App reports no \
            scopes. Without the permission *Email addresses*, a GitHub App cannot read addresses, \
            and users sign in without an address. Errors of the token endpoint have the status \
            200.",
    authorization_endpoint: "https://github.com/login/oauth/authorize",
    token_endpoint: "https://github.com/login/oauth/access_token",
    scope: "user:email",
    sign_in: &[],
    offline: OfflineAccess::UNASKED,
    takes_pkce: true,
    client_auth: ClientAuth::Body,
    wants_scope: false,
    scopes: Scopes { includes: includes::GITHUB, ..Scopes::PLAIN },
    identity: Identity::Api(Api {
        addresses: Some((
            "https://api.github.com/user/emails",
            Addresses { list: "", email: "/email", primary: "/primary", verified: "/verified" },
        )),
        ..Api::new(
            "https://api.github.com/user",
            Fields { id: "/id", names: &[&["/name"], &["/login"]], emails: &[], picture: Some("/avatar_url") },
        )
    }),
    token_check: TokenCheck::Account,
};

const MICROSOFT: Provider = Provider {
    id: "microsoft",
    docs: "https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-auth-code-flow",
    notes: "Entra itself asks for consent when a scope is new. `prompt=consent` would ask all \
            users again, and would ask users who are not administrators for an approval. \
            `offline_access` requests a refresh token, and is never reported. Token requests \
            repeat the scopes, which tell Entra for which API the token is. An account without a \
            mailbox has `mail: null`. Its `userPrincipalName` then counts as the address, unless \
            the account is a guest's (`#EXT#`). An administrator of a tenant can set any address, \
            so addresses never count as verified.",
    authorization_endpoint: "https://login.microsoftonline.com/{tenant}/oauth2/v2.0/authorize",
    token_endpoint: "https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token",
    scope: "openid email profile User.Read",
    sign_in: &[],
    offline: OfflineAccess { scope: OFFLINE_ACCESS, parameters: &[] },
    takes_pkce: true,
    client_auth: ClientAuth::Body,
    wants_scope: true,
    scopes: Scopes {
        prefixes: &["https://graph.microsoft.com/"],
        ignores_case: true,
        narrower: &[(".readwrite", ".read")],
        unreported: &[OFFLINE_ACCESS, ".default"],
        ..Scopes::PLAIN
    },
    identity: Identity::Api(Api::new(
        "https://graph.microsoft.com/v1.0/me",
        Fields {
            id: "/id",
            names: &[&["/displayName"], &["/givenName", "/surname"]],
            emails: &[("/mail", EmailVerification::Never), ("/userPrincipalName", EmailVerification::Never)],
            picture: None,
        },
    )),
    token_check: TokenCheck::Account,
};

const APPLE: Provider = Provider {
    id: "apple",
    docs: "https://developer.apple.com/documentation/signinwithapplerestapi",
    notes: "Apple posts its response as a form when `name` or `email` is requested, and sends the \
            name only at the first sign-in. Apple issues a refresh token without being asked.",
    authorization_endpoint: "https://appleid.apple.com/auth/authorize",
    token_endpoint: "https://appleid.apple.com/auth/token",
    scope: "openid name email",
    sign_in: &[("response_mode", "form_post")],
    offline: OfflineAccess { scope: "", parameters: &[("response_mode", "form_post")] },
    takes_pkce: true,
    client_auth: ClientAuth::Body,
    wants_scope: false,
    scopes: Scopes::PLAIN,
    identity: Identity::IdToken { issuer: "https://appleid.apple.com", jwks_uri: "https://appleid.apple.com/auth/keys" },
    token_check: TokenCheck::None,
};

const FACEBOOK: Provider = Provider {
    id: "facebook",
    docs: "https://developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow",
    notes: "Calls to the Graph API contain `appsecret_proof`, because apps can [require \
            it](https://developers.facebook.com/docs/graph-api/guides/secure-requests). \
            `auth_type=rerequest` asks again for permissions that the user once declined. Facebook \
            issues no refresh tokens. A token that is no longer accepted gets error 190. Facebook \
            does not say whether it has verified an address.",
    authorization_endpoint: "https://www.facebook.com/v23.0/dialog/oauth",
    token_endpoint: "https://graph.facebook.com/v23.0/oauth/access_token",
    scope: "public_profile email",
    sign_in: &[],
    offline: OfflineAccess { scope: "", parameters: &[("auth_type", "rerequest")] },
    takes_pkce: true,
    client_auth: ClientAuth::Body,
    wants_scope: false,
    scopes: Scopes::PLAIN,
    identity: Identity::Api(Api {
        secret_proof: Some("appsecret_proof"),
        ..Api::new(
            "https://graph.facebook.com/v23.0/me?fields=id,name,email,picture.type(large)",
            Fields { id: "/id", names: &[&["/name"]], emails: &[("/email", EmailVerification::Never)], picture: Some("/picture/data/url") },
        )
    }),
    token_check: TokenCheck::AccountError(190),
};

const SPOTIFY: Provider = Provider {
    id: "spotify",
    docs: "https://developer.spotify.com/documentation/web-api/tutorials/code-flow",
    notes: "Spotify issues refresh tokens without being asked. According to its documentation, \
            Spotify does not verify addresses.",
    authorization_endpoint: "https://accounts.spotify.com/authorize",
    token_endpoint: "https://accounts.spotify.com/api/token",
    scope: "user-read-email user-read-private",
    sign_in: &[],
    offline: OfflineAccess::UNASKED,
    takes_pkce: true,
    client_auth: ClientAuth::Basic,
    wants_scope: false,
    scopes: Scopes::PLAIN,
    identity: Identity::Api(Api::new(
        "https://api.spotify.com/v1/me",
        Fields { id: "/id", names: &[&["/display_name"]], emails: &[("/email", EmailVerification::Never)], picture: Some("/images/0/url") },
    )),
    token_check: TokenCheck::Account,
};

const DISCORD: Provider = Provider {
    id: "discord",
    docs: "https://discord.com/developers/docs/topics/oauth2",
    notes: "With `prompt=none`, Discord asks for consent only for new scopes. Otherwise, Discord \
            asks every time. It issues refresh tokens without being asked.",
    authorization_endpoint: "https://discord.com/oauth2/authorize",
    token_endpoint: "https://discord.com/api/oauth2/token",
    scope: "identify email",
    sign_in: &[("prompt", "none")],
    offline: OfflineAccess { scope: "", parameters: &[("prompt", "consent")] },
    takes_pkce: true,
    client_auth: ClientAuth::Body,
    wants_scope: false,
    scopes: Scopes::PLAIN,
    identity: Identity::Api(Api::new(
        "https://discord.com/api/v10/users/@me",
        Fields {
            id: "/id",
            names: &[&["/global_name"], &["/username"]],
            emails: &[("/email", EmailVerification::If("/verified"))],
            picture: None,
        },
    )),
    token_check: TokenCheck::Account,
};

const GITLAB: Provider = Provider {
    id: "gitlab",
    docs: "https://docs.gitlab.com/api/oauth2/",
    notes: "GitLab issues refresh tokens without being asked. An address is verified if the account \
            has been confirmed.",
    authorization_endpoint: "https://gitlab.com/oauth/authorize",
    token_endpoint: "https://gitlab.com/oauth/token",
    scope: "openid read_user email",
    sign_in: &[],
    offline: OfflineAccess::UNASKED,
    takes_pkce: true,
    client_auth: ClientAuth::Body,
    wants_scope: false,
    scopes: Scopes { includes: &[("api", &["read_api"]), ("read_api", &["read_user"])], ..Scopes::PLAIN },
    identity: Identity::Api(Api::new(
        "https://gitlab.com/api/v4/user",
        Fields {
            id: "/id",
            names: &[&["/name"], &["/username"]],
            emails: &[("/email", EmailVerification::IfPresent("/confirmed_at"))],
            picture: Some("/avatar_url"),
        },
    )),
    token_check: TokenCheck::Account,
};

const BITBUCKET: Provider = Provider {
    id: "bitbucket",
    docs: "https://developer.atlassian.com/cloud/bitbucket/oauth-2/",
    notes: "Bitbucket issues refresh tokens without being asked, and reports the scopes as `scopes`.",
    authorization_endpoint: "https://bitbucket.org/site/oauth2/authorize",
    token_endpoint: "https://bitbucket.org/site/oauth2/access_token",
    scope: "account email",
    sign_in: &[],
    offline: OfflineAccess::UNASKED,
    takes_pkce: true,
    client_auth: ClientAuth::Basic,
    wants_scope: false,
    scopes: Scopes { includes: includes::BITBUCKET, ..Scopes::PLAIN },
    identity: Identity::Api(Api {
        addresses: Some((
            "https://api.bitbucket.org/2.0/user/emails",
            Addresses { list: "/values", email: "/email", primary: "/is_primary", verified: "/is_confirmed" },
        )),
        ..Api::new(
            "https://api.bitbucket.org/2.0/user",
            Fields { id: "/account_id", names: &[&["/display_name"]], emails: &[], picture: Some("/links/avatar/href") },
        )
    }),
    token_check: TokenCheck::Account,
};

const LINKEDIN: Provider = Provider {
    id: "linkedin",
    docs: "https://learn.microsoft.com/en-us/linkedin/shared/authentication/authorization-code-flow",
    notes: "LinkedIn refuses a `code_verifier` from a client that has a secret, so flows do not \
            use PKCE. The client secret, and the state, which works once, protect the code. Most \
            apps get no refresh tokens.",
    authorization_endpoint: "https://www.linkedin.com/oauth/v2/authorization",
    token_endpoint: "https://www.linkedin.com/oauth/v2/accessToken",
    scope: "openid profile email",
    sign_in: &[],
    offline: OfflineAccess::UNASKED,
    takes_pkce: false,
    client_auth: ClientAuth::Body,
    wants_scope: false,
    scopes: Scopes::PLAIN,
    identity: Identity::Api(Api::new("https://api.linkedin.com/v2/userinfo", Fields::OPENID)),
    token_check: TokenCheck::Account,
};

const X: Provider = Provider {
    id: "x",
    docs: "https://docs.x.com/resources/fundamentals/authentication/oauth-2-0/authorization-code",
    notes: "The scope `offline.access` requests a refresh token. X reports only an address that the \
            user has confirmed.",
    authorization_endpoint: "https://x.com/i/oauth2/authorize",
    token_endpoint: "https://api.x.com/2/oauth2/token",
    scope: "users.read users.email tweet.read",
    sign_in: &[],
    offline: OfflineAccess { scope: "offline.access", parameters: &[] },
    takes_pkce: true,
    client_auth: ClientAuth::Basic,
    wants_scope: false,
    scopes: Scopes { unreported: &[OFFLINE_ACCESS, "offline.access"], ..Scopes::PLAIN },
    identity: Identity::Api(Api::new(
        "https://api.x.com/2/users/me?user.fields=confirmed_email,profile_image_url",
        Fields {
            id: "/data/id",
            names: &[&["/data/name"], &["/data/username"]],
            emails: &[("/data/confirmed_email", EmailVerification::Always)],
            picture: Some("/data/profile_image_url"),
        },
    )),
    token_check: TokenCheck::Account,
};

const TWITCH: Provider = Provider {
    id: "twitch",
    docs: "https://dev.twitch.tv/docs/authentication/getting-tokens-oauth/",
    notes: "Twitch reports the scopes as a list, and an address only once the user has verified \
            it. The Twitch API requires the client id in a header. Twitch issues refresh tokens \
            without being asked.",
    authorization_endpoint: "https://id.twitch.tv/oauth2/authorize",
    token_endpoint: "https://id.twitch.tv/oauth2/token",
    scope: "user:read:email",
    sign_in: &[],
    offline: OfflineAccess::UNASKED,
    takes_pkce: true,
    client_auth: ClientAuth::Body,
    wants_scope: false,
    scopes: Scopes { includes: includes::TWITCH, ..Scopes::PLAIN },
    identity: Identity::Api(Api {
        client_id_header: Some("client-id"),
        ..Api::new(
            "https://api.twitch.tv/helix/users",
            Fields {
                id: "/data/0/id",
                names: &[&["/data/0/display_name"]],
                emails: &[("/data/0/email", EmailVerification::Always)],
                picture: Some("/data/0/profile_image_url"),
            },
        )
    }),
    token_check: TokenCheck::Account,
};
