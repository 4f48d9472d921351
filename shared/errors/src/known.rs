//! The errors of the product API: the variant is the `code`, its fields are the `details`, and its
//! message is the `error`.
//!
//! Codes, statuses and details are part of the contract; the messages may change. The catalog
//! ([`KnownError::catalog`]) says what each code means and what to do about it.

use std::borrow::Cow;

use model::limit::Refused;
use model::password::Weakness;
use model::user::restriction::RestrictedReason;
use serde::Serialize;
use strum::{EnumDiscriminants, EnumIter, IntoStaticStr, VariantNames};

use crate::key_slip::KeySlip;
use crate::path_slip::PathSlip;

/// Every error that a client of the product API may rely on.
#[rustfmt::skip]
#[expect(missing_docs, reason = "the message of each variant documents it, and its fields are the details on the wire")]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, EnumDiscriminants, EnumIter, IntoStaticStr, VariantNames)]
#[strum_discriminants(name(ErrorCode), derive(Hash, IntoStaticStr, PartialOrd, Ord), strum(serialize_all = "SCREAMING_SNAKE_CASE"))]
#[strum_discriminants(doc = "The code of a [`KnownError`], without its details.")]
#[strum_discriminants(expect(missing_docs, reason = "the codes are those of `KnownError`"))]
#[serde(tag = "code", content = "details", rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum KnownError {
    #[error("the body cannot be parsed: {0}")] BodyParsingError(#[serde(skip)] Cow<'static, str>),
    #[error("{message}")] SchemaError { message: String },
    #[error("the request has a key but no access level: send X-Service-Access-Type")]
    ProjectKeyWithoutAccessType,
    #[error("the access level must be client, server or admin")] InvalidAccessType,
    #[error("a request with an access level needs a project id: send X-Service-Project-Id")]
    AccessTypeWithoutProjectId { request_type: String },
    #[error("this operation requires an access level, a project id and the matching key")] AccessTypeRequired,
    #[error("the access level {actual_access_type} is not sufficient for this operation")]
    InsufficientAccessType { actual_access_type: String, allowed_access_types: Vec<&'static str> },
    #[error("the key does not have the permission that this operation requires")]
    InsufficientKeyPermission { required_permission: Option<String> },
    #[error("the publishable client key is not valid for project {project_id}{slip}")]
    InvalidPublishableClientKey {
        project_id: String,
        #[serde(skip)]
        slip: KeySlip,
    },
    #[error("the secret server key is not valid for project {project_id}{slip}")]
    InvalidSecretServerKey {
        project_id: String,
        #[serde(skip)]
        slip: KeySlip,
    },
    #[error("the super secret admin key is not valid for project {project_id}{slip}")]
    InvalidSuperSecretAdminKey {
        project_id: String,
        #[serde(skip)]
        slip: KeySlip,
    },
    #[error("the project requires a publishable client key")]
    PublishableClientKeyRequiredForProject { project_id: Option<String> },
    #[error("server access requires the secret server key or an admin access token{0}")]
    ServerAuthenticationRequired(#[serde(skip)] KeySlip),
    #[error("admin access requires the super secret admin key or an admin access token{0}")]
    AdminAuthenticationRequired(#[serde(skip)] KeySlip),
    #[error("the admin access token is malformed or was not issued by this service, or its user is restricted")]
    UnparsableAdminAccessToken,
    #[error("the admin access token has expired, or its session has ended")]
    AdminAccessTokenExpired { expired_at_millis: Option<i64> },
    #[error("the admin access token's user does not own the project")] AdminAccessTokenIsNotAdmin,
    #[error("this operation only exists in the project `internal`")] ExpectedInternalProject,
    #[error("project {project_id} does not exist")] ProjectNotFound { project_id: String },
    #[error("project {project_id} does not exist")] CurrentProjectNotFound { project_id: String },
    #[error("branch {branch_id} does not exist; the only branch is main")]
    BranchDoesNotExist { branch_id: String },

    #[error("the access token is malformed or was not issued by this service")] UnparsableAccessToken,
    #[error("the access token has expired, or its session has ended")]
    AccessTokenExpired {
        expired_at_millis: Option<i64>,
        project_id: Option<String>,
        user_id: Option<String>,
        refresh_token_id: Option<String>,
    },
    #[error("the access token belongs to another project")]
    InvalidProjectForAccessToken { expected_project_id: String, actual_project_id: String },
    #[error("the user must reauthenticate first: POST /api/v1/auth/sessions/current/reauthenticate")]
    ReauthenticationRequired,
    #[error("the refresh token does not exist or has expired, or its session has ended")]
    RefreshTokenNotFoundOrExpired,
    #[error("this operation requires a signed-in user")] UserAuthenticationRequired,
    #[error("the current session cannot be deleted: sign out instead")] CannotDeleteCurrentSession,
    #[error("the request refers to the current user, but nobody is signed in: send an access token")]
    CannotGetOwnUserWithoutUser,
    #[error("the user is anonymous, which the request does not allow")] AnonymousAuthenticationNotAllowed,
    #[error("the user is restricted, which the request does not allow")]
    RestrictedUserNotAllowed { restricted_reason: RestrictedReason },

    #[error("an account with the address {email} already exists")]
    UserEmailAlreadyExists { email: String, would_work_if_email_was_verified: bool },
    #[error("the user does not exist")] UserNotFound,
    #[error("user {user_id} does not exist")] UserIdDoesNotExist { user_id: String },
    #[error("the project does not accept new accounts")] SignUpNotEnabled,
    #[error("{message}")] SignUpRejected { message: String },
    #[error("a bot challenge must be solved first")] BotChallengeRequired,
    #[error("{message}")] BotChallengeFailed { message: String },
    #[error("the project does not offer sign-in with a password")] PasswordAuthenticationNotEnabled,
    #[error("the address or the password is wrong")] EmailPasswordMismatch,
    #[error("the password must be at least {min_length} characters long")]
    PasswordTooShort { min_length: usize },
    #[error("the password must be at most {max_length} characters long")]
    PasswordTooLong {
        #[serde(rename = "maxLength")]
        max_length: usize,
    },
    #[error("{message}")] PasswordRequirementsNotMet { message: String, reason: Weakness },
    #[error("the user has no password")] UserDoesNotHavePassword,
    #[error("the password is wrong")] PasswordConfirmationMismatch,
    #[error("{0}")] RedirectUrlNotWhitelisted(#[serde(skip)] String),
    #[error("the code or invitation does not exist or is no longer valid")] VerificationCodeNotFound,
    #[error("the code has expired")] VerificationCodeExpired,
    #[error("the code or invitation has been used")] VerificationCodeAlreadyUsed,
    #[error("the code was tried too many times")] VerificationCodeMaxAttemptsReached,
    #[error("the address is already verified")] EmailAlreadyVerified,
    #[error("{email} is not the user's primary address")]
    EmailIsNotPrimaryEmail { email: String, primary_email: Option<String> },
    #[error("another user signs in with this address")]
    ContactChannelAlreadyUsedForAuthBySomeoneElse {
        r#type: &'static str,
        contact_channel_value: Option<String>,
        would_work_if_email_was_verified: bool,
    },

    #[error("the sign-in requires a second factor")]
    MultiFactorAuthenticationRequired { attempt_code: String, factors: Vec<&'static str> },
    #[error("the code from the authenticator app is wrong or was used before")] InvalidTotpCode,
    #[error("the polling or device code does not exist or was used")] InvalidPollingCode,
    #[error("the user has neither confirmed nor refused the sign-in yet")] AuthorizationPending,
    #[error("the device polls too often; wait five seconds longer between polls")] SlowDown,
    #[error("the device code has expired, or its confirmation is no longer valid; start again")]
    DeviceCodeExpired,
    #[error("the sign-in of the device was refused")] DeviceDenied,
    #[error("the login code does not exist, or its sign-in has expired or was already confirmed or refused")]
    InvalidLoginCode,
    #[error("the sign-in has no anonymous session, or that session has ended")] NoAnonymousSession,
    #[error("the user of the session is not anonymous")] CliSessionNotAnonymous,
    #[error("the refresh token does not exist, or its session has ended")] InvalidRefreshToken,

    #[error("the project does not offer passkeys")] PasskeyAuthenticationNotEnabled,
    #[error("the passkey was not registered: {message}")] PasskeyRegistrationFailed { message: String },
    #[error("the passkey was not accepted: {message}")] PasskeyAuthenticationFailed { message: String },

    #[error("the client id or secret is wrong")] InvalidOauthClientIdOrSecret { client_id: Option<String> },
    #[error("the scope must be `legacy`; name the scopes of the provider in provider_scope")]
    InvalidScope,
    #[error("the code, its PKCE verifier or its redirect URI is not valid, or the provider refused the code")]
    InvalidAuthorizationCode,
    #[error("the provider is not set up or not enabled")] OauthProviderNotFoundOrNotEnabled,
    #[error("the provider did not answer, or its answer was invalid or an error")] OauthProviderTemporarilyUnavailable,
    #[error("the user or the provider denied access")] OauthProviderAccessDenied,
    #[error("the sign-in took longer than ten minutes; start again")] OuterOauthTimeout,
    #[error("this provider account belongs to another user")] OauthConnectionAlreadyConnectedToAnotherUser,
    #[error("the user has no account at this provider")] OauthConnectionNotConnectedToUser,
    #[error("the user has not granted the requested scope, or there is no usable token; link the account again")]
    OauthConnectionDoesNotHaveRequiredScope,
    #[error("no access token of {provider} is available: {details}")]
    OauthAccessTokenNotAvailable { provider: String, details: String },

    #[error("a user of the project already has this provider account")]
    OauthProviderAccountIdAlreadyUsedForSignIn,
    #[error("the user already signs in with another account of this provider")] AnotherProviderAccountSignsIn,
    #[error("the provider {provider_id} cannot have the type `shared`")]
    InvalidSharedOauthProviderId { provider_id: String },
    #[error("the provider has the type `shared`, which allows only the scopes for signing in")]
    OauthExtraScopeNotAvailableWithSharedOauthKeys,
    #[error("the provider has the type `shared`, which gives apps no access tokens")]
    OauthAccessTokenNotAvailableWithSharedOauthKeys,
    #[error("the refresh token does not belong to the session of the access token, or the session has ended")]
    CrossDomainSessionMismatch,
    #[error("the provider does not accept the project's client id and secret")] OauthProviderRefusesClient,
    #[error("the provider {provider_id} is not set up correctly: {reason}")]
    OauthProviderMisconfigured { provider_id: String, reason: String },
    #[error("the project has no bundle id of an app that signs in with Apple")] AppleBundleIdNotConfigured,
    #[error("the identity token of Apple, or its nonce, is not valid")] InvalidAppleCredentials,

    #[error("team {team_id} does not exist")] TeamNotFound { team_id: String },
    #[error("user {user_id} is not a member of team {team_id}")]
    TeamMembershipNotFound { team_id: String, user_id: String },
    #[error("the user is already a member of the team")] TeamMembershipAlreadyExists,
    #[error("team {team_id} owns projects, which nobody could administer any more")]
    TeamOwnsProjects { team_id: String },
    #[error("this requires the permission {permission_id} in team {team_id}")]
    TeamPermissionRequired { team_id: String, user_id: String, permission_id: String },
    #[error("user {user_id} does not have the permission {permission_id} in team {team_id}")]
    TeamPermissionNotFound { team_id: String, user_id: String, permission_id: String },
    #[error("a restricted user cannot accept an invitation")]
    TeamInvitationRestrictedUserNotAllowed { restricted_reason: RestrictedReason },
    #[error("the invitation was sent to an address that this user has not verified")]
    TeamInvitationEmailMismatch,
    #[error("the permission {permission_id} does not exist, or the user does not have it")]
    PermissionNotFound { permission_id: String },
    #[error("the permission {permission_id} has the scope {actual_scope}, not {expected_scope}")]
    WrongPermissionScope { permission_id: String, expected_scope: String, actual_scope: String },
    #[error("the contained permission {permission_id} does not exist")]
    ContainedPermissionNotFound { permission_id: String },
    #[error("the permission {permission_id} already exists")]
    PermissionIdAlreadyExists { permission_id: String },

    #[error("the API key, or set of API keys, does not exist")] ApiKeyNotFound,
    #[error("the API key has expired")] ApiKeyExpired,
    #[error("the API key has been revoked")] ApiKeyRevoked,
    #[error("the API key belongs to a {actual_type}, but this operation is for keys of a {expected_type}")]
    WrongApiKeyType { expected_type: &'static str, actual_type: &'static str },
    #[error("the API key is meant to be public, so it is not revoked when it is found in public")]
    PublicApiKeyCannotBeRevoked,
    #[error("the email can no longer be edited: its status is {status}")]
    EmailNotEditable { email_id: String, status: String },
    #[error("the email cannot be rendered: {error}")] EmailRenderingError { error: String },
    #[error("a capacity boost is already active until {expires_at}")]
    EmailCapacityBoostAlreadyActive { expires_at: String },

    // From here on, all codes are our own: published SDKs do not know them, so they are in the body
    // but not in the header for codes. `groups::OWN_CODES` lists all of our own codes.
    #[error("no operation has this path{0}")] RouteNotFound(#[serde(skip)] PathSlip),
    #[error("the path does not support this method")] MethodNotAllowed,
    #[error("the body is larger than {max_bytes} bytes")] BodyTooLarge { max_bytes: usize },
    #[error("the body is encoded ({content_encoding}), and the service decodes no bodies: send it without `content-encoding`")]
    UnsupportedContentEncoding { content_encoding: String },
    #[error("the service failed unexpectedly; its log has the reason under the request id")] InternalError,
    #[error("the service is overloaded or needs more time, or changes conflicted; try again soon")]
    ServiceUnavailable,
    #[error("the requested data does not belong to the current user")] Forbidden,
    #[error("the user does not have this session")] SessionNotFound,
    #[error("the user does not have this contact channel")] ContactChannelNotFound,
    #[error("the user does not have this provider account")] ProviderAccountNotFound,
    #[error("a user can have at most {max} provider accounts: unlink one first")]
    TooManyProviderAccounts { max: usize },
    #[error("API keys of a {type} are not enabled in this project")]
    ApiKeysNotEnabled { r#type: &'static str },
    #[error("a {type} can have at most {max} active API keys: revoke one first")]
    TooManyApiKeys { r#type: &'static str, max: usize },
    #[error("the user does not have this passkey")] PasskeyNotFound,
    #[error("a user can have at most {limit} passkeys: delete one first")] TooManyPasskeys { limit: usize },
    #[error("the user would have no way to sign in: add another way first")] LastSignInMethod,
    #[error("the email does not exist")] EmailNotFound,
    #[error("the template does not exist")] EmailTemplateNotFound,
    #[error("the theme does not exist")] EmailThemeNotFound,
    #[error("the project has selected this theme: select another theme first")] EmailThemeSelected,
    #[error("the draft does not exist")] EmailDraftNotFound,
    #[error("the notification category does not exist")] NotificationCategoryNotFound,
    #[error("the cursor is malformed, or belongs to another list or project")] InvalidCursor,
    #[error("the header x-service-{header}, or a synonym of it, was sent twice with different values, or is not text")]
    ConflictingHeaders { header: String },
    #[error("the resource has changed since it was read: read it again")] PreconditionFailed,
    #[error("the project or the user has turned off sign-in with an emailed code or link")] MagicLinkNotEnabled,
    #[error("the project does not use proof of work as its bot challenge")] BotChallengeNotEnabled,
    #[error("the admin access token's user no longer exists")] AdminAccessTokenUserNotFound,
    #[error("development override keys are not supported")] OverrideKeyNotSupported,
    #[error("the user already has a password: update it instead")] UserHasPassword,
    #[error("the project does not let users delete themselves")] UserDeletionNotEnabled,
    #[error("the user has no primary address to verify or to sign in with")] PrimaryEmailRequired,
    #[error("a user can have at most {max} contact channels: delete one first")]
    TooManyContactChannels { max: usize },
    #[error("a user can create at most {max} teams: delete one of them first")] TooManyTeams { max: usize },
    #[error("a user can belong to at most {max} teams: leave one first")] TooManyTeamMemberships { max: usize },
    #[error("a team can have at most {max} invitations that wait for an answer: revoke one first")]
    TooManyInvitations { max: usize },
    #[error("a team can own at most {max} projects: delete one first, or choose another team")] TooManyProjects { max: usize },
    #[error("the image does not exist")] ProfileImageNotFound,
    #[error("the user already has a contact channel with this value")] ContactChannelAlreadyExists,
    #[error("this sign-in was not started with this service in this browser, or it has already ended: start again")]
    OauthStateNotFound,
    #[error("the project does not let clients create teams")] TeamCreationNotEnabled,
    #[error("the permission {permission_id} would contain itself")]
    PermissionContainsItself { permission_id: String },
    #[error("the project `internal`, whose users own the other projects, cannot be deleted")]
    InternalProjectStays,
    #[error("a project can define at most {max} permissions per scope: delete one first")]
    TooManyPermissions { max: usize },
    #[error("a project can have at most {max} templates, themes and drafts each: delete one that is no longer used")]
    TooManyEmailDocuments { max: usize },
    #[error("a project can have at most {limit} webhook endpoints: delete one first")]
    TooManyWebhookEndpoints { limit: usize },
    #[error("the webhook endpoint does not exist")] WebhookEndpointNotFound,
    #[error("the delivery does not exist, or was deleted after 30 days")] WebhookDeliveryNotFound,
    #[error("the URL of the webhook endpoint is not allowed: {reason}")]
    WebhookUrlNotAllowed { reason: &'static str },
    #[error("the recovery code is wrong or was used before")] InvalidRecoveryCode,
    #[error("recovery codes require an authenticator app: set one up first")] AuthenticatorAppRequired,
    #[error("the user has no authenticator app with this id")] AuthenticatorNotFound,
    #[error("the user has no remembered device with this id")] DeviceNotFound,
    #[error("a user can have at most {max} authenticator apps: remove one first")]
    TooManyAuthenticators { max: usize },
    #[error("{0}")] RateLimited(Refused),
}

impl ErrorCode {
    /// The name on the wire, in capitals.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
