//! Sessions in command-line sign-ins, identified by a refresh token in the body or by a reference
//! stored with the sign-in.

use errors::{Error, KnownError};
use flows::App;
use flows::context::Context;
use flows::limits::unknown_token;
use model::project::Project;
use model::session::Session;
use model::session::cli::SessionRef;
use model::user::restriction::RestrictedReason;
use secrecy::SecretString;
use store::keys::user_key;
use store::session::session_key;
use store::user::UserRow;
use wire::id::{SessionId, UserId};

/// A live session and its user.
pub(crate) struct LiveSession {
    pub(crate) row: UserRow,
    pub(crate) session: Session,
}

impl LiveSession {
    /// Finds the live session of a refresh token, and fails with `INVALID_REFRESH_TOKEN` if there
    /// is no such session. Unknown tokens are counted per IP address of the caller.
    pub(crate) async fn find_by_token(context: &Context, token: &SecretString) -> Result<Self, Error> {
        let (app, project) = (&context.app, &context.project);
        let Some(claim) = context.prefetched.token_claim(&project.id, token).await? else {
            unknown_token(app, &project.id, &context.place).await?;
            return Err(KnownError::InvalidRefreshToken.into());
        };
        Ok(Self::read(app, project, claim.user_id, claim.session_id).await?.ok_or(KnownError::InvalidRefreshToken)?)
    }

    /// Finds the session to which `of` refers, if the session is live and the user's credentials
    /// are unchanged.
    pub(crate) async fn find(app: &App, project: &Project, of: SessionRef) -> Result<Option<Self>, store::Error> {
        let signed = Self::read(app, project, of.user_id, of.session_id).await?;
        Ok(signed.filter(|signed| signed.row.user.credential_epoch == of.epoch))
    }

    async fn read(app: &App, project: &Project, user: UserId, session: SessionId) -> Result<Option<Self>, store::Error> {
        let (user_key, session_key) = (user_key(&project.id, user), session_key(&project.id, user, session));
        let mut items = app.store.get_many([user_key.clone(), session_key.clone()]).await?;
        let row = items.take(&user_key).map(UserRow::of).transpose()?;
        let session: Option<Session> = items.entity(&session_key)?;
        let signed = row.zip(session).map(|(row, session)| Self { row, session });
        let (settings, now) = (&project.config.sessions, app.clock.now());
        Ok(signed.filter(|signed| signed.session.is_live(&signed.row.user, settings, now)))
    }

    /// Whether the session may be attached to a sign-in, so that a browser can take it over. Only
    /// sessions of anonymous users may be attached. Impersonation sessions may not be attached,
    /// because that would extend them.
    pub(crate) fn may_be_attached(&self) -> bool {
        self.row.user.is_anonymous && !self.session.is_impersonation
    }

    /// Rejects users whom an administrator has restricted. Also rejects users who have not set up a
    /// required second factor, because a tool cannot set one up.
    pub(crate) fn check_unrestricted(&self, project: &Project) -> Result<(), KnownError> {
        let user = &self.row.user;
        let by_administrator = user.restriction.as_ref().map(|_| RestrictedReason::RestrictedByAdministrator);
        let required = RestrictedReason::SecondFactorRequired;
        let lacks = || user.restricted_reason_in(&self.session, &project.config) == Some(required);
        let lacking = || (lacks() || user.owes_second_factor(&self.session, &project.config)).then_some(required);
        match by_administrator.or_else(lacking) {
            Some(restricted_reason) => Err(KnownError::RestrictedUserNotAllowed { restricted_reason }),
            None => Ok(()),
        }
    }

    /// The reference by which a command-line sign-in finds this session.
    pub(crate) fn reference(&self) -> SessionRef {
        SessionRef::of(&self.session, &self.row.user)
    }
}
