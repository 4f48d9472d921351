//! What follows from an authorization request for whoever opens it: the page to show, or the answer
//! to the client. A pure function, whose order is that of OpenID Connect Core §3.1.2.3 to §3.1.2.6.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;
use wire::clock::after;

use crate::openid::client::OauthClient;
use crate::openid::grant::OauthGrant;
use crate::openid::request::{AuthorizationError, AuthorizationRequest, Prompt, Refusal};
use crate::session::{Amr, Session};
use crate::user::User;
use crate::user::restriction::RestrictedReason;

/// How long a user who has signed in for a request may take for the rest, whatever `max_age` says.
const AGE_GRACE: SignedDuration = SignedDuration::from_mins(5);
/// Why a user is not admitted. The client learns no more, as the user has not consented.
const REFUSED: &str = "the user cannot sign in to this client";

/// Who opens the request.
pub struct Visitor<'a> {
    /// The signed-in user.
    pub user: &'a User,
    /// The session.
    pub session: &'a Session,
    /// Why the user is restricted; `None` if the user is not.
    pub restricted: Option<RestrictedReason>,
    /// Whether the user is one whom the client admits.
    pub is_admitted: bool,
    /// What the user has granted the client before.
    pub grant: Option<&'a OauthGrant>,
}

/// What the user has decided about this request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UserDecision {
    /// Whether the user wants to go on with the account that is signed in.
    pub account: bool,
    /// Whether the user consents.
    pub consent: bool,
}

/// The next step of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The user has to sign in.
    SignIn,
    /// The user is shown the sign-up.
    SignUp,
    /// The user has to sign in again, although there is a session.
    SignInAgain,
    /// The user has to do what the project requires of every user, such as verifying an address.
    Onboarding,
    /// The user has to choose an account.
    ChooseAccount,
    /// The user has to consent.
    Consent,
    /// Nothing more is needed.
    Complete,
}

/// The next step, or why the request is refused. With `prompt=none`, whatever needs a page is a
/// refusal.
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
    Err(Refusal::new(error, "the request has prompt=none, but the user has to be asked"))
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
    // The user has signed in for this request. On a remembered device, the session is new, but the
    // second factor was proved before.
    let signed_in_at = authenticated_at.max(visitor.session.created_at);
    let is_new = signed_in_at >= request.began_at;
    if request.hinted.is_some_and(|hinted| hinted != visitor.user.id) {
        return Ok(Step::SignInAgain);
    }
    if asks(Prompt::Create) && !is_new && !decided.account {
        return Ok(Step::SignUp);
    }
    let is_too_old = request.max_age.is_some_and(|age| now > after(authenticated_at, SignedDuration::from_secs(age.into())));
    // A user without a second factor cannot prove one; the client sees in `acr` what was proved.
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

/// Whether the user has to consent. Consent is not remembered where any other program could receive
/// the code (RFC 8252 §8.6).
fn needs_consent(request: &AuthorizationRequest, client: &OauthClient, visitor: &Visitor<'_>) -> bool {
    let proves_client = request.proves_client();
    let is_granted = visitor.grant.is_some_and(|grant| grant.is_of(visitor.user) && request.scopes.are_within(&grant.scopes));
    request.prompts.contains(&Prompt::Consent) || !proves_client || !(client.is_first_party || is_granted)
}
