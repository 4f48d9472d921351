//! Errors about signing up and signing in: passwords, codes, second factors and passkeys.

macro_rules! sign_in {
    ($next:ident! $($before:tt)*) => { $next! { $($before)*

        /// The project does not accept new accounts.
        #[error("the project does not accept new accounts")]
        #[hint("Set the project's `config.sign_up_enabled` to `true`, or create users with server access.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        SignUpNotEnabled,

        /// A sign-up rule of the project rejected the account.
        #[error("{message}")]
        #[hint("Review the project's sign-up rules.")]
        #[answer(FORBIDDEN, Sdks::All)]
        SignUpRejected { message: String },

        /// The project requires a bot challenge, but the request does not contain a solved one.
        #[error("a bot challenge must be solved first")]
        #[hint("Show the project's challenge, and repeat the request with `bot_challenge_token`.")]
        #[answer(CONFLICT, Sdks::Since2_8_108)]
        BotChallengeRequired,

        /// The bot challenge was shown but not solved, or cannot be checked.
        #[error("{message}")]
        #[hint("Show the message and another challenge; the service's log contains the reason.")]
        #[answer(BAD_REQUEST, Sdks::Since2_8_108)]
        BotChallengeFailed { message: String },

        /// The project does not use proof of work as its bot challenge.
        #[error("the project does not use proof of work as its bot challenge")]
        #[hint("Set the project's `config.bot_challenge.provider` to `altcha`, or use the configured challenge.")]
        #[answer(FORBIDDEN, Sdks::None)]
        BotChallengeNotEnabled,

        /// The project does not offer sign-in with a password.
        #[error("the project does not offer sign-in with a password")]
        #[hint("Set the project's `config.credential_enabled` to `true`, or offer another way to sign in.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        PasswordAuthenticationNotEnabled,

        /// The address or the password is wrong.
        #[error("the address or the password is wrong")]
        #[hint("Ask the user to try again or reset the password; the error never says whether the address exists.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        EmailPasswordMismatch,

        /// The password is shorter than the project allows.
        #[error("the password must be at least {min_length} characters long")]
        #[hint("Ask for a longer password; `details` contains the minimum length.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        PasswordTooShort { min_length: usize },

        /// The password is longer than 128 characters.
        #[error("the password must be at most {max_length} characters long")]
        #[hint("Ask for a shorter password; `details` contains the maximum length.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        PasswordTooLong {
            #[serde(rename = "maxLength")]
            max_length: usize,
        },

        /// The password is easy to guess.
        #[error("{message}")]
        #[hint("Show the message, and ask for another password; `details.reason` says why.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        PasswordRequirementsNotMet { message: String, reason: Weakness },

        /// The user does not have a password.
        #[error("the user has no password")]
        #[hint("Set a password with `POST /api/v1/auth/password/set`.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        UserDoesNotHavePassword,

        /// The user already has a password.
        #[error("the user already has a password: update it instead")]
        #[hint("Update the password with `POST /api/v1/auth/password/update`.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        UserHasPassword,

        /// The current password is wrong.
        #[error("the password is wrong")]
        #[hint("Ask the user to try again, or to reset the password by email.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        PasswordConfirmationMismatch,

        /// After this change, the user could no longer sign in.
        #[error("the user would have no way to sign in: add another way first")]
        #[hint("Add another way to sign in first.")]
        #[answer(CONFLICT, Sdks::None)]
        LastSignInMethod,

        /// The project does not offer sign-in by email, or the user has turned it off.
        #[error("the project or the user has turned off sign-in with an emailed code or link")]
        #[hint("Set the project's `config.magic_link_enabled`, or the user's `otp_auth_enabled`, to `true`.")]
        #[answer(FORBIDDEN, Sdks::None)]
        MagicLinkNotEnabled,

        /// The project does not trust the domain of a redirect or callback URL.
        #[error("{0}")]
        #[hint("Change `config.domains` or `config.allow_localhost` (console or `PATCH /api/v1/internal/projects/current`).")]
        #[answer(BAD_REQUEST, Sdks::All)]
        RedirectUrlNotWhitelisted(#[serde(skip)] String),

        /// The code or invitation does not exist, or a change to the account has made it invalid.
        #[error("the code or invitation does not exist or is no longer valid")]
        #[hint("Check that the code is complete. To get a new code, request another email, or start again.")]
        #[answer(NOT_FOUND, Sdks::All)]
        VerificationCodeNotFound,

        /// The code has expired.
        #[error("the code has expired")]
        #[hint("Get a new code: request another email, or start the sign-in or setup again.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        VerificationCodeExpired,

        /// The code or invitation was used before.
        #[error("the code or invitation has been used")]
        #[hint("If the first use succeeded, do nothing. Otherwise, get a new code: request another email, or start again.")]
        #[answer(CONFLICT, Sdks::All)]
        VerificationCodeAlreadyUsed,

        /// The code was tried too many times.
        #[error("the code was tried too many times")]
        #[hint("Get a new code: request another email, or start the sign-in or setup again.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        VerificationCodeMaxAttemptsReached,

        /// The account has a second factor.
        #[error("the sign-in requires a second factor")]
        #[hint("Ask for one of the `factors`, such as a code from an app, and send it to `POST /api/v1/auth/mfa/sign-in`.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        MultiFactorAuthenticationRequired { attempt_code: String, factors: Vec<&'static str> },

        /// The code from the authenticator app is wrong or was used before.
        #[error("the code from the authenticator app is wrong or was used before")]
        #[hint("Ask for the app's next code, and check that the clock of the user's device is right.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        InvalidTotpCode,

        /// The recovery code is wrong or was used before.
        #[error("the recovery code is wrong or was used before")]
        #[hint("Ask for another code from the newest set, or for a code from the authenticator app.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        InvalidRecoveryCode,

        /// The user has no authenticator app that recovery codes could stand in for.
        #[error("recovery codes require an authenticator app: set one up first")]
        #[hint("Set up an authenticator app first: `POST /api/v1/auth/mfa/authenticators`.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        AuthenticatorAppRequired,

        /// The signed-in user does not have an authenticator app with this id.
        #[error("the user has no authenticator app with this id")]
        #[hint("List the apps: `GET /api/v1/auth/mfa/authenticators`.")]
        #[answer(NOT_FOUND, Sdks::None)]
        AuthenticatorNotFound,

        /// The user has the maximum number of authenticator apps.
        #[error("a user can have at most {max} authenticator apps: remove one first")]
        #[hint("Ask the user to remove an app that they no longer use.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        TooManyAuthenticators { max: usize },

        /// The signed-in user does not have a remembered device with this id.
        #[error("the user has no remembered device with this id")]
        #[hint("List the devices: `GET /api/v1/auth/mfa/devices`.")]
        #[answer(NOT_FOUND, Sdks::None)]
        DeviceNotFound,

        /// The project does not offer passkeys.
        #[error("the project does not offer passkeys")]
        #[hint("Set the project's `config.passkey_enabled` to `true`, or offer another way to sign in.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        PasskeyAuthenticationNotEnabled,

        /// The browser's response does not prove that a passkey was created; the message says why.
        #[error("the passkey was not registered: {message}")]
        #[hint("Start again with new options; check that the page's origin is a trusted domain.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        PasskeyRegistrationFailed { message: String },

        /// The browser's response does not prove that the user has a passkey.
        #[error("the passkey was not accepted: {message}")]
        #[hint("Ask the user to try again with new options or sign in another way; the message says why.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        PasskeyAuthenticationFailed { message: String },

        /// The user does not have this passkey.
        #[error("the user does not have this passkey")]
        #[hint("List the user's passkeys.")]
        #[answer(NOT_FOUND, Sdks::None)]
        PasskeyNotFound,

        /// The user has the maximum number of passkeys.
        #[error("a user can have at most {limit} passkeys: delete one first")]
        #[hint("Ask the user to delete a passkey that they no longer use.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        TooManyPasskeys { limit: usize },

    } };
}
