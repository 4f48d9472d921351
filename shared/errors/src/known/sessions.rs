//! Errors about sessions: their tokens, and the sign-ins of tools and devices.

macro_rules! sessions {
    ($next:ident! $($before:tt)*) => { $next! { $($before)*

        /// The access token is malformed or was not signed by this service.
        #[error("the access token is malformed or was not issued by this service")]
        #[hint("Refresh the session; tokens from another deployment or API address are not valid here.")]
        #[answer(UNAUTHORIZED, Sdks::All)]
        UnparsableAccessToken,

        /// The access token has expired, or its session has ended.
        #[error("the access token has expired, or its session has ended")]
        #[hint("Refresh the session; if that fails, the user must sign in again.")]
        #[answer(UNAUTHORIZED, Sdks::All)]
        AccessTokenExpired {
            expired_at_millis: Option<i64>,
            project_id: Option<String>,
            user_id: Option<String>,
            refresh_token_id: Option<String>,
        },

        /// The access token belongs to another project.
        #[error("the access token belongs to another project")]
        #[hint("Set `X-Service-Project-Id` to the token's `project_id` claim, or sign in to this project.")]
        #[answer(UNAUTHORIZED, Sdks::All)]
        InvalidProjectForAccessToken { expected_project_id: String, actual_project_id: String },

        /// The refresh token does not exist or has expired, or its session has ended.
        #[error("the refresh token does not exist or has expired, or its session has ended")]
        #[hint("The user must sign in again.")]
        #[answer(UNAUTHORIZED, Sdks::All)]
        RefreshTokenNotFoundOrExpired,

        /// The refresh token in the body does not exist, or its session has ended.
        #[error("the refresh token does not exist, or its session has ended")]
        #[hint("Sign in again, and send the new refresh token.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        InvalidRefreshToken,

        /// The operation requires a signed-in user.
        #[error("this operation requires a signed-in user")]
        #[hint("Send the user's access token in `X-Service-Access-Token`.")]
        #[answer(UNAUTHORIZED, Sdks::All)]
        UserAuthenticationRequired,

        /// The request refers to the current user, but no user is signed in.
        #[error("the request refers to the current user, but nobody is signed in: send an access token")]
        #[hint("Send the user's access token in `X-Service-Access-Token`, or name a user by id.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        CannotGetOwnUserWithoutUser,

        /// The current user is anonymous, which the request does not allow.
        #[error("the user is anonymous, which the request does not allow")]
        #[hint("Send `X-Service-Allow-Anonymous-User: true`, or ask the user to sign up.")]
        #[answer(UNAUTHORIZED, Sdks::All)]
        AnonymousAuthenticationNotAllowed,

        /// The current user is restricted, which the request does not allow.
        #[error("the user is restricted, which the request does not allow")]
        #[hint("Resolve the restriction (see `details`); for reads, send `X-Service-Allow-Restricted-User: true`.")]
        #[answer(FORBIDDEN, Sdks::All)]
        RestrictedUserNotAllowed { restricted_reason: RestrictedReason },

        /// The user must reauthenticate before this change or deletion; an impersonated session
        /// cannot reauthenticate.
        #[error("the user must reauthenticate first: POST /api/v1/auth/sessions/current/reauthenticate")]
        #[hint("Ask for the password or a code, and send it to `POST /api/v1/auth/sessions/current/reauthenticate`.")]
        #[answer(FORBIDDEN, Sdks::None)]
        ReauthenticationRequired,

        /// The user does not have this session.
        #[error("the user does not have this session")]
        #[hint("List the user's sessions; this session may have ended.")]
        #[answer(NOT_FOUND, Sdks::None)]
        SessionNotFound,

        /// The operation cannot end the caller's own session.
        #[error("the current session cannot be deleted: sign out instead")]
        #[hint("Sign out instead: `DELETE /api/v1/auth/sessions/current`.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        CannotDeleteCurrentSession,

        /// The refresh token does not belong to the access token's session, or the session has
        /// ended.
        #[error("the refresh token does not belong to the session of the access token, or the session has ended")]
        #[hint("Send the refresh token of the session that the access token belongs to.")]
        #[answer(UNAUTHORIZED, Sdks::None)]
        CrossDomainSessionMismatch,

        /// The polling code or device code does not exist or has been used.
        #[error("the polling code or device code does not exist or has been used")]
        #[hint("Start again with `POST /api/v1/auth/cli` or `POST /api/v1/auth/oauth/device_authorization`.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        InvalidPollingCode,

        /// The user has not yet confirmed or refused the device's sign-in.
        #[error("the user has neither confirmed nor refused the sign-in yet")]
        #[hint("Poll again after `interval` seconds.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        AuthorizationPending,

        /// The device polls too often.
        #[error("the device polls too often: wait five seconds longer between polls")]
        #[hint("Wait five seconds longer between polls.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        SlowDown,

        /// Nobody confirmed the device's sign-in in time, or the confirmation is no longer valid.
        #[error("the device code has expired, or its confirmation is no longer valid; start again")]
        #[hint("Start again with `POST /api/v1/auth/oauth/device_authorization`.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        DeviceCodeExpired,

        /// The device's sign-in was refused.
        #[error("the device's sign-in was refused")]
        #[hint("Tell the user that the sign-in was refused; start again if the user wants to.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        DeviceDenied,

        /// The login code does not exist, or its sign-in has expired or was already confirmed or
        /// refused.
        #[error("the login code does not exist, or its sign-in has expired or was already confirmed or refused")]
        #[hint("Run the tool's sign-in again and open the new link.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        InvalidLoginCode,

        /// The command-line tool's sign-in has no anonymous session, or that session has ended.
        #[error("the sign-in has no anonymous session, or that session has ended")]
        #[hint("In the browser, sign in and confirm with the user's refresh token.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        NoAnonymousSession,

        /// The user of the attached session is not anonymous, or the session is an impersonation.
        #[error("the user of the session is not anonymous")]
        #[hint("Start the sign-in without a refresh token.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        CliSessionNotAnonymous,

    } };
}
