//! Errors about OAuth: clients, providers, and users' accounts at providers.

macro_rules! oauth {
    ($next:ident! $($before:tt)*) => { $next! { $($before)*

        /// The OAuth client id or secret is wrong.
        #[error("the client id or secret is wrong")]
        #[hint("Check the client's id and secret. If the client is the project, send its id and a `pck_` or `ssk_` key.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        InvalidOauthClientIdOrSecret { client_id: Option<String> },

        /// The parameter `scope` is not `legacy`.
        #[error("the scope must be `legacy`; put the provider's scopes into provider_scope")]
        #[hint("Send `scope=legacy`, and put the provider's scopes into `provider_scope`.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        InvalidScope,

        /// The authorization code, its PKCE verifier or its redirect URI is not valid, or the
        /// provider refused the code.
        #[error("the code, its PKCE verifier or its redirect URI is not valid, or the provider refused the code")]
        #[hint("Start the sign-in again: each code works only once. If the provider refused the code, see the service's log.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        InvalidAuthorizationCode,

        /// The sign-in took longer than ten minutes.
        #[error("the sign-in took longer than ten minutes; start again")]
        #[hint("Start the sign-in again.")]
        #[answer(REQUEST_TIMEOUT, Sdks::All)]
        OuterOauthTimeout,

        /// The sign-in was not started with this service in this browser, or it has already ended.
        #[error("this sign-in was not started with this service in this browser, or it has already ended: start again")]
        #[hint("Start the sign-in again in the same browser.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        OauthStateNotFound,

        /// The provider is not set up or not enabled, or is `shared` but the deployment has no
        /// client for it.
        #[error("the provider is not set up or not enabled")]
        #[hint("Add the provider to the project's OAuth providers, allow sign-in with it, and check its id.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        OauthProviderNotFoundOrNotEnabled,

        /// The provider did not respond, or its response was invalid or an error.
        #[error("the provider did not respond, or its response was invalid or an error")]
        #[hint("Try again later; the service's log contains the reason.")]
        #[answer(SERVICE_UNAVAILABLE, Sdks::Since2_8_108)]
        OauthProviderTemporarilyUnavailable,

        /// The user or the provider denied access.
        #[error("the user or the provider denied access")]
        #[hint("Ask the user to try again, or check the application's settings at the provider.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        OauthProviderAccessDenied,

        /// The provider does not accept the client id and secret of the project.
        #[error("the provider does not accept the project's client id and secret")]
        #[hint("Correct the provider's client id and secret in the project's settings.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        OauthProviderRefusesClient,

        /// The provider is set up incorrectly in the project's settings or at the provider.
        #[error("the provider {provider_id} is not set up correctly: {reason}")]
        #[hint("Correct the settings and save them: each save tests them. If a sign-in failed, see the service's log.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        OauthProviderMisconfigured { provider_id: String, reason: String },

        /// The provider cannot have the type `shared`.
        #[error("the provider {provider_id} cannot have the type `shared`")]
        #[hint("Use the type `standard` with your own client; only google, github, microsoft and spotify can be shared.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        InvalidSharedOauthProviderId { provider_id: String },

        /// The provider has the type `shared`, which allows only the scopes for signing in.
        #[error("the provider has the type `shared`, which allows only the scopes for signing in")]
        #[hint("Register your own client with the provider, and set the type `standard`.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        OauthExtraScopeNotAvailableWithSharedOauthKeys,

        /// The provider has the type `shared`, which does not give access tokens to apps.
        #[error("the provider has the type `shared`, which does not give apps access tokens")]
        #[hint("Register your own client with the provider, and set the type `standard`.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        OauthAccessTokenNotAvailableWithSharedOauthKeys,

        /// The provider account belongs to another user.
        #[error("this provider account belongs to another user")]
        #[hint("Sign in with the provider, or unlink the account from the other user first.")]
        #[answer(CONFLICT, Sdks::All)]
        OauthConnectionAlreadyConnectedToAnotherUser,

        /// The user does not have an account at this provider.
        #[error("the user has no account at this provider")]
        #[hint("Ask the user to link an account first.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        OauthConnectionNotConnectedToUser,

        /// For older SDKs: the user has not granted the requested scope, or there is no usable
        /// token.
        #[error("the user has not granted the requested scope, or there is no usable token; link the account again")]
        #[hint("Ask the user to link the account again with this scope.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        OauthConnectionDoesNotHaveRequiredScope,

        /// There is no usable provider access token, or the user has not granted the requested
        /// scope.
        #[error("no {provider} access token is available: {details}")]
        #[hint("Ask the user to link the account again; the message says why.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        OauthAccessTokenNotAvailable { provider: String, details: String },

        /// A user of the project already has this provider account.
        #[error("a user of the project already has this provider account")]
        #[hint("Link another account, or first unlink this account from the user who has it.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        OauthProviderAccountIdAlreadyUsedForSignIn,

        /// The user already signs in with another account of the provider.
        #[error("the user already signs in with another account of this provider")]
        #[hint("Add the account with `allow_sign_in: false`, or first set that field to `false` for the other account.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        AnotherProviderAccountSignsIn,

        /// The user does not have this provider account.
        #[error("the user does not have this provider account")]
        #[hint("List the user's provider accounts.")]
        #[answer(NOT_FOUND, Sdks::None)]
        ProviderAccountNotFound,

        /// The user has the maximum number of provider accounts.
        #[error("a user can have at most {max} provider accounts: unlink one first")]
        #[hint("Ask the user to unlink an account that they no longer use.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        TooManyProviderAccounts { max: usize },

        /// The project has no app bundle id for signing in with Apple.
        #[error("the project has no app bundle id for signing in with Apple")]
        #[hint("Add the app's bundle id to `apple_bundle_ids` of the provider `apple`.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        AppleBundleIdNotConfigured,

        /// The identity token was not issued by Apple for this project, has expired or was used, or
        /// its nonce is wrong.
        #[error("Apple's identity token, or its nonce, is not valid")]
        #[hint("Ask the user to sign in with Apple again, and send the new token with its nonce.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        InvalidAppleCredentials,

        /// The OAuth client does not exist.
        #[error("the OAuth client does not exist")]
        #[hint("Check the id; `GET /api/v1/internal/oauth-clients` lists the project's clients.")]
        #[answer(NOT_FOUND, Sdks::None)]
        OauthClientNotFound,

        /// The project has the maximum number of OAuth clients.
        #[error("a project can have at most {limit} OAuth clients: delete one first")]
        #[hint("Delete a client that is no longer used.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        TooManyOauthClients { limit: usize },

        /// A public OAuth client has no secret to replace.
        #[error("the OAuth client is public, so it has no secret")]
        #[hint("If the app has a backend that can keep a secret, create a confidential client.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        OauthClientHasNoSecret,

        /// An OAuth client with a metadata document cannot be deleted, because it would come back.
        #[error("an OAuth client with a metadata document cannot be deleted, because its next request would create it again")]
        #[hint("Disable the client, or restrict the hosts whose metadata documents are accepted.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        OauthClientNotDeletable,

        /// The resource does not exist.
        #[error("the resource does not exist")]
        #[hint("Check the id; `GET /api/v1/internal/oauth-resources` lists the project's resources.")]
        #[answer(NOT_FOUND, Sdks::None)]
        OauthResourceNotFound,

        /// The project already has a resource with this identifier.
        #[error("the project already has a resource with the identifier {identifier}")]
        #[hint("Change the existing resource, or choose another identifier.")]
        #[answer(CONFLICT, Sdks::None)]
        OauthResourceAlreadyExists { identifier: String },

        /// The project has the maximum number of resources.
        #[error("a project can have at most {limit} resources: delete one first")]
        #[hint("Delete a resource that is no longer used.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        TooManyOauthResources { limit: usize },

        /// An OAuth client that registers itself has sent an invalid description.
        #[error("the client cannot be registered ({oauth_error}): {reason}")]
        #[hint("Correct the field that the message names.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        ClientMetadataInvalid { oauth_error: String, reason: String },

        /// The project does not let OAuth clients register themselves.
        #[error("this project does not let OAuth clients register themselves")]
        #[hint("Set `oauth_client_registration_enabled`, use a metadata document, or create the client.")]
        #[answer(FORBIDDEN, Sdks::None)]
        ClientRegistrationNotEnabled,

        /// Too many OAuth clients have registered themselves without anybody signing in to them.
        #[error("too many clients of this project have registered without being used")]
        #[hint("Try again later: unused clients are deleted after 30 days. An administrator can delete them sooner.")]
        #[answer(TOO_MANY_REQUESTS, Sdks::None)]
        TooManyUnusedClients,

        /// The authorization request of an OAuth client is not valid, or its redirect URI is not
        /// registered.
        #[error("the authorization request is not valid ({oauth_error}): {reason}")]
        #[hint("Correct the parameter named in `details`, in the app or in the settings of its client.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        AuthorizationRequestInvalid { oauth_error: String, reason: String },

        /// The authorization request was made more than an hour ago, or its client was changed.
        #[error("the authorization request has expired, or its client was changed")]
        #[hint("Start the sign-in again in the app that asked for it.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        AuthorizationRequestExpired,

        /// The request asks for a scope that the user has not granted.
        #[error("the request asks for a scope that the user has not granted")]
        #[hint("Leave out `scope` to get all granted scopes, or start an authorization request for more.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        OauthScopeNotGranted,

        /// The refresh token of an OAuth client is not valid, or its session or grant has ended.
        #[error("the refresh token is not valid, or its session or grant has ended")]
        #[hint("Start an authorization request; the user may have to sign in and consent again.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        OauthGrantInvalid,

        /// The OAuth client may not use this grant type.
        #[error("this grant type is only for the project's own keys, not for OAuth clients")]
        #[hint("Use `authorization_code` or `refresh_token`.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        OauthGrantTypeNotAllowed,

        /// The user has not granted anything to the OAuth client, or has ended the grant.
        #[error("the grant does not exist or has ended")]
        #[hint("List the user's grants with `GET /api/v1/users/{user_id}/grants`.")]
        #[answer(NOT_FOUND, Sdks::None)]
        GrantNotFound,

        /// The request has no access token of an OAuth client.
        #[error("the request has no access token in the header `Authorization`")]
        #[hint("Send `Authorization: Bearer` with an access token of an OAuth client.")]
        #[answer(UNAUTHORIZED, Sdks::None)]
        BearerTokenMissing,

        /// The access token was not issued to an OAuth client of this project, or is no longer
        /// valid.
        #[error("the access token was not issued to an OAuth client of this project, or is no longer valid")]
        #[hint("Refresh the token, or start an authorization request.")]
        #[answer(UNAUTHORIZED, Sdks::None)]
        BearerTokenInvalid,

        /// The access token does not have the scope `openid`.
        #[error("the access token does not have the scope openid")]
        #[hint("Request the scope `openid` in the authorization request.")]
        #[answer(FORBIDDEN, Sdks::None)]
        BearerScopeInsufficient,

    } };
}
