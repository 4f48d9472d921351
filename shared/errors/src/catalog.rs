//! The catalog of the product API's errors: what each code means, and what to do about it.
//!
//! The hint travels with the error; the meaning is for the documentation and is not linked into
//! functions. Both tables are exhaustive, so a new variant does not compile without its texts.

use http::StatusCode;

use crate::known::KnownError;

/// A code as the documentation lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub code: &'static str,
    pub status: StatusCode,
    /// When the error is answered.
    pub meaning: &'static str,
    /// What the developer who gets it can do.
    pub hint: &'static str,
}

macro_rules! catalog {
    ($($variant:ident: $meaning:literal, $hint:literal;)*) => {
        impl KnownError {
            /// When the error is answered; one sentence for the documentation.
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

impl KnownError {
    /// Every code once.
    pub fn catalog() -> impl Iterator<Item = Entry> {
        Self::samples().map(|error| Entry { code: error.code(), status: error.status(), meaning: error.meaning(), hint: error.hint() })
    }
}

#[rustfmt::skip]
catalog! {
    BodyParsingError: "The body is not valid JSON, or its content type does not say what it is.",
        "Send valid JSON with the header `content-type: application/json`.";
    SchemaError: "The request has unknown, missing or malformed fields; the message lists each one.",
        "Correct the listed fields; the API reference has the fields of each operation.";
    ProjectKeyWithoutAccessType: "The request has a key but no access type.",
        "Send `X-Service-Access-Type: client`, `server` or `admin` beside the key.";
    InvalidAccessType: "The access type is not one of client, server and admin.",
        "Set `X-Service-Access-Type` to `client`, `server` or `admin`.";
    AccessTypeWithoutProjectId: "The request has an access type but does not name a project.",
        "Send the project's id in `X-Service-Project-Id`.";
    AccessTypeRequired: "The operation requires authentication, and the request has none.",
        "Send `X-Service-Access-Type`, `X-Service-Project-Id` and the key of that access type.";
    InsufficientAccessType: "The operation requires a higher access type than the request has.",
        "Use one of the access types in `details`; call from a backend, where its key is safe.";
    InvalidPublishableClientKey: "The client key does not exist in the project, expired or was revoked.",
        "Compare project id and `pck_` key with those of the project; `gateway project keys` makes new ones.";
    InvalidSecretServerKey: "The server key does not exist in the project, expired or was revoked.",
        "Compare project id and `ssk_` key with those of the project; `gateway project keys` makes new ones.";
    InvalidSuperSecretAdminKey: "The admin key does not exist in the project, expired or was revoked.",
        "Compare project id and `sak_` key with those of the project; `gateway project keys` makes new ones.";
    PublishableClientKeyRequiredForProject: "The project requires its client key, and the request has none.",
        "Send the `pck_` key, or clear the project's setting `project.requirePublishableClientKey`.";
    ServerAuthenticationRequired: "The request asks for server access without a server key.",
        "Send the `ssk_` key in `X-Service-Secret-Server-Key`, from a backend only.";
    AdminAuthenticationRequired: "The request asks for admin access without an admin key.",
        "Send the `sak_` key in `X-Service-Super-Secret-Admin-Key`, or an admin access token.";
    UnparsableAdminAccessToken: "The admin access token is malformed or was not signed by this service.",
        "Send an access token of a user of the project `internal`.";
    AdminAccessTokenExpired: "The admin access token has expired.",
        "Refresh the session of the project's owner and repeat the request.";
    AdminAccessTokenIsNotAdmin: "The admin access token's user does not own the project.",
        "Sign in as a member of the team that owns the project.";
    ExpectedInternalProject: "The operation exists in the project `internal` only.",
        "Repeat the request with the project id `internal`.";
    ProjectNotFound: "The project does not exist.",
        "Check the project id; `gateway project list` shows all projects.";
    CurrentProjectNotFound: "The project that the request names does not exist.",
        "Check `X-Service-Project-Id`; `gateway project list` shows all projects.";
    BranchDoesNotExist: "The branch does not exist; every project has the branch `main` alone.",
        "Leave out `X-Service-Branch-Id`, or set it to `main`.";

    UnparsableAccessToken: "The access token is malformed or was not signed by this service.",
        "Refresh the session; tokens of another deployment or API address are not valid here.";
    AccessTokenExpired: "The access token has expired, or its session has ended.",
        "Refresh the session; if that fails, the user has to sign in again.";
    InvalidProjectForAccessToken: "The access token belongs to another project.",
        "Send the token with the project id in its `project_id` claim, or sign in to this project.";
    RefreshTokenNotFoundOrExpired: "The refresh token does not exist, expired, or its session has ended.",
        "The user has to sign in again.";
    UserAuthenticationRequired: "The operation requires a signed-in user.",
        "Send the user's access token in `X-Service-Access-Token`.";
    CannotDeleteCurrentSession: "The operation cannot end the session that it is called with.",
        "Sign out instead: `DELETE /api/v1/auth/sessions/current`.";
    CannotGetOwnUserWithoutUser: "The request speaks of the current user, and none is signed in.",
        "Send the user's access token in `X-Service-Access-Token`, or name a user by id.";
    AnonymousAuthenticationNotAllowed: "The current user is anonymous, which the request does not allow.",
        "Send `X-Service-Allow-Anonymous-User: true`, or have the user sign up.";
    RestrictedUserNotAllowed: "The current user is restricted, which the request does not allow.",
        "Resolve the reason in `details`; to read, send `X-Service-Allow-Restricted-User: true`.";

    UserEmailAlreadyExists: "Another account signs in with this address.",
        "Have the user sign in or reset the password, or use another address.";
    UserNotFound: "The user does not exist.",
        "Check the user id and the project.";
    UserIdDoesNotExist: "A user that the request names does not exist.",
        "Check the user id and the project.";
    SignUpNotEnabled: "The project does not accept new accounts.",
        "Turn on `auth.allowSignUp`, or create users with server access.";
    SignUpRejected: "A sign-up rule of the project rejected the account.",
        "Review the project's sign-up rules.";
    BotChallengeRequired: "The project asks for a solved bot challenge, and the request has none that counts.",
        "Show the project's challenge, and repeat the request with `bot_challenge_token`.";
    BotChallengeFailed: "The bot challenge was shown and not solved, or cannot be checked.",
        "Show the message, and let the user solve another challenge; the log of the service has the reason.";
    PasswordAuthenticationNotEnabled: "The project does not offer sign-in with a password.",
        "Turn on `auth.password.allowSignIn`, or offer another way to sign in.";
    EmailPasswordMismatch: "The address or the password is wrong.",
        "Let the user try again or reset the password; the answer never says which one is wrong.";
    PasswordTooShort: "The password is shorter than the project allows.",
        "Ask for at least the number of characters in `details`.";
    PasswordTooLong: "The password is longer than 128 characters.",
        "Ask for at most the number of characters in `details`.";
    PasswordRequirementsNotMet: "The password is easy to guess.",
        "Show the message, and ask for another password; `details.reason` says why.";
    UserDoesNotHavePassword: "The user has no password.",
        "Set one with `POST /api/v1/auth/password/set`.";
    PasswordConfirmationMismatch: "The old password is wrong.",
        "Let the user try again, or reset the password by email.";
    RedirectUrlNotWhitelisted: "The project does not trust the domain of a redirect or callback URL.",
        "Add the origin that the error names to the project's trusted domains, `config.domains`.";
    VerificationCodeNotFound: "The code does not exist.",
        "Check that the code arrived whole, or send a new one.";
    VerificationCodeExpired: "The code has expired.",
        "Send a new code.";
    VerificationCodeAlreadyUsed: "The code was used before.",
        "Send a new code.";
    VerificationCodeMaxAttemptsReached: "The code was tried too often.",
        "Send a new code.";
    EmailAlreadyVerified: "The address is verified already.",
        "Nothing is left to do: go on.";
    EmailIsNotPrimaryEmail: "The address is not the user's primary one.",
        "Use the primary address, or the operation that takes the id of a contact channel.";
    ContactChannelAlreadyUsedForAuthBySomeoneElse: "Another user signs in with this address.",
        "Use another address, or have its owner release it.";

    MultiFactorAuthenticationRequired: "The account has a second factor.",
        "Ask for a code of the authenticator app and send it to `/api/v1/auth/mfa/sign-in`.";
    InvalidTotpCode: "The code of the authenticator app is wrong or was used before.",
        "Ask for the next code; check the clock of the user's device.";

    InvalidOauthClientIdOrSecret: "The OAuth client id or secret is wrong.",
        "The id is the project's, the secret its client key.";
    InvalidScope: "The scope cannot be requested.",
        "Request a scope that the provider and the project offer.";
    InvalidAuthorizationCode: "The authorization code, its verifier or its redirect URI is not valid.",
        "Start the sign-in again; a code works once, for the flow that requested it.";
    OauthProviderNotFoundOrNotEnabled: "The project has not set up this provider.",
        "Add the provider to the project's OAuth providers and check its id.";
    OauthProviderTemporarilyUnavailable: "The provider did not answer, or not sensibly.",
        "Try again soon; the log says what the provider answered.";
    OauthProviderAccessDenied: "The user or the provider refused the sign-in.",
        "Let the user try again; check the application's settings at the provider.";
    OuterOauthTimeout: "The sign-in took longer than ten minutes.",
        "Start the sign-in again.";
    OauthConnectionAlreadyConnectedToAnotherUser: "The provider account belongs to another user.",
        "Sign in with the provider, or unlink it from the other user first.";
    OauthConnectionNotConnectedToUser: "The user has no account at this provider.",
        "Have the user link an account first.";
    OauthConnectionDoesNotHaveRequiredScope: "The user has not granted the requested scope.",
        "Have the user link the account again with this scope.";
    OauthAccessTokenNotAvailable: "The provider has issued no access token, or does not renew it.",
        "Have the user link the account again.";
    OauthProviderAccountIdAlreadyUsedForSignIn: "The provider account signs another user in.",
        "Link another account, or turn off sign-in for the other link.";

    TeamNotFound: "The team does not exist, or is not visible to the caller.",
        "Check the team id, and that the user is a member.";
    TeamMembershipNotFound: "The user is not a member of the team.",
        "Add the user to the team first.";
    TeamMembershipAlreadyExists: "The user is a member of the team already.",
        "Nothing is left to do: go on.";
    TeamPermissionRequired: "The user lacks the permission in the team.",
        "Grant the permission in `details`, or call with server access.";
    TeamPermissionNotFound: "The user does not have the permission in the team.",
        "Check the permission id and the team.";
    TeamInvitationRestrictedUserNotAllowed: "A restricted user cannot accept an invitation.",
        "Resolve the reason in `details` first.";
    TeamInvitationEmailMismatch: "The invitation was sent to an address that the user has not verified.",
        "Sign in with the invited address, or verify it for this user.";
    PermissionNotFound: "The permission does not exist.",
        "Check its id, or define it first.";
    WrongPermissionScope: "The permission exists in the other scope: a team's or the project's.",
        "Use the operation for the permission's scope, which is in `details`.";
    ContainedPermissionNotFound: "A permission that should be contained does not exist.",
        "Define the contained permission first.";
    PermissionIdAlreadyExists: "A permission with this id exists already.",
        "Choose another id, or update the existing permission.";

    ApiKeyNotFound: "The set of keys does not exist.",
        "Check its id; `GET /api/v1/internal/api-keys` lists all sets.";
    EmailNotEditable: "The email is being sent, was sent, or was cancelled.",
        "Edit emails before they are sent: pause or schedule them.";
    EmailRenderingError: "The template cannot be rendered; the message says where and why.",
        "Correct the template at the line in the message.";
    EmailCapacityBoostAlreadyActive: "The project sends faster already.",
        "Wait until the time in `details`.";

    RouteNotFound: "No operation has this path.",
        "Check the path; the OpenAPI document lists all of them.";
    MethodNotAllowed: "The path exists, but not with this method.",
        "Use one of the methods in the `Allow` header.";
    BodyTooLarge: "The body is larger than the service accepts.",
        "Send less; the limit is in `details`.";
    InternalError: "Something failed on the side of the service.",
        "Try again; if it goes on, look for the request id in the log.";
    ServiceUnavailable: "The service is overloaded, or another change won.",
        "Repeat the request after the seconds in `Retry-After`.";
    Forbidden: "The data belongs to another user.",
        "Client access reaches the current user's data; use server access for others.";
    SessionNotFound: "The user has no such session.",
        "List the user's sessions; it may have ended.";
    ContactChannelNotFound: "The user has no such contact channel.",
        "List the user's contact channels.";
    ProviderAccountNotFound: "The user has no such provider account.",
        "List the user's provider accounts.";
    TooManyProviderAccounts: "The user has as many provider accounts as are allowed.",
        "Unlink one first.";
    LastSignInMethod: "The user could not sign in any more.",
        "Add another way to sign in first.";
    EmailNotFound: "The email does not exist.",
        "Check its id and the project.";
    EmailTemplateNotFound: "The template does not exist.",
        "List the templates of the project.";
    EmailThemeNotFound: "The theme does not exist.",
        "List the themes of the project.";
    EmailDraftNotFound: "The draft does not exist.",
        "List the drafts of the project.";
    NotificationCategoryNotFound: "The category of emails does not exist.",
        "List the user's preferences for the ids.";
    InvalidCursor: "The cursor is damaged, or belongs to another list or project.",
        "Start at the first page, and pass `next_cursor` on unchanged.";
    ConflictingHeaders: "A header was sent twice with different values, or is not text.",
        "Send the header once; `X-Stack-…` and `X-Hexclave-…` are synonyms of `X-Service-…`.";
    PreconditionFailed: "The entry has changed since it was read.",
        "Read it again and repeat the change with its new `ETag`.";
    MagicLinkNotEnabled: "The project does not offer sign-in by email.",
        "Turn on `auth.otp.allowSignIn`.";
    BotChallengeNotEnabled: "The project does not use proof of work as its bot challenge.",
        "Set the project's `auth.botChallenge.provider` to `altcha`, or use the challenge that it has.";
    AdminAccessTokenUserNotFound: "The admin access token's user does not exist any more.",
        "Sign in as another owner of the project.";
    OverrideKeyNotSupported: "Development override keys are not supported.",
        "Leave the header out and send the project's own key.";
    UserHasPassword: "The user has a password already.",
        "Update it with `POST /api/v1/auth/password/update`.";
    ReauthenticationRequired: "The project requires a fresh proof of the user for this change.",
        "Ask for the password or a code, and send it to `POST /auth/sessions/current/reauthenticate`.";
    UserDeletionNotEnabled: "The project does not let users delete themselves.",
        "Turn on `users.allowClientUserDeletion`, or delete the user with server access.";
    PrimaryEmailRequired: "The user has no primary address.",
        "Send `primary_email` as well.";
    TooManyContactChannels: "The user has as many contact channels as are allowed.",
        "Delete one first.";
    ProfileImageNotFound: "The image does not exist.",
        "Read the user or team again for its current image.";
    ContactChannelAlreadyExists: "The user has a contact channel with this value already.",
        "Update the existing channel.";
    OauthStateNotFound: "The sign-in was not started here, not in this browser, or is over.",
        "Start the sign-in again in the same browser.";
    TeamCreationNotEnabled: "The project does not let clients create teams.",
        "Turn on `teams.allowClientTeamCreation`, or create it with server access.";
    PermissionContainsItself: "The permission would contain itself.",
        "Remove the cycle from the contained permissions.";
    InternalProjectStays: "The project `internal` cannot be deleted.",
        "Delete its users and teams instead.";
    TooManyPermissions: "The project has as many permissions of the scope as are allowed.",
        "Delete one that is not used.";
    TooManyEmailDocuments: "The project has as many templates, themes or drafts as are allowed.",
        "Delete one that is not used.";
    RateLimited: "Too many requests of this kind in a short time.",
        "Wait for the seconds in `Retry-After`; the `RateLimit` headers name the limit.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_meaning_and_a_hint_that_are_sentences() {
        for entry in KnownError::catalog() {
            for text in [entry.meaning, entry.hint] {
                assert!(text.ends_with('.') && text.starts_with(|c: char| c.is_uppercase()), "{}: {text}", entry.code);
                assert!(text.len() <= 110, "{}: {text}", entry.code);
            }
        }
    }

    #[test]
    fn the_catalog_lists_every_code_once() {
        let codes: Vec<&str> = KnownError::catalog().map(|entry| entry.code).collect();
        assert_eq!(codes, KnownError::CODES);
    }
}
