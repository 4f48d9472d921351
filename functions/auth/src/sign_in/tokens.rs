//! Starts and refreshes sessions. The plaintext of a new refresh token appears only in the
//! response. The table contains only the token's digest. The module `session_create` describes
//! sessions that servers create.

use errors::{Error, KnownError};
use flows::{App, activity, limits, signing_keys};
use model::metrics::activity::day;
use model::place::Place;
use model::project::Project;
use model::session::token::Subject;
use model::session::{Amr, Session, SessionLimits, refresh_token};
use model::sign_in::second_factor::CodeSession;
use model::user::User;
use model::user::device::Device;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use store::Write;
use store::provider::authorization::AuthorizationCode;
use store::session::{self, TokenClaim};
use store::user::device::use_device;
use utoipa::ToSchema;
use wire::id::{SessionId, UserId};

use crate::oauth::tokens::Tokens;
use crate::sign_in::required_teams;

/// A session that starts with this request.
pub(crate) struct NewSession {
    session: Session,
    refresh_token: SecretString,
    /// The remembered device that replaced the second factor, if there was one.
    device: Option<Device>,
}

/// The response to a sign-in.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SignedIn)]
pub struct SignInTokens {
    /// A JWT that is signed with ES256 or, if the project has chosen it, with RS256.
    access_token: String,
    /// The refresh token, at most 128 characters.
    refresh_token: String,
    user_id: UserId,
}

impl NewSession {
    /// Starts a session of `user`, who was authenticated with the methods in `amr`.
    pub(crate) fn start(app: &App, project: &Project, user: &User, place: &Place, amr: Vec<Amr>) -> Self {
        let session = Session::start(user, &project.config.sessions, Some(place.clone()), &app.entropy, app.clock.now());
        let session = Session { amr, ..session };
        Self { refresh_token: refresh_token::draw(&app.entropy, &session), session, device: None }
    }

    /// The session of a tool that the session `confirming` has confirmed.
    pub(crate) fn confirmed_by(self, confirming: &Session) -> Self {
        Self { session: confirming.for_tool(self.session), ..self }
    }

    /// Applies the limits of the session in which the flow began, if there are any.
    pub(crate) fn within(self, limits: Option<&SessionLimits>) -> Self {
        match limits {
            Some(limits) => Self { session: self.session.within(limits), ..self },
            None => self,
        }
    }

    /// Gives the session the id and the limits that were stored when an authorization code was
    /// redeemed. The session is unchanged if the sign-in did not begin with a code.
    pub(crate) fn with_code(mut self, app: &App, code: Option<&CodeSession>) -> Self {
        let Some(code) = code else { return self };
        self.session.id = code.session_id;
        self.refresh_token = refresh_token::draw(&app.entropy, &self.session);
        self.within(code.limits.as_ref())
    }

    /// The response of the token endpoint to a device. Only call this after the session has been
    /// written.
    pub(crate) async fn tokens(self, app: &App, project: &Project, user: &User) -> Result<Tokens, Error> {
        Ok(Tokens::from_device(access_token(app, project, user, &self.session).await?, self.into_refresh_token()))
    }

    /// The refresh token without an access token. Only return the token to the caller after the
    /// session has been written.
    pub(crate) fn into_refresh_token(self) -> String {
        self.refresh_token.expose_secret().to_owned()
    }

    /// Starts the session on a remembered device, if there is one. A session on a remembered device
    /// counts as proved with two factors. For changes that require a recent proof, the time of the
    /// session's proof is the time when the device was remembered.
    pub(crate) fn on(mut self, device: Option<Device>) -> Self {
        if let Some(device) = &device {
            self.session.authenticated_at = Some(device.created_at);
            self.session.amr.push(Amr::Mfa);
        }
        self.device = device;
        self
    }

    pub(crate) fn writes(&self, project: &Project) -> Result<Vec<Write>, store::Error> {
        let (id, session) = (&project.id, &self.session);
        let used = self.device.as_ref().map(|device| use_device(id, device, session.place.as_ref(), session.created_at));
        let mut writes = vec![session::create(id, session, &self.refresh_token)?];
        writes.extend(used.transpose()?);
        Ok(writes)
    }

    pub(crate) fn id(&self) -> SessionId {
        self.session.id
    }

    /// The response of the token endpoint to a code. Only call this after the session has been
    /// written.
    pub(crate) async fn tokens_of_code(self, app: &App, project: &Project, user: &User, code: AuthorizationCode) -> Result<Tokens, Error> {
        let access_token = access_token(app, project, user, &self.session).await?;
        Ok(Tokens::from_code(access_token, self.into_refresh_token(), code))
    }

    /// The response to the sign-in. Only call this after the session has been written.
    pub(crate) async fn signed_in(self, app: &App, project: &Project, user: &User) -> Result<SignInTokens, Error> {
        let access_token = access_token(app, project, user, &self.session).await?;
        Ok(SignInTokens { access_token, refresh_token: self.into_refresh_token(), user_id: user.id })
    }
}

pub(crate) async fn access_token(app: &App, project: &Project, user: &User, session: &Session) -> Result<String, Error> {
    signing_keys::sign(app, project, &Subject::of(user, &project.id, &project.config, session)).await
}

/// Exchanges a refresh token for an access token, and records the use of the session. The exchange
/// takes two round trips, because it also records that the user is active, but only if the session
/// is live. The exchange takes more round trips for the first refresh of a day, for a refresh from
/// a new place, and in a project with teams that require a second factor.
pub(crate) async fn refresh(app: &App, project: &Project, token: &SecretString, claim: TokenClaim, place: &Place) -> Result<String, Error> {
    let now = app.clock.now();
    let settings = &project.config.sessions;
    let idle_since = Session::idle_since(settings, now);
    limits::refresh(app, &project.id, token)?;
    let (session, last_day) = futures_util::try_join!(
        app.store.touch_session(&project.id, claim, idle_since, now),
        app.store.last_day(&project.id, claim.user_id),
    )?;
    let session = session.ok_or(KnownError::RefreshTokenNotFoundOrExpired)?;
    let user = app.store.touch_user(&project.id, &session, now).await?;
    let mut user = user.ok_or(KnownError::RefreshTokenNotFoundOrExpired)?;
    if !session.is_live(&user.user, settings, now) {
        return Err(KnownError::RefreshTokenNotFoundOrExpired.into());
    }
    let is_counted = session.is_impersonation || last_day.is_some_and(|last| last.covers(day(now), user.user.is_anonymous));
    if !is_counted {
        activity::note(app, project, &user.user, now).await;
    }
    if session.place.as_ref() != Some(place) {
        app.store.note_place(&project.id, &session, place).await?;
    }
    required_teams::note(app, project, &mut user).await?;
    access_token(app, project, &user.user, &session).await
}

#[derive(Serialize, ToSchema)]
#[schema(as = SignedInOrUp)]
pub struct SignInOrUpTokens {
    #[serde(flatten)]
    pub(crate) signed_in: SignInTokens,
    /// Whether this sign-in created the account.
    pub(crate) is_new_user: bool,
}
