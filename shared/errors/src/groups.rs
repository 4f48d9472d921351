//! Groups of error codes.

use crate::known::ErrorCode;

/// The errors of checking or redeeming a code.
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
