//! Groups of error codes.

use crate::known::ErrorCode;

/// Errors of operations that check or redeem a code.
pub const CODE_ERRORS: &[ErrorCode] = &[
    ErrorCode::VerificationCodeNotFound,
    ErrorCode::VerificationCodeExpired,
    ErrorCode::VerificationCodeAlreadyUsed,
    ErrorCode::VerificationCodeMaxAttemptsReached,
];

/// Errors of operations that name a user by id or as `me`.
pub const USER_REFERENCE_ERRORS: &[ErrorCode] = &[ErrorCode::CannotGetOwnUserWithoutUser, ErrorCode::Forbidden];

/// Errors of operations that change how a user signs in.
pub const SIGN_IN_CHANGE_ERRORS: &[ErrorCode] =
    &[ErrorCode::CannotGetOwnUserWithoutUser, ErrorCode::Forbidden, ErrorCode::ReauthenticationRequired];

/// Errors of operations that name a team and one of its members.
pub const TEAM_MEMBER_ERRORS: &[ErrorCode] = &[
    ErrorCode::UserAuthenticationRequired,
    ErrorCode::CannotGetOwnUserWithoutUser,
    ErrorCode::TeamNotFound,
    ErrorCode::TeamMembershipNotFound,
    ErrorCode::TeamPermissionRequired,
];

/// Errors of operations that set a new password.
pub const NEW_PASSWORD_ERRORS: &[ErrorCode] =
    &[ErrorCode::PasswordTooShort, ErrorCode::PasswordTooLong, ErrorCode::PasswordRequirementsNotMet];

/// Errors of operations that set the fields of a user.
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
