//! Errors about emails: the outbox, templates, themes and drafts.

macro_rules! emails {
    ($next:ident! $($before:tt)*) => { $next! { $($before)*

        /// The email does not exist.
        #[error("the email does not exist")]
        #[hint("Check the email's id and the project.")]
        #[answer(NOT_FOUND, Sdks::None)]
        EmailNotFound,

        /// The email is being sent, was sent, or was skipped or cancelled.
        #[error("the email can no longer be edited: its status is {status}")]
        #[hint("An email can be edited only before it is sent. To leave time for edits, pause or schedule the email.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        EmailNotEditable { email_id: String, status: String },

        /// The template cannot be rendered; the message says where and why.
        #[error("the email cannot be rendered: {error}")]
        #[hint("Correct the template at the line that the message names.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        EmailRenderingError { error: String },

        /// A capacity boost is already active.
        #[error("a capacity boost is already active until {expires_at}")]
        #[hint("Wait until the time in `details.expires_at`.")]
        #[answer(CONFLICT, Sdks::All)]
        EmailCapacityBoostAlreadyActive { expires_at: String },

        /// The template does not exist.
        #[error("the template does not exist")]
        #[hint("List the project's templates.")]
        #[answer(NOT_FOUND, Sdks::None)]
        EmailTemplateNotFound,

        /// The theme does not exist.
        #[error("the theme does not exist")]
        #[hint("List the project's themes.")]
        #[answer(NOT_FOUND, Sdks::None)]
        EmailThemeNotFound,

        /// The theme is the project's selected theme.
        #[error("this theme is selected for the project: select another theme first")]
        #[hint("Set the project's `config.email_theme` to another theme, then delete this theme.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        EmailThemeSelected,

        /// The draft does not exist.
        #[error("the draft does not exist")]
        #[hint("List the project's drafts.")]
        #[answer(NOT_FOUND, Sdks::None)]
        EmailDraftNotFound,

        /// The project has the maximum number of templates, themes or drafts.
        #[error("a project can have at most {max} templates, {max} themes and {max} drafts: delete one that you no longer use")]
        #[hint("Delete a template, theme or draft that you no longer use.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        TooManyEmailDocuments { max: usize },

        /// The notification category does not exist.
        #[error("the notification category does not exist")]
        #[hint("List the user's notification preferences, which include the category ids.")]
        #[answer(NOT_FOUND, Sdks::None)]
        NotificationCategoryNotFound,

    } };
}
