//! Groups of error codes.

use crate::known::ErrorCode;

/// Codes that newer published SDKs know, but versions before 2.8.108 do not.
pub(crate) const NEWER_CODES: &[ErrorCode] = &[
    ErrorCode::BotChallengeRequired,
    ErrorCode::BotChallengeFailed,
    ErrorCode::OauthProviderTemporarilyUnavailable,
    ErrorCode::TeamInvitationEmailMismatch,
];

/// Our own codes, which published SDKs do not know.
pub(crate) const OWN_CODES: &[ErrorCode] = &[
    ErrorCode::RouteNotFound,
    ErrorCode::MethodNotAllowed,
    ErrorCode::BodyTooLarge,
    ErrorCode::UnsupportedContentEncoding,
    ErrorCode::InternalError,
    ErrorCode::ServiceUnavailable,
    ErrorCode::Forbidden,
    ErrorCode::SessionNotFound,
    ErrorCode::ContactChannelNotFound,
    ErrorCode::ProviderAccountNotFound,
    ErrorCode::AnotherProviderAccountSignsIn,
    ErrorCode::OauthProviderRefusesClient,
    ErrorCode::OauthProviderMisconfigured,
    ErrorCode::CrossDomainSessionMismatch,
    ErrorCode::TooManyProviderAccounts,
    ErrorCode::ApiKeysNotEnabled,
    ErrorCode::TooManyApiKeys,
    ErrorCode::PasskeyNotFound,
    ErrorCode::TooManyPasskeys,
    ErrorCode::LastSignInMethod,
    ErrorCode::EmailNotFound,
    ErrorCode::EmailTemplateNotFound,
    ErrorCode::EmailThemeNotFound,
    ErrorCode::EmailThemeSelected,
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
    ErrorCode::TooManyTeams,
    ErrorCode::TooManyTeamMemberships,
    ErrorCode::TooManyInvitations,
    ErrorCode::TooManyProjects,
    ErrorCode::ProfileImageNotFound,
    ErrorCode::OauthStateNotFound,
    ErrorCode::ContactChannelAlreadyExists,
    ErrorCode::TeamCreationNotEnabled,
    ErrorCode::TeamOwnsProjects,
    ErrorCode::PermissionContainsItself,
    ErrorCode::TooManyPermissions,
    ErrorCode::TooManyEmailDocuments,
    ErrorCode::TooManyWebhookEndpoints,
    ErrorCode::WebhookEndpointNotFound,
    ErrorCode::WebhookDeliveryNotFound,
    ErrorCode::WebhookUrlNotAllowed,
    ErrorCode::InternalProjectStays,
    ErrorCode::InvalidRecoveryCode,
    ErrorCode::AuthenticatorAppRequired,
    ErrorCode::InsufficientKeyPermission,
    ErrorCode::AuthorizationPending,
    ErrorCode::SlowDown,
    ErrorCode::DeviceCodeExpired,
    ErrorCode::DeviceDenied,
    ErrorCode::InvalidLoginCode,
    ErrorCode::NoAnonymousSession,
    ErrorCode::CliSessionNotAnonymous,
    ErrorCode::InvalidRefreshToken,
    ErrorCode::AuthenticatorNotFound,
    ErrorCode::TooManyAuthenticators,
    ErrorCode::DeviceNotFound,
    ErrorCode::RateLimited,
];

/// The errors that checking or redeeming a code can return.
pub const CODE_ERRORS: &[ErrorCode] = &[
    ErrorCode::VerificationCodeNotFound,
    ErrorCode::VerificationCodeExpired,
    ErrorCode::VerificationCodeAlreadyUsed,
    ErrorCode::VerificationCodeMaxAttemptsReached,
];

/// The errors of naming a user by id or as `me`.
pub const USER_REFERENCE_ERRORS: &[ErrorCode] = &[ErrorCode::CannotGetOwnUserWithoutUser, ErrorCode::Forbidden];

/// The errors of a change to how a user signs in.
pub const SIGN_IN_CHANGE_ERRORS: &[ErrorCode] =
    &[ErrorCode::CannotGetOwnUserWithoutUser, ErrorCode::Forbidden, ErrorCode::ReauthenticationRequired];

/// The errors of an operation that names a team and one of its members.
pub const TEAM_MEMBER_ERRORS: &[ErrorCode] = &[
    ErrorCode::UserAuthenticationRequired,
    ErrorCode::CannotGetOwnUserWithoutUser,
    ErrorCode::TeamNotFound,
    ErrorCode::TeamMembershipNotFound,
    ErrorCode::TeamPermissionRequired,
];

/// The errors of a new password.
pub const NEW_PASSWORD_ERRORS: &[ErrorCode] =
    &[ErrorCode::PasswordTooShort, ErrorCode::PasswordTooLong, ErrorCode::PasswordRequirementsNotMet];

/// The errors of setting the fields of a user.
pub const USER_FIELD_ERRORS: &[ErrorCode] = &[
    ErrorCode::PasswordAuthenticationNotEnabled,
    ErrorCode::PasswordTooShort,
    ErrorCode::PasswordTooLong,
    ErrorCode::PasswordRequirementsNotMet,
    ErrorCode::MagicLinkNotEnabled,
    ErrorCode::TeamMembershipNotFound,
    ErrorCode::UserEmailAlreadyExists,
    ErrorCode::PrimaryEmailRequired,
    ErrorCode::TooManyContactChannels,
];
