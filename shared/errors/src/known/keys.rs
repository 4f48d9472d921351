//! Errors about the API keys of users and teams.

macro_rules! keys {
    ($next:ident! $($before:tt)*) => { $next! { $($before)*

        /// The project does not permit API keys for this type of owner.
        #[error("{owner} API keys are not enabled in this project")]
        #[hint("Set the project's `config.allow_user_api_keys` or `config.allow_team_api_keys` to `true`.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        ApiKeysNotEnabled {
            #[serde(rename = "type")]
            owner: &'static str,
        },

        /// The user or team has the maximum number of active API keys.
        #[error("a {owner} can have at most {max} active API keys: revoke one first")]
        #[hint("Revoke a key that you no longer use.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        TooManyApiKeys {
            #[serde(rename = "type")]
            owner: &'static str,
            max: usize,
        },

        /// The project has the maximum number of sets of API keys, all of which are still valid.
        #[error("a project can have at most {max} sets of API keys: revoke one first")]
        #[hint("Revoke a set that you no longer use.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        TooManyApiKeySets { max: usize },

        /// The API key, or set of API keys, does not exist, or the caller may not manage it.
        #[error("the API key or set of API keys does not exist")]
        #[hint("Check the key or its id. To manage a team's keys, a user needs the permission `$manage_api_keys`.")]
        #[answer(NOT_FOUND, Sdks::All)]
        ApiKeyNotFound,

        /// The API key has expired.
        #[error("the API key has expired")]
        #[hint("Create a new key. To keep using a key, extend it before it expires.")]
        #[answer(UNAUTHORIZED, Sdks::All)]
        ApiKeyExpired,

        /// The API key has been revoked, or was invalidated because its creator's account had been
        /// taken over.
        #[error("the API key has been revoked")]
        #[hint("Create a new key; a revoked key cannot be restored.")]
        #[answer(UNAUTHORIZED, Sdks::All)]
        ApiKeyRevoked,

        /// The API key belongs to a team instead of a user, or the reverse.
        #[error("the API key belongs to a {actual_type}, but this operation is for keys of a {expected_type}")]
        #[hint("Check the key with the operation for its type; `details` contains the type.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        WrongApiKeyType { expected_type: &'static str, actual_type: &'static str },

        /// The API key is meant to be public, so a report that it was found in public does not
        /// revoke it.
        #[error("the API key was not revoked, because it is meant to be public")]
        #[hint("Report secret keys only; they begin with `sk_`.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        PublicApiKeyCannotBeRevoked,

    } };
}
