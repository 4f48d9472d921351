//! Decides how an authorization request continues for its visitor: with a page to show, or with a
//! response to the client. The decision is a pure function that follows the order of OpenID Connect
//! Core §3.1.2.3 to §3.1.2.6.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;
use wire::clock::after;

use crate::openid::client::{OauthClient, Origin};
use crate::openid::grant::OauthGrant;
use crate::openid::request::{AuthorizationError, AuthorizationRequest, Prompt, Refusal};
use crate::session::{Amr, Session};
use crate::user::User;
use crate::user::restriction::RestrictedReason;

/// How long a user who has signed in for a request may take to complete the request, regardless of
/// `max_age`.
const AGE_GRACE: SignedDuration = SignedDuration::from_mins(5);
/// The reason given to the client if a user may not sign in. The reason is not more specific,
/// because the user has not consented.
const REFUSED: &str = "the user cannot sign in to this client";

/// The visitor who opens the request.
pub struct Visitor<'a> {
    /// The signed-in user.
    pub user: &'a User,
    /// The session.
    pub session: &'a Session,
    /// Why the user is restricted; `None` if the user is not restricted.
    pub restricted: Option<RestrictedReason>,
    /// Whether the client's rules allow this user to sign in.
    pub is_admitted: bool,
    /// The user's earlier grant to the client, if any.
    pub grant: Option<&'a OauthGrant>,
}

/// What the user has decided about this request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UserDecision {
    /// Whether the user chose to continue with the current account.
    pub account: bool,
    /// Whether the user consents.
    pub consent: bool,
}

/// The next step of an authorization request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The user has to sign in.
    SignIn,
    /// The sign-up page is shown to the user.
    SignUp,
    /// The user has to sign in again, despite an existing session.
    SignInAgain,
    /// The user has to meet the project's requirements for all users, such as verifying an address.
    Onboarding,
    /// The user has to choose an account.
    ChooseAccount,
    /// The user has to consent.
    Consent,
    /// Nothing more is needed.
    Complete,
}

/// The next step of the request, or the reason why the request is refused. With `prompt=none`, a
/// step that needs a page is a refusal.
pub fn next(
    request: &AuthorizationRequest,
    client: &OauthClient,
    visitor: Option<&Visitor<'_>>,
    decided: UserDecision,
    now: Timestamp,
) -> Result<Step, Refusal> {
    let step = step(request, client, visitor, decided, now)?;
    let error = match step {
        Step::Complete => return Ok(step),
        _ if !request.is_silent() => return Ok(step),
        Step::SignIn | Step::SignUp | Step::SignInAgain => AuthorizationError::LoginRequired,
        Step::Onboarding => AuthorizationError::InteractionRequired,
        Step::ChooseAccount => AuthorizationError::AccountSelectionRequired,
        Step::Consent => AuthorizationError::ConsentRequired,
    };
    Err(Refusal::new(error, "prompt=none was sent, but the user must complete a step on a page"))
}

fn step(
    request: &AuthorizationRequest,
    client: &OauthClient,
    visitor: Option<&Visitor<'_>>,
    decided: UserDecision,
    now: Timestamp,
) -> Result<Step, Refusal> {
    let asks = |prompt: Prompt| request.prompts.contains(&prompt);
    let Some(visitor) = visitor.filter(|visitor| !visitor.user.is_anonymous) else {
        return Ok(if asks(Prompt::Create) { Step::SignUp } else { Step::SignIn });
    };
    if visitor.session.is_impersonation {
        return Err(Refusal::new(AuthorizationError::AccessDenied, REFUSED));
    }
    let authenticated_at = visitor.session.authenticated_at.unwrap_or(visitor.session.created_at);
    // When the user signed in to this session. On a remembered device, the session can be newer
    // than the proof of the second factor.
    let signed_in_at = authenticated_at.max(visitor.session.created_at);
    let is_new = signed_in_at >= request.began_at;
    if request.hinted.is_some_and(|hinted| hinted != visitor.user.id) {
        return Ok(Step::SignInAgain);
    }
    if asks(Prompt::Create) && !is_new && !decided.account {
        return Ok(Step::SignUp);
    }
    let is_too_old = request.max_age.is_some_and(|age| now > after(authenticated_at, SignedDuration::from_secs(age.into())));
    // Users without a second factor cannot prove one; `acr` tells the client what was proved.
    let owes_factor = request.wants_mfa && visitor.user.has_second_factor() && !visitor.session.amr.contains(&Amr::Mfa);
    let is_just_signed_in = is_new && now < after(signed_in_at, AGE_GRACE);
    if (!is_new && (asks(Prompt::Login) || owes_factor)) || (is_too_old && !is_just_signed_in) {
        return Ok(Step::SignInAgain);
    }
    match visitor.restricted {
        None => {}
        Some(RestrictedReason::RestrictedByAdministrator) => {
            return Err(Refusal::new(AuthorizationError::AccessDenied, REFUSED));
        }
        Some(_) => return Ok(Step::Onboarding),
    }
    if !visitor.is_admitted {
        return Err(Refusal::new(AuthorizationError::AccessDenied, REFUSED));
    }
    if asks(Prompt::SelectAccount) && !is_new && !decided.account {
        return Ok(Step::ChooseAccount);
    }
    if decided.consent || !needs_consent(request, client, visitor) { Ok(Step::Complete) } else { Ok(Step::Consent) }
}

/// Whether a client with a metadata document returns to the document's host. Otherwise, whoever can
/// change the document could send later codes elsewhere without asking the user.
fn returns_to_its_document(request: &AuthorizationRequest, client: &OauthClient) -> bool {
    match &client.origin {
        Some(Origin::Document { url, .. }) => client.is_first_party || request.shown_host() == url.host(),
        Some(Origin::Registration) | None => true,
    }
}

/// Whether the user has to consent. Consent is not remembered if another program could receive the
/// code (RFC 8252 §8.6).
fn needs_consent(request: &AuthorizationRequest, client: &OauthClient, visitor: &Visitor<'_>) -> bool {
    let proves_client = request.proves_client() && returns_to_its_document(request, client);
    let is_granted = visitor.grant.is_some_and(|grant| grant.is_of(visitor.user) && grant.covers(&request.scopes, &request.resources));
    request.prompts.contains(&Prompt::Consent) || !proves_client || !(client.is_first_party || is_granted)
}
