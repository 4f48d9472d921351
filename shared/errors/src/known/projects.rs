//! Errors about projects.

macro_rules! projects {
    ($next:ident! $($before:tt)*) => { $next! { $($before)*

        /// The project does not exist.
        #[error("project {project_id} does not exist")]
        #[hint("Check the project id. To list all projects, run `gateway project list`.")]
        #[answer(NOT_FOUND, Sdks::All)]
        ProjectNotFound { project_id: String },

        /// The team owns the maximum number of projects.
        #[error("a team can own at most {max} projects: delete one first, or choose another team")]
        #[hint("Delete a project that you no longer use, or choose another team as the owner.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        TooManyProjects { max: usize },

        /// The project `internal` cannot be deleted.
        #[error("the project `internal`, whose users own the other projects, cannot be deleted")]
        #[hint("Delete the project's users and teams instead.")]
        #[answer(FORBIDDEN, Sdks::None)]
        InternalProjectStays,

        /// The newest signing key does not sign yet, or is less than a minute old.
        #[error("the newest signing key is too new to be replaced")]
        #[hint("Wait until `details.replaceable_at_millis`. If a key has leaked, send `revoke_previous: true`.")]
        #[answer(CONFLICT, Sdks::None)]
        SigningKeyTooNew { replaceable_at_millis: i64 },

    } };
}
