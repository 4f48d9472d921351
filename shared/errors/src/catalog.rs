//! The catalog of the product API's errors: what each code means, and what to do about it.
//!
//! The hint is sent with the error. The meaning is for the documentation, which only one function
//! contains: `edge-fallback`. A new variant does not compile without both texts.

use crate::known::KnownError;

macro_rules! catalog {
    ($($variant:ident: $meaning:literal, $hint:literal;)*) => {
        impl KnownError {
            /// When the error is returned; one sentence for the documentation.
            pub fn meaning(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $meaning,)* }
            }

            /// What the developer who gets the error can do.
            pub fn hint(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $hint,)* }
            }
        }
    };
}

#[rustfmt::skip]
catalog! {
    BodyParsingError: "The body cannot be parsed: it is not valid JSON, or its content type is wrong or not supported.",
        "Send valid JSON with the header `content-type: application/json`.";
    SchemaError: "The request has unknown, missing or malformed fields; the message lists at most 50 of them.",
        "Correct the listed fields; the API reference lists the fields of each operation.";
    ProjectKeyWithoutAccessType: "The request has a key but no access level.",
        "Send `X-Service-Access-Type: client`, `server` or `admin` with the key.";
    InvalidAccessType: "The access level is not client, server or admin.",
        "Set `X-Service-Access-Type` to `client`, `server` or `admin`.";
    AccessTypeWithoutProjectId: "The request has an access level but does not name a project.",
        "Send the project's id in `X-Service-Project-Id`.";
    AccessTypeRequired: "The operation requires authentication, and the request has none.",
        "Send `X-Service-Access-Type`, `X-Service-Project-Id` and the key of that access level.";
    InsufficientAccessType: "The operation requires a higher access level than the request has.",
        "Use an access level listed in `details`, with its key; call from a backend, so that the key stays secret.";
    InsufficientKeyPermission: "The permissions of the key are limited, and do not include the one that the operation requires.",
        "Create a key with the permission that `details` names, or use one without limits.";
    InvalidPublishableClientKey: "The client key does not exist in the project, has expired or was revoked.",
        "Check the project id and the `pck_` key; `gateway project keys` makes new ones.";
    InvalidSecretServerKey: "The server key does not exist in the project, has expired or was revoked.",
        "Check the project id and the `ssk_` key; `gateway project keys` makes new ones.";
    InvalidSuperSecretAdminKey: "The admin key does not exist in the project, has expired or was revoked.",
        "Check the project id and the `sak_` key; `gateway project keys` makes new ones.";
    PublishableClientKeyRequiredForProject: "The project requires its client key, and the request has none.",
        "Send the `pck_` key, or set `config.require_publishable_client_key` of the project to `false`.";
    ServerAuthenticationRequired: "The request claims server access without a server key.",
        "Send the `ssk_` key in `X-Service-Secret-Server-Key`, from a backend only.";
    AdminAuthenticationRequired: "The request claims admin access without an admin key.",
        "Send the `sak_` key in `X-Service-Super-Secret-Admin-Key`, or an admin access token.";
    UnparsableAdminAccessToken: "The admin access token is malformed or was not signed by this service, or its user is restricted.",
        "Send an access token of an unrestricted user of the project `internal`.";
    AdminAccessTokenExpired: "The admin access token has expired, or its session has ended.",
        "Refresh the session of the project's owner and repeat the request.";
    AdminAccessTokenIsNotAdmin: "The admin access token's user does not own the project.",
        "Sign in as a member of the team that owns the project.";
    ExpectedInternalProject: "The operation only exists in the project `internal`.",
        "Repeat the request with the project id `internal`.";
    ProjectNotFound: "The project does not exist.",
        "Check the project id; `gateway project list` shows all projects.";
    CurrentProjectNotFound: "The project that the request names does not exist.",
        "Check `X-Service-Project-Id`; `gateway project list` shows all projects.";
    BranchDoesNotExist: "The branch does not exist; the only branch of a project is `main`.",
        "Leave out `X-Service-Branch-Id`, or set it to `main`.";

    UnparsableAccessToken: "The access token is malformed or was not signed by this service.",
        "Refresh the session; tokens of another deployment or API address are not valid here.";
    AccessTokenExpired: "The access token has expired, or its session has ended.",
        "Refresh the session; if that fails, the user must sign in again.";
    InvalidProjectForAccessToken: "The access token belongs to another project.",
        "Set `X-Service-Project-Id` to the `project_id` claim of the token, or sign in to this project.";
    RefreshTokenNotFoundOrExpired: "The refresh token does not exist or has expired, or its session has ended.",
        "The user must sign in again.";
    UserAuthenticationRequired: "The operation requires a signed-in user.",
        "Send the user's access token in `X-Service-Access-Token`.";
    CannotDeleteCurrentSession: "The operation cannot end the session that it is called with.",
        "Sign out instead: `DELETE /api/v1/auth/sessions/current`.";
    CannotGetOwnUserWithoutUser: "The request refers to the current user, but nobody is signed in.",
        "Send the user's access token in `X-Service-Access-Token`, or name a user by id.";
    AnonymousAuthenticationNotAllowed: "The current user is anonymous, which the request does not allow.",
        "Send `X-Service-Allow-Anonymous-User: true`, or have the user sign up.";
    RestrictedUserNotAllowed: "The current user is restricted, which the request does not allow.",
        "Resolve the reason in `details`; for reads, `X-Service-Allow-Restricted-User: true` is enough.";

    UserEmailAlreadyExists: "Another account signs in with this address.",
        "Have the user sign in or reset the password, or use another address.";
    UserNotFound: "The user does not exist.",
        "Check the user id and the project.";
    UserIdDoesNotExist: "A user that the request names does not exist.",
        "Check the user id and the project.";
    SignUpNotEnabled: "The project does not accept new accounts.",
        "Set `config.sign_up_enabled` of the project to `true`, or create users with server access.";
    SignUpRejected: "A sign-up rule of the project rejected the account.",
        "Review the project's sign-up rules.";
    BotChallengeRequired: "The project requires a solved bot challenge, and the request has no valid one.",
        "Show the project's challenge, and repeat the request with `bot_challenge_token`.";
    BotChallengeFailed: "The bot challenge was shown but not solved, or cannot be checked.",
        "Show the message, and let the user solve another challenge; the log of the service has the reason.";
    PasswordAuthenticationNotEnabled: "The project does not offer sign-in with a password.",
        "Set `config.credential_enabled` of the project to `true`, or offer another way to sign in.";
    EmailPasswordMismatch: "The address or the password is wrong.",
        "Let the user try again or reset the password; the error never says which one is wrong.";
    PasswordTooShort: "The password is shorter than the project allows.",
        "Ask for a longer password; `details` contains the minimum length.";
    PasswordTooLong: "The password is longer than 128 characters.",
        "Ask for a shorter password; `details` contains the maximum length.";
    PasswordRequirementsNotMet: "The password is easy to guess.",
        "Show the message, and ask for another password; `details.reason` says why.";
    UserDoesNotHavePassword: "The user has no password.",
        "Set one with `POST /api/v1/auth/password/set`.";
    PasswordConfirmationMismatch: "The current password that the signed-in user gave is wrong.",
        "Let the user try again, or reset the password by email.";
    RedirectUrlNotWhitelisted: "The project does not trust the domain of a redirect or callback URL.",
        "Change `config.domains` or `config.allow_localhost`: `PATCH /api/v1/internal/projects/current` or the console.";
    VerificationCodeNotFound: "The code or invitation does not exist, or a change to the account has made it invalid.",
        "Check that the code is complete; get a new one by a new email, or by starting the sign-in or setup again.";
    VerificationCodeExpired: "The code has expired.",
        "Get a new code: have a new email sent, or start the sign-in or setup again.";
    VerificationCodeAlreadyUsed: "The code or invitation was used before.",
        "If it did its work, nothing is needed; otherwise get a new code by a new email, or by starting again.";
    VerificationCodeMaxAttemptsReached: "The code was tried too many times.",
        "Get a new code: have a new email sent, or start the sign-in or setup again.";
    EmailAlreadyVerified: "The address is already verified.",
        "Nothing needs to be done.";
    EmailIsNotPrimaryEmail: "The address is not the user's primary address.",
        "Call `POST /api/v1/contact-channels/{user_id}/{contact_channel_id}/send-verification-code` instead.";
    ContactChannelAlreadyUsedForAuthBySomeoneElse: "Another user signs in with this address.",
        "Use another address, or have the other user release this one.";

    MultiFactorAuthenticationRequired: "The account has a second factor.",
        "Ask for one of the `factors`, such as an app's code, and send it to `POST /api/v1/auth/mfa/sign-in`.";
    InvalidTotpCode: "The code from the authenticator app is wrong or was used before.",
        "Ask for the next code; check the clock of the user's device.";
    InvalidPollingCode: "The polling code of a tool or the device code of a device does not exist, or was used.",
        "Start again with `POST /api/v1/auth/cli` or `POST /api/v1/auth/oauth/device_authorization`.";
    AuthorizationPending: "The user has neither confirmed nor refused the sign-in of the device yet.",
        "Poll again after the `interval`.";
    SlowDown: "The device polls too often.",
        "Wait five seconds longer between polls.";
    DeviceCodeExpired: "Nobody confirmed the sign-in of the device in time, or the confirmation is no longer valid.",
        "Start again with `POST /api/v1/auth/oauth/device_authorization`.";
    DeviceDenied: "The sign-in of the device was refused.",
        "Tell the user; start again if the user wants to.";
    InvalidLoginCode: "The login code does not exist, or its sign-in has expired or was already confirmed or refused.",
        "Run the tool's sign-in again and open the new link.";
    NoAnonymousSession: "The sign-in of the command-line tool has no anonymous session, or that session has ended.",
        "Sign in in the browser, and confirm with the refresh token.";
    CliSessionNotAnonymous: "The user of the attached session is not anonymous, or the session is an impersonation.",
        "Start the sign-in without a refresh token.";
    InvalidRefreshToken: "The refresh token in the body does not exist, or its session has ended.",
        "Sign in again, and send the new refresh token.";
    PasskeyAuthenticationNotEnabled: "The project does not offer passkeys.",
        "Set `config.passkey_enabled` of the project to `true`, or offer another way to sign in.";
    PasskeyRegistrationFailed: "The browser's response does not prove that a passkey was created; the message says why.",
        "Start again with new options; check that the page's origin is a trusted domain.";
    PasskeyAuthenticationFailed: "The browser's response does not prove the possession of a passkey.",
        "Let the user try again with new options, or another way to sign in; the message says why.";
    InvalidOauthClientIdOrSecret: "The OAuth client id or secret is wrong.",
        "Send the project's id, and its `pck_` key, or for `client_credentials` an `ssk_` key.";
    InvalidScope: "The parameter `scope` is not `legacy`.",
        "Send `scope=legacy`, and name scopes of the provider in `provider_scope`.";
    InvalidAuthorizationCode: "The authorization code, its PKCE verifier or its redirect URI is not valid, or the provider refused the code.",
        "Start the sign-in again, as a code works once; if the provider refuses it, the log has the reason.";
    OauthProviderNotFoundOrNotEnabled: "The provider is not set up or not enabled, or has the type `shared` without a client of the deployment.",
        "Add the provider to the project's OAuth providers, allow sign-in with it, and check its id.";
    OauthProviderTemporarilyUnavailable: "The provider did not answer, or its answer was invalid or an error.",
        "Try again later; the log of the service has the reason.";
    OauthProviderAccessDenied: "The user or the provider refused the sign-in.",
        "Let the user try again; check the application's settings at the provider.";
    OuterOauthTimeout: "The sign-in took longer than ten minutes.",
        "Start the sign-in again.";
    OauthConnectionAlreadyConnectedToAnotherUser: "The provider account belongs to another user.",
        "Sign in with the provider, or unlink the account from the other user first.";
    OauthConnectionNotConnectedToUser: "The user has no account at this provider.",
        "Have the user link an account first.";
    OauthConnectionDoesNotHaveRequiredScope: "For older SDKs: the user has not granted the requested scope, or there is no usable token.",
        "Have the user link the account again with this scope.";
    OauthAccessTokenNotAvailable: "There is no usable access token of the provider, or the user has not granted the requested scope.",
        "Have the user link the account again; the message says why.";
    OauthProviderAccountIdAlreadyUsedForSignIn: "A user of the project already has this provider account.",
        "Link another account, or unlink this one from its user first.";
    AnotherProviderAccountSignsIn: "The user already signs in with another account of the provider.",
        "Add the account with `allow_sign_in: false`, or turn off `allow_sign_in` of the other account first.";
    InvalidSharedOauthProviderId: "The provider cannot have the type `shared`.",
        "Use `standard` with a client of your own; google, github, microsoft and spotify can be shared.";
    OauthExtraScopeNotAvailableWithSharedOauthKeys: "The provider has the type `shared`, which allows only the scopes for signing in.",
        "Register a client of your own at the provider, and set the type `standard`.";
    OauthAccessTokenNotAvailableWithSharedOauthKeys: "The provider has the type `shared`, which gives apps no access tokens.",
        "Register a client of your own at the provider, and set the type `standard`.";
    CrossDomainSessionMismatch: "The refresh token does not belong to the access token's session, or the session has ended.",
        "Send the refresh token of the session that the access token belongs to.";
    OauthProviderRefusesClient: "The provider does not accept the client id and secret of the project.",
        "Correct the client id and secret of the provider in the project's settings.";
    OauthProviderMisconfigured: "The provider's entry in the project's settings, or its registration at the provider, is wrong.",
        "Correct it and set the provider again: that tests it. The log has the reason of a failed sign-in.";
    AppleBundleIdNotConfigured: "The project has no bundle id of an app that signs in with Apple.",
        "Add the app's bundle id to `apple_bundle_ids` of the provider `apple`.";
    InvalidAppleCredentials: "The identity token was not issued by Apple for this project, has expired or was used, or its nonce is wrong.",
        "Let the user sign in with Apple again, and send the new token with its nonce.";

    TeamNotFound: "The team does not exist, or is not visible to the caller.",
        "Check the team id, and that the user is a member.";
    TeamMembershipNotFound: "The user is not a member of the team.",
        "Add the user to the team first.";
    TeamMembershipAlreadyExists: "The user is already a member of the team.",
        "Nothing needs to be done.";
    TeamOwnsProjects: "The team owns projects, so it cannot be deleted, and its last member cannot leave it.",
        "Transfer the projects to another team, or delete them, first.";
    TeamPermissionRequired: "The user lacks a permission in the team that the operation requires.",
        "Grant the permission in `details`, or call with server access.";
    TeamPermissionNotFound: "The user does not have the permission in the team.",
        "Check the permission id and the team.";
    TeamInvitationRestrictedUserNotAllowed: "A restricted user cannot accept an invitation.",
        "Resolve the reason in `details` first.";
    TeamInvitationEmailMismatch: "The invitation was sent to an address that the user has not verified.",
        "Sign in with the invited address, or verify it for this user.";
    PermissionNotFound: "The permission does not exist, or the user whose permission is to be revoked does not have it.",
        "Check its id, or define it first.";
    WrongPermissionScope: "The permission is for another scope: a team permission instead of a project permission, or the reverse.",
        "Use the operation for the permission's scope, which is in `details`.";
    ContainedPermissionNotFound: "A permission that this permission should contain does not exist.",
        "Define the contained permission first.";
    PermissionIdAlreadyExists: "A permission with this id already exists.",
        "Choose another id, or update the existing permission.";

    ApiKeyNotFound: "The API key, or set of API keys, does not exist, or the caller may not manage it.",
        "Check the key or its id. For a team's keys, a client needs `$manage_api_keys`.";
    ApiKeyExpired: "The API key has expired.",
        "Create a new key; to keep using a key, set a later time before it expires.";
    ApiKeyRevoked: "The API key has been revoked, or is void because its creator's account was in other hands.",
        "Create a new key; a revoked one cannot be restored.";
    WrongApiKeyType: "The API key belongs to a team instead of a user, or the reverse.",
        "Check the key with the operation for its type, which is in `details`.";
    PublicApiKeyCannotBeRevoked: "The API key is meant to be public, so finding it in public is no reason to revoke it.",
        "Report secret keys only; they begin with `sk_`.";
    EmailNotEditable: "The email is being sent, was sent, or was skipped or cancelled.",
        "Edit an email before it is sent; pause or schedule it to have time for that.";
    EmailRenderingError: "The template cannot be rendered; the message says where and why.",
        "Correct the template at the line in the message.";
    EmailCapacityBoostAlreadyActive: "A capacity boost is already active.",
        "Wait until the time in `details`.";

    RouteNotFound: "No operation has this path.",
        "Check the path, which has no slash at its end; the OpenAPI document lists all paths.";
    MethodNotAllowed: "The path exists, but not with this method.",
        "Use one of the methods in the `Allow` header.";
    BodyTooLarge: "The body is larger than the service accepts.",
        "Send less; the limit is in `details`.";
    UnsupportedContentEncoding: "The body is compressed or otherwise encoded, and the service decodes no bodies.",
        "Send the body without `Content-Encoding`: switch off the compression of requests in your HTTP client.";
    InternalError: "The service failed unexpectedly.",
        "Try again; if it keeps failing, search the log for the request id.";
    ServiceUnavailable: "The service is overloaded or needs more time for the change, or concurrent changes conflicted.",
        "Repeat the request after the seconds in `Retry-After`.";
    Forbidden: "The data does not belong to the current user.",
        "Client access only reaches the current user's data; use server access for other users' data.";
    SessionNotFound: "The user does not have this session.",
        "List the user's sessions; this one may have ended.";
    ContactChannelNotFound: "The user does not have this contact channel.",
        "List the user's contact channels.";
    ProviderAccountNotFound: "The user does not have this provider account.",
        "List the user's provider accounts.";
    TooManyProviderAccounts: "The user has the maximum number of provider accounts.",
        "Unlink one first.";
    ApiKeysNotEnabled: "The project does not permit API keys of this type of owner.",
        "Set `config.allow_user_api_keys` or `config.allow_team_api_keys` of the project to `true`.";
    TooManyApiKeys: "The user or team has the maximum number of active API keys.",
        "Revoke one that is not in use.";
    PasskeyNotFound: "The user does not have this passkey.",
        "List the user's passkeys.";
    TooManyPasskeys: "The user has the maximum number of passkeys.", "Delete one first.";
    LastSignInMethod: "After this change, the user would have no way to sign in.",
        "Add another way to sign in first.";
    EmailNotFound: "The email does not exist.",
        "Check its id and the project.";
    EmailTemplateNotFound: "The template does not exist.",
        "List the templates of the project.";
    EmailThemeNotFound: "The theme does not exist.",
        "List the themes of the project.";
    EmailThemeSelected: "The theme is selected as the project's theme.",
        "Set `config.email_theme` of the project to another theme, then delete this one.";
    EmailDraftNotFound: "The draft does not exist.",
        "List the drafts of the project.";
    NotificationCategoryNotFound: "The email category does not exist.",
        "List the user's notification preferences, which contain the ids of the categories.";
    InvalidCursor: "The cursor is malformed, or comes from another list or project.",
        "Start at the first page, and pass `next_cursor` on unchanged.";
    ConflictingHeaders: "A header was sent twice with different values, or is not text.",
        "Send the header once; `X-Stack-…` and `X-Hexclave-…` are synonyms of `X-Service-…`.";
    PreconditionFailed: "The resource has changed since it was read.",
        "Read it again and repeat the change with its new `ETag`.";
    MagicLinkNotEnabled: "The project does not offer sign-in by email, or the user has turned it off.",
        "Set `config.magic_link_enabled` of the project, or `otp_auth_enabled` of the user, to `true`.";
    BotChallengeNotEnabled: "The project does not use proof of work as its bot challenge.",
        "Set `config.bot_challenge.provider` of the project to `altcha`, or use the challenge that is configured.";
    AdminAccessTokenUserNotFound: "The admin access token's user no longer exists.",
        "Sign in as another owner of the project.";
    OverrideKeyNotSupported: "Development override keys are not supported.",
        "Leave out `X-Service-Development-Override-Key`, and send a key of the project.";
    UserHasPassword: "The user already has a password.",
        "Update it with `POST /api/v1/auth/password/update`.";
    ReauthenticationRequired: "The change or deletion requires that the user reauthenticates first; an impersonation cannot make it.",
        "Ask for the password or a code, and send it to `POST /api/v1/auth/sessions/current/reauthenticate`.";
    UserDeletionNotEnabled: "The project does not let users delete themselves.",
        "Set `config.client_user_deletion_enabled` of the project to `true`, or delete the user with server access.";
    PrimaryEmailRequired: "The user has no primary address.",
        "Send `primary_email` as well.";
    TooManyContactChannels: "The user has the maximum number of contact channels.", "Delete one first.";
    TooManyTeamMemberships: "The user belongs to the maximum number of teams.", "Leave one of them, or add the user to the team with server access.";
    TooManyTeams: "The user has created the maximum number of teams.", "Delete one of them, raise `config.max_teams_per_user`, or create the team with server access.";
    TooManyInvitations: "The team has the maximum number of invitations by members that wait for an answer.", "Revoke one, wait until one is accepted or expires, or invite with server access.";
    TooManyProjects: "The team owns the maximum number of projects.", "Delete one that is not used, or let another team own the project.";
    ProfileImageNotFound: "The image does not exist.",
        "Read the user or team again for its current image.";
    ContactChannelAlreadyExists: "The user already has a contact channel with this value.",
        "Update the existing channel.";
    OauthStateNotFound: "The sign-in was not started with this service in this browser, or it has already ended.",
        "Start the sign-in again in the same browser.";
    TeamCreationNotEnabled: "The project does not let clients create teams.",
        "Set `config.client_team_creation_enabled` of the project to `true`, or create the team with server access.";
    PermissionContainsItself: "The permission would contain itself.",
        "Remove the cycle from the contained permissions.";
    InternalProjectStays: "The project `internal` cannot be deleted.",
        "Delete its users and teams instead.";
    TooManyPermissions: "The project has the maximum number of permissions of this scope.",
        "Delete one that is not used.";
    TooManyEmailDocuments: "The project has the maximum number of templates, themes or drafts.",
        "Delete one that is not used.";
    TooManyWebhookEndpoints: "The project has the maximum number of webhook endpoints.",
        "Delete one that is not used, or send several types of events to the same endpoint.";
    WebhookEndpointNotFound: "The webhook endpoint does not exist.",
        "Check the id; `GET /api/v1/internal/webhook-endpoints` lists the project's endpoints.";
    WebhookDeliveryNotFound: "The endpoint has no such delivery; deliveries are kept for 30 days.",
        "Check the id and the endpoint; list the deliveries of the endpoint.";
    WebhookUrlNotAllowed: "Events are not sent to this URL.",
        "Use a public `https` URL; `details` says what is wrong with this one.";
    InvalidRecoveryCode: "The recovery code is wrong or was used before.",
        "Ask for another code of the newest set, or for a code from the authenticator app.";
    AuthenticatorAppRequired: "The user has no authenticator app; recovery codes only replace the codes of an app.",
        "Set up an authenticator app first: `POST /api/v1/auth/mfa/authenticators`.";
    AuthenticatorNotFound: "The signed-in user has no authenticator app with this id.",
        "List the apps: `GET /api/v1/auth/mfa/authenticators`.";
    DeviceNotFound: "The signed-in user has no remembered device with this id.",
        "List the devices: `GET /api/v1/auth/mfa/devices`.";
    TooManyAuthenticators: "The user has the maximum number of authenticator apps.", "Let the user remove one that is no longer used.";
    RateLimited: "Too many requests of this kind in a short time.",
        "Wait for the seconds in `Retry-After`; the `RateLimit` headers name the limit.";
}
