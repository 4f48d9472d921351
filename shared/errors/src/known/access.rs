//! Errors about access: levels, keys, admin access tokens, and the project that a request names.

macro_rules! access {
    ($next:ident! $($before:tt)*) => { $next! { $($before)*

        /// The request has a key but no access level.
        #[error("the request has a key but no access level: send X-Service-Access-Type")]
        #[hint("Send `X-Service-Access-Type: client`, `server` or `admin` with the key.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        ProjectKeyWithoutAccessType,

        /// The access level is not client, server or admin.
        #[error("the access level must be client, server or admin")]
        #[hint("Set `X-Service-Access-Type` to `client`, `server` or `admin`.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        InvalidAccessType,

        /// The request has an access level but no project id.
        #[error("a request with an access level needs a project id: send X-Service-Project-Id")]
        #[hint("Send the project's id in `X-Service-Project-Id`.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        AccessTypeWithoutProjectId { request_type: String },

        /// The operation requires authentication, but the request is not authenticated.
        #[error("this operation requires an access level, a project id and the matching key")]
        #[hint("Send `X-Service-Access-Type`, `X-Service-Project-Id` and the key of that access level.")]
        #[answer(UNAUTHORIZED, Sdks::All)]
        AccessTypeRequired,

        /// The operation requires a higher access level than the request has.
        #[error("the access level {actual_access_type} is not sufficient for this operation")]
        #[hint("Use an access level from `details`, with the matching key. To keep the key secret, call from a backend.")]
        #[answer(FORBIDDEN, Sdks::All)]
        InsufficientAccessType {
            actual_access_type: String,
            allowed_access_types: Vec<&'static str>,
        },

        /// The key's permissions do not include the one that the operation requires.
        #[error("the key does not have the permission that this operation requires")]
        #[hint("Create a key with the permission in `details`, or use a key with all permissions.")]
        #[answer(FORBIDDEN, Sdks::None)]
        InsufficientKeyPermission { required_permission: Option<String> },

        /// The client key does not exist in the project, has expired or was revoked.
        #[error("the publishable client key is not valid for project {project_id}{slip}")]
        #[hint("Check the project id and the `pck_` key. To create new keys, run `gateway project keys`.")]
        #[answer(UNAUTHORIZED, Sdks::All)]
        InvalidPublishableClientKey {
            project_id: String,
            #[serde(skip)]
            slip: KeySlip,
        },

        /// The server key does not exist in the project, has expired or was revoked.
        #[error("the secret server key is not valid for project {project_id}{slip}")]
        #[hint("Check the project id and the `ssk_` key. To create new keys, run `gateway project keys`.")]
        #[answer(UNAUTHORIZED, Sdks::All)]
        InvalidSecretServerKey {
            project_id: String,
            #[serde(skip)]
            slip: KeySlip,
        },

        /// The admin key does not exist in the project, has expired or was revoked.
        #[error("the super secret admin key is not valid for project {project_id}{slip}")]
        #[hint("Check the project id and the `sak_` key. To create new keys, run `gateway project keys`.")]
        #[answer(UNAUTHORIZED, Sdks::All)]
        InvalidSuperSecretAdminKey {
            project_id: String,
            #[serde(skip)]
            slip: KeySlip,
        },

        /// The project requires a publishable client key, but the request does not have one.
        #[error("the project requires a publishable client key")]
        #[hint("Send the `pck_` key, or set the project's `config.require_publishable_client_key` to `false`.")]
        #[answer(UNAUTHORIZED, Sdks::All)]
        PublishableClientKeyRequiredForProject { project_id: Option<String> },

        /// The request claims server access without a server key.
        #[error("server access requires the secret server key or an admin access token{0}")]
        #[hint("Send the `ssk_` key in `X-Service-Secret-Server-Key`, from a backend only.")]
        #[answer(UNAUTHORIZED, Sdks::All)]
        ServerAuthenticationRequired(#[serde(skip)] KeySlip),

        /// The request claims admin access without an admin key.
        #[error("admin access requires the super secret admin key or an admin access token{0}")]
        #[hint("Send the `sak_` key in `X-Service-Super-Secret-Admin-Key`, or an admin access token.")]
        #[answer(UNAUTHORIZED, Sdks::All)]
        AdminAuthenticationRequired(#[serde(skip)] KeySlip),

        /// Development override keys are not supported.
        #[error("development override keys are not supported")]
        #[hint("Leave out `X-Service-Development-Override-Key`, and send one of the project's keys.")]
        #[answer(UNAUTHORIZED, Sdks::None)]
        OverrideKeyNotSupported,

        /// The admin access token is malformed or was not signed by this service, or its user is
        /// restricted.
        #[error("the admin access token is malformed or was not issued by this service, or its user is restricted")]
        #[hint("Send an access token of an unrestricted user in the project `internal`.")]
        #[answer(UNAUTHORIZED, Sdks::All)]
        UnparsableAdminAccessToken,

        /// The admin access token has expired, or its session has ended.
        #[error("the admin access token has expired, or its session has ended")]
        #[hint("Refresh the session of the project's owner and repeat the request.")]
        #[answer(UNAUTHORIZED, Sdks::All)]
        AdminAccessTokenExpired { expired_at_millis: Option<i64> },

        /// The admin access token's user does not own the project.
        #[error("the admin access token's user does not own the project")]
        #[hint("Sign in as a member of the team that owns the project.")]
        #[answer(UNAUTHORIZED, Sdks::All)]
        AdminAccessTokenIsNotAdmin,

        /// The admin access token's user no longer exists.
        #[error("the admin access token's user no longer exists")]
        #[hint("Sign in as another owner of the project.")]
        #[answer(UNAUTHORIZED, Sdks::None)]
        AdminAccessTokenUserNotFound,

        /// The operation exists only in the project `internal`.
        #[error("this operation exists only in the project `internal`")]
        #[hint("Repeat the request with the project id `internal`.")]
        #[answer(UNAUTHORIZED, Sdks::All)]
        ExpectedInternalProject,

        /// The project that the request names does not exist.
        #[error("project {project_id} does not exist")]
        #[hint("Check `X-Service-Project-Id`. To list all projects, run `gateway project list`.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        CurrentProjectNotFound { project_id: String },

        /// The branch does not exist; the only branch of a project is `main`.
        #[error("branch {branch_id} does not exist; the only branch is main")]
        #[hint("Leave out `X-Service-Branch-Id`, or set it to `main`.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        BranchDoesNotExist { branch_id: String },

    } };
}
