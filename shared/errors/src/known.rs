//! The errors of interface B: the variant is the `code`, its fields are the `details`, its message is the `error`.
//!
//! Codes, statuses and details are the contract; the sentences are ours and may change.
//! What each code means and what to do about it is in the catalog ([`KnownError::catalog`]).

use std::borrow::Cow;

use model::limit::Refused;
use model::password::Weakness;
use model::user::restriction::RestrictedReason;
use serde::Serialize;
use strum::{EnumDiscriminants, EnumIter, IntoStaticStr, VariantNames};

use crate::key_slip::KeySlip;

/// Every failure that a client of the product API may rely on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, EnumDiscriminants, EnumIter, IntoStaticStr, VariantNames)]
#[strum_discriminants(name(ErrorCode), derive(Hash, IntoStaticStr, PartialOrd, Ord), strum(serialize_all = "SCREAMING_SNAKE_CASE"))]
#[strum_discriminants(doc = "The code of a [`KnownError`]: which one it is, without its details.")]
#[serde(tag = "code", content = "details", rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum KnownError {
    #[error("the body cannot be read: {0}")]
    BodyParsingError(#[serde(skip)] Cow<'static, str>),
    #[error("{message}")]
    SchemaError { message: String },
    #[error("a key was sent without an access type")]
    ProjectKeyWithoutAccessType,
    #[error("the access type must be client, server or admin")]
    InvalidAccessType,
    #[error("a request of this access type needs a project id")]
    AccessTypeWithoutProjectId { request_type: String },
    #[error("this operation needs an access type, a project id and its key")]
    AccessTypeRequired,
    #[error("the access type {actual_access_type} is not enough for this operation")]
    InsufficientAccessType { actual_access_type: String, allowed_access_types: Vec<&'static str> },
    #[error("the publishable client key is not one of project {project_id}{slip}")]
    InvalidPublishableClientKey {
        project_id: String,
        #[serde(skip)]
        slip: KeySlip,
    },
    #[error("the secret server key is not one of project {project_id}{slip}")]
    InvalidSecretServerKey {
        project_id: String,
        #[serde(skip)]
        slip: KeySlip,
    },
    #[error("the super secret admin key is not one of project {project_id}{slip}")]
    InvalidSuperSecretAdminKey {
        project_id: String,
        #[serde(skip)]
        slip: KeySlip,
    },
    #[error("the project requires a publishable client key")]
    PublishableClientKeyRequiredForProject { project_id: Option<String> },
    #[error("server access requires the secret server key{0}")]
    ServerAuthenticationRequired(#[serde(skip)] KeySlip),
    #[error("admin access requires the super secret admin key{0}")]
    AdminAuthenticationRequired(#[serde(skip)] KeySlip),
    #[error("the admin access token cannot be read")]
    UnparsableAdminAccessToken,
    #[error("the admin access token has expired")]
    AdminAccessTokenExpired { expired_at_millis: Option<i64> },
    #[error("the admin access token's user does not own the project")]
    AdminAccessTokenIsNotAdmin,
    #[error("this operation belongs to the project internal")]
    ExpectedInternalProject,
    #[error("there is no project {project_id}")]
    ProjectNotFound { project_id: String },
    #[error("there is no project {project_id}")]
    CurrentProjectNotFound { project_id: String },
    #[error("there is no branch {branch_id}")]
    BranchDoesNotExist { branch_id: String },

    #[error("the access token cannot be read")]
    UnparsableAccessToken,
    #[error("the access token has expired")]
    AccessTokenExpired {
        expired_at_millis: Option<i64>,
        project_id: Option<String>,
        user_id: Option<String>,
        refresh_token_id: Option<String>,
    },
    #[error("the access token is one of another project")]
    InvalidProjectForAccessToken { expected_project_id: String, actual_project_id: String },
    #[error("the user has to be proved to be there again: POST /api/v1/auth/sessions/current/reauthenticate")]
    ReauthenticationRequired,
    #[error("the refresh token does not exist or has expired")]
    RefreshTokenNotFoundOrExpired,
    #[error("this operation needs a signed-in user")]
    UserAuthenticationRequired,
    #[error("the current session ends by signing out")]
    CannotDeleteCurrentSession,
    #[error("there is no signed-in user")]
    CannotGetOwnUserWithoutUser,
    #[error("anonymous users may not do this")]
    AnonymousAuthenticationNotAllowed,
    #[error("the user is restricted")]
    RestrictedUserNotAllowed { restricted_reason: RestrictedReason },

    #[error("an account with the address {email} exists already")]
    UserEmailAlreadyExists { email: String, would_work_if_email_was_verified: bool },
    #[error("there is no such user")]
    UserNotFound,
    #[error("there is no user {user_id}")]
    UserIdDoesNotExist { user_id: String },
    #[error("the project does not accept new accounts")]
    SignUpNotEnabled,
    #[error("{message}")]
    SignUpRejected { message: String },
    #[error("a bot challenge has to be solved first")]
    BotChallengeRequired,
    #[error("{message}")]
    BotChallengeFailed { message: String },
    #[error("the project does not use passwords")]
    PasswordAuthenticationNotEnabled,
    #[error("the address or the password is wrong")]
    EmailPasswordMismatch,
    #[error("the password must have at least {min_length} characters")]
    PasswordTooShort { min_length: usize },
    #[error("the password must have at most {max_length} characters")]
    PasswordTooLong {
        #[serde(rename = "maxLength")]
        max_length: usize,
    },
    #[error("{message}")]
    PasswordRequirementsNotMet { message: String, reason: Weakness },
    #[error("the user has no password")]
    UserDoesNotHavePassword,
    #[error("the old password is wrong")]
    PasswordConfirmationMismatch,
    #[error("{0}")]
    RedirectUrlNotWhitelisted(#[serde(skip)] String),
    #[error("there is no such code")]
    VerificationCodeNotFound,
    #[error("the code has expired")]
    VerificationCodeExpired,
    #[error("the code has been used")]
    VerificationCodeAlreadyUsed,
    #[error("the code was tried too often")]
    VerificationCodeMaxAttemptsReached,
    #[error("the address is verified already")]
    EmailAlreadyVerified,
    #[error("{email} is not the primary address of the user")]
    EmailIsNotPrimaryEmail { email: String, primary_email: Option<String> },
    #[error("another user signs in with this address")]
    ContactChannelAlreadyUsedForAuthBySomeoneElse {
        r#type: &'static str,
        contact_channel_value: Option<String>,
        would_work_if_email_was_verified: bool,
    },

    #[error("the sign-in needs a code of the user's authenticator app")]
    MultiFactorAuthenticationRequired { attempt_code: String },
    #[error("the code of the authenticator app is wrong, or was used before")]
    InvalidTotpCode,

    #[error("the client id or secret is wrong")]
    InvalidOauthClientIdOrSecret { client_id: Option<String> },
    #[error("the scope is not one that can be asked for")]
    InvalidScope,
    #[error("the authorization code is not valid")]
    InvalidAuthorizationCode,
    #[error("the project does not use this provider")]
    OauthProviderNotFoundOrNotEnabled,
    #[error("the provider cannot be reached at the moment")]
    OauthProviderTemporarilyUnavailable,
    #[error("the user or the provider denied access")]
    OauthProviderAccessDenied,
    #[error("the sign-in took longer than ten minutes; begin again")]
    OuterOauthTimeout,
    #[error("this account of the provider belongs to another user")]
    OauthConnectionAlreadyConnectedToAnotherUser,
    #[error("the user has no account at this provider")]
    OauthConnectionNotConnectedToUser,
    #[error("the user has not allowed what the scope asks for; link the account again with it")]
    OauthConnectionDoesNotHaveRequiredScope,
    #[error("there is no access token of {provider}: {details}")]
    OauthAccessTokenNotAvailable { provider: String, details: String },

    #[error("this provider account signs another user in")]
    OauthProviderAccountIdAlreadyUsedForSignIn,

    #[error("there is no team {team_id}")]
    TeamNotFound { team_id: String },
    #[error("the user {user_id} is no member of the team {team_id}")]
    TeamMembershipNotFound { team_id: String, user_id: String },
    #[error("the user is a member of the team already")]
    TeamMembershipAlreadyExists,
    #[error("this needs the permission {permission_id} in the team {team_id}")]
    TeamPermissionRequired { team_id: String, user_id: String, permission_id: String },
    #[error("the user {user_id} does not have the permission {permission_id} in the team {team_id}")]
    TeamPermissionNotFound { team_id: String, user_id: String, permission_id: String },
    #[error("a restricted user cannot accept an invitation")]
    TeamInvitationRestrictedUserNotAllowed { restricted_reason: RestrictedReason },
    #[error("the invitation was sent to an address that is not a verified one of this user")]
    TeamInvitationEmailMismatch,
    #[error("there is no permission {permission_id}")]
    PermissionNotFound { permission_id: String },
    #[error("the permission {permission_id} is one of the scope {actual_scope}, not {expected_scope}")]
    WrongPermissionScope { permission_id: String, expected_scope: String, actual_scope: String },
    #[error("there is no permission {permission_id} that could be contained")]
    ContainedPermissionNotFound { permission_id: String },
    #[error("there is a permission {permission_id} already")]
    PermissionIdAlreadyExists { permission_id: String },

    #[error("there is no such set of API keys")]
    ApiKeyNotFound,
    #[error("the mail cannot be edited any more: its status is {status}")]
    EmailNotEditable { email_id: String, status: String },
    #[error("the mail cannot be rendered: {error}")]
    EmailRenderingError { error: String },
    #[error("the project sends faster already, until {expires_at}")]
    EmailCapacityBoostAlreadyActive { expires_at: String },

    // Codes of our own: in the body alone.
    #[error("there is nothing at this path")]
    RouteNotFound,
    #[error("the path does not have this method")]
    MethodNotAllowed,
    #[error("the body is larger than {max_bytes} bytes")]
    BodyTooLarge { max_bytes: usize },
    #[error("something went wrong on our side; the log has the reason under the request id")]
    InternalError,
    #[error("the service is overloaded; try again soon")]
    ServiceUnavailable,
    #[error("this belongs to another user")]
    Forbidden,
    #[error("the user has no such session")]
    SessionNotFound,
    #[error("the user has no such contact channel")]
    ContactChannelNotFound,
    #[error("the user has no such account at a provider")]
    ProviderAccountNotFound,
    #[error("a user has at most {max} accounts at providers")]
    TooManyProviderAccounts { max: usize },
    #[error("the user could not sign in any more; give it another way first")]
    LastSignInMethod,
    #[error("there is no such mail")]
    EmailNotFound,
    #[error("there is no such template")]
    EmailTemplateNotFound,
    #[error("there is no such theme")]
    EmailThemeNotFound,
    #[error("there is no such draft")]
    EmailDraftNotFound,
    #[error("there is no such category of mails")]
    NotificationCategoryNotFound,
    #[error("the cursor is not one of this list")]
    InvalidCursor,
    #[error("the header {header} was sent twice with different values, or is not text")]
    ConflictingHeaders { header: String },
    #[error("the entry has changed since")]
    PreconditionFailed,
    #[error("the project does not use sign-in by mail")]
    MagicLinkNotEnabled,
    #[error("the project does not use proof of work as its bot challenge")]
    BotChallengeNotEnabled,
    #[error("the admin access token's user does not exist any more")]
    AdminAccessTokenUserNotFound,
    #[error("development override keys are not supported")]
    OverrideKeyNotSupported,
    #[error("the user has a password already; update it")]
    UserHasPassword,
    #[error("the project does not let users delete themselves")]
    UserDeletionNotEnabled,
    #[error("the user has no primary address that could be verified or used for signing in")]
    PrimaryEmailRequired,
    #[error("a user has at most {max} contact channels")]
    TooManyContactChannels { max: usize },
    #[error("there is no such image")]
    ProfileImageNotFound,
    #[error("the user has a contact channel with this value already")]
    ContactChannelAlreadyExists,
    #[error("this sign-in was not begun here, not in this browser, or is over; begin again")]
    OauthStateNotFound,
    #[error("the project does not let clients create teams")]
    TeamCreationNotEnabled,
    #[error("the permission {permission_id} would contain itself")]
    PermissionContainsItself { permission_id: String },
    #[error("the project whose users own projects cannot be deleted")]
    InternalProjectStays,
    #[error("a project has at most {max} permissions of each scope")]
    TooManyPermissions { max: usize },
    #[error("a project has at most {max} templates, as many themes and as many drafts of mails: delete one that is not used any more")]
    TooManyEmailDocuments { max: usize },
    #[error("{0}")]
    RateLimited(Refused),
}

/// Codes of our own, which the published SDKs do not know.
pub(crate) const OWN_CODES: &[ErrorCode] = &[
    ErrorCode::RouteNotFound,
    ErrorCode::MethodNotAllowed,
    ErrorCode::BodyTooLarge,
    ErrorCode::InternalError,
    ErrorCode::ServiceUnavailable,
    ErrorCode::Forbidden,
    ErrorCode::SessionNotFound,
    ErrorCode::ContactChannelNotFound,
    ErrorCode::ProviderAccountNotFound,
    ErrorCode::TooManyProviderAccounts,
    ErrorCode::LastSignInMethod,
    ErrorCode::EmailNotFound,
    ErrorCode::EmailTemplateNotFound,
    ErrorCode::EmailThemeNotFound,
    ErrorCode::EmailDraftNotFound,
    ErrorCode::NotificationCategoryNotFound,
    ErrorCode::InvalidCursor,
    ErrorCode::ConflictingHeaders,
    ErrorCode::PreconditionFailed,
    ErrorCode::MagicLinkNotEnabled,
    ErrorCode::BotChallengeNotEnabled,
    ErrorCode::OverrideKeyNotSupported,
    ErrorCode::AdminAccessTokenUserNotFound,
    ErrorCode::UserHasPassword,
    ErrorCode::UserDeletionNotEnabled,
    ErrorCode::ReauthenticationRequired,
    ErrorCode::PrimaryEmailRequired,
    ErrorCode::TooManyContactChannels,
    ErrorCode::ProfileImageNotFound,
    ErrorCode::OauthStateNotFound,
    ErrorCode::ContactChannelAlreadyExists,
    ErrorCode::TeamCreationNotEnabled,
    ErrorCode::PermissionContainsItself,
    ErrorCode::TooManyPermissions,
    ErrorCode::TooManyEmailDocuments,
    ErrorCode::InternalProjectStays,
    ErrorCode::RateLimited,
];

/// What checking or redeeming a code may answer.
pub const CODE_ERRORS: &[ErrorCode] = &[
    ErrorCode::VerificationCodeNotFound,
    ErrorCode::VerificationCodeExpired,
    ErrorCode::VerificationCodeAlreadyUsed,
    ErrorCode::VerificationCodeMaxAttemptsReached,
];

impl ErrorCode {
    /// As it is on the wire, in capitals.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
