//! Errors about users: accounts, contact channels and profile images.

macro_rules! users {
    ($next:ident! $($before:tt)*) => { $next! { $($before)*

        /// The user does not exist.
        #[error("the user does not exist")]
        #[hint("Check the user id and the project.")]
        #[answer(NOT_FOUND, Sdks::All)]
        UserNotFound,

        /// A user named in the request does not exist.
        #[error("user {user_id} does not exist")]
        #[hint("Check the user id and the project.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        UserIdDoesNotExist { user_id: String },

        /// Another account signs in with this address.
        #[error("an account with the address {email} already exists")]
        #[hint("Ask the user to sign in, reset the password or use another address.")]
        #[answer(CONFLICT, Sdks::All)]
        UserEmailAlreadyExists { email: String, would_work_if_email_was_verified: bool },

        /// The user does not have a primary address.
        #[error("the user has no primary address to verify or to sign in with")]
        #[hint("Send `primary_email` as well.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        PrimaryEmailRequired,

        /// The project does not let users delete their own account.
        #[error("the project does not let users delete their own accounts")]
        #[hint("Set the project's `config.client_user_deletion_enabled` to `true`, or delete the user with server access.")]
        #[answer(FORBIDDEN, Sdks::None)]
        UserDeletionNotEnabled,

        /// The address is already verified.
        #[error("the address is already verified")]
        #[hint("No action is needed.")]
        #[answer(CONFLICT, Sdks::All)]
        EmailAlreadyVerified,

        /// The address is not the user's primary address.
        #[error("{email} is not the user's primary address")]
        #[hint("Call `POST /api/v1/contact-channels/{user_id}/{contact_channel_id}/send-verification-code` instead.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        EmailIsNotPrimaryEmail { email: String, primary_email: Option<String> },

        /// Another user signs in with this address.
        #[error("another user signs in with this address")]
        #[hint("Use another address, or ask the other user to give up this address.")]
        #[answer(CONFLICT, Sdks::All)]
        ContactChannelAlreadyUsedForAuthBySomeoneElse {
            r#type: &'static str,
            contact_channel_value: Option<String>,
            would_work_if_email_was_verified: bool,
        },

        /// The user does not have this contact channel.
        #[error("the user does not have this contact channel")]
        #[hint("List the user's contact channels.")]
        #[answer(NOT_FOUND, Sdks::None)]
        ContactChannelNotFound,

        /// The user already has a contact channel with this value.
        #[error("the user already has a contact channel with this value")]
        #[hint("Update the existing channel.")]
        #[answer(CONFLICT, Sdks::None)]
        ContactChannelAlreadyExists,

        /// The user has the maximum number of contact channels.
        #[error("a user can have at most {max} contact channels: delete one first")]
        #[hint("Ask the user to delete a contact channel that they no longer use.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        TooManyContactChannels { max: usize },

        /// The image does not exist.
        #[error("the image does not exist")]
        #[hint("Read the user or team again to get the current image.")]
        #[answer(NOT_FOUND, Sdks::None)]
        ProfileImageNotFound,

    } };
}
