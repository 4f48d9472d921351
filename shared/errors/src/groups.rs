//! Groups of error codes.

use crate::known::ErrorCode;

/// Our own codes, which published SDKs do not know.
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
    ErrorCode::PasskeyNotFound,
    ErrorCode::TooManyPasskeys,
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
    ErrorCode::InvalidRecoveryCode,
    ErrorCode::AuthenticatorAppRequired,
    ErrorCode::RateLimited,
];

/// The errors that checking or redeeming a code can return.
pub const CODE_ERRORS: &[ErrorCode] = &[
    ErrorCode::VerificationCodeNotFound,
    ErrorCode::VerificationCodeExpired,
    ErrorCode::VerificationCodeAlreadyUsed,
    ErrorCode::VerificationCodeMaxAttemptsReached,
];
