//! The query parameters of an app's request to start a flow.

use deserr::Deserr;
use errors::KnownError;
use flows::literal::{BotChallengePhase, True};
use model::project::redirect::{RedirectUrl, Rules};
use model::sign_in::authorization::{Purpose, ResponseMode, is_challenge};
use serde::Serialize;
use utoipa::ToSchema;
use wire::problem::Problems;

/// The maximum size of the list of additional scopes, in bytes. The size is limited because every
/// flow stores the list, and anyone can begin flows.
const MAX_SCOPE: usize = 4096;

/// Unknown parameters are ignored, because other SDK versions send additional parameters.
#[wire::optional]
#[derive(Deserr, ToSchema)]
pub struct AuthorizeQuery {
    /// The project's id.
    pub(crate) client_id: String,
    /// A publishable client key, or `__stack_public_client__`.
    pub(crate) client_secret: String,
    /// The URL at which the app receives the code. The URL must be on a trusted domain.
    pub(crate) redirect_uri: RedirectUrl,
    /// The scope; always `legacy`.
    pub(crate) scope: String,
    /// The value is returned to the app unchanged.
    pub(crate) state: String,
    #[deserr(rename = "grant_type")]
    #[schema(rename = "grant_type")]
    pub(crate) _grant_type: CodeGrant,
    /// The PKCE challenge, which has 43 characters (RFC 7636 §4.2).
    pub(crate) code_challenge: String,
    #[deserr(rename = "code_challenge_method")]
    #[schema(rename = "code_challenge_method")]
    pub(crate) _code_challenge_method: ChallengeMethod,
    #[deserr(rename = "response_type")]
    #[schema(rename = "response_type")]
    pub(crate) _response_type: ResponseType,
    /// Default: `authenticate`.
    #[deserr(rename = "type")]
    pub(crate) r#type: Option<PurposeParam>,
    /// An access token. Required for `link`. If the token belongs to an anonymous user who signs
    /// up, this user becomes an ordinary user with the provider account.
    pub(crate) token: Option<String>,
    /// Scopes to request from the provider in addition to the scopes for signing in.
    pub(crate) provider_scope: Option<String>,
    pub(crate) error_redirect_uri: Option<RedirectUrl>,
    /// An older name for `error_redirect_uri`.
    pub(crate) error_redirect_url: Option<RedirectUrl>,
    pub(crate) after_callback_redirect_url: Option<RedirectUrl>,
    /// Default: `redirect`.
    pub(crate) response_mode: Option<ModeParam>,
    pub(crate) stack_response_mode: Option<ModeParam>,
    pub(crate) hexclave_response_mode: Option<ModeParam>,
    pub(crate) bot_challenge_token: Option<String>,
    pub(crate) bot_challenge_phase: Option<BotChallengePhase>,
    pub(crate) bot_challenge_unavailable: Option<True>,
}

#[derive(Deserr, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CodeGrant {
    #[deserr(rename = "authorization_code")]
    AuthorizationCode,
}

#[derive(Deserr, Serialize, ToSchema)]
pub(crate) enum ChallengeMethod {
    S256,
}

#[derive(Deserr, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ResponseType {
    #[deserr(rename = "code")]
    Code,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserr, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PurposeParam {
    #[deserr(rename = "authenticate")]
    Authenticate,
    #[deserr(rename = "link")]
    Link,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserr, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ModeParam {
    #[deserr(rename = "json")]
    Json,
    #[deserr(rename = "redirect")]
    Redirect,
}

impl AuthorizeQuery {
    pub(crate) fn mode(&self) -> ResponseMode {
        match self.response_mode.or(self.stack_response_mode).or(self.hexclave_response_mode) {
            Some(ModeParam::Json) => ResponseMode::Json,
            Some(ModeParam::Redirect) | None => ResponseMode::Redirect,
        }
    }

    pub(crate) fn purpose(&self) -> Purpose {
        if self.r#type == Some(PurposeParam::Link) { Purpose::Link } else { Purpose::Authenticate }
    }

    /// Checks the rules that the parameters' types do not enforce.
    pub(crate) fn check(&self, path: &str) -> Result<(), KnownError> {
        let problem = |name: &str, message: &str| Err(KnownError::schema(&Problems::one(&format!("query.{name}"), message), "GET", path));
        if !is_challenge(&self.code_challenge) {
            return problem("code_challenge", "must be the 43 characters of a SHA-256 digest in base64url");
        }
        if self.purpose() == Purpose::Link && self.token.as_deref().unwrap_or_default().is_empty() {
            return problem("token", "is required to link an account");
        }
        if self.state.is_empty() || self.state.len() > 2048 {
            return problem("state", "must be 1 to 2048 bytes long");
        }
        if self.provider_scope.as_ref().is_some_and(|scope| scope.len() > MAX_SCOPE) {
            return problem("provider_scope", "must be at most 4096 bytes long");
        }
        Ok(())
    }

    /// Checks every URL to which the user may be redirected later.
    pub(crate) fn check_urls(&self, rules: &Rules<'_>) -> Result<(), KnownError> {
        let urls = [
            Some(&self.redirect_uri),
            self.error_redirect_uri.as_ref(),
            self.error_redirect_url.as_ref(),
            self.after_callback_redirect_url.as_ref(),
        ];
        urls.into_iter().flatten().try_for_each(|url| rules.check_for_oauth(url)).map_err(KnownError::from)
    }
}
