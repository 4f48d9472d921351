//! The user of an access token. The token says who it is and which session it belongs to; what the user may do is read with every
//! request, so an ended session, a restriction and a deletion take effect at once.

use errors::{Error, KnownError};
use jiff::SignedDuration;
use model::project::Project;
use model::session::Session;
use model::session::token::{self, Claims};
use model::user::User;
use model::user::restriction::RestrictedReason;
use store::keys::user_key;
use store::session::session_key;
use store::user::UserRow;
use store::{Items, Key};
use wire::id::ProjectId;

use crate::app::App;

/// How long ago the proof may be that removing or replacing a second factor takes.
pub const JUST_PROVED: SignedDuration = SignedDuration::from_mins(5);

/// The user of an access token whose session lives.
#[derive(Debug, Clone)]
pub struct CurrentUser {
    pub row: UserRow,
    pub session: Session,
    pub allows: Allowed,
}

impl CurrentUser {
    /// Refuses when the project wants its users to be proved to be there again, and this one was not within its time, nor within `limit`.
    pub fn check_fresh(&self, project: &Project, limit: Option<SignedDuration>, app: &App) -> Result<(), KnownError> {
        let seconds = project.config.reauthentication_max_age_seconds;
        let age = SignedDuration::from_secs(seconds.into());
        let age = limit.map_or(age, |limit| limit.min(age));
        let is_fresh = seconds == 0 || self.session.is_fresh(age, app.clock.now());
        if is_fresh { Ok(()) } else { Err(KnownError::ReauthenticationRequired) }
    }

    /// Whether the request may still be made by the user, who was read again since.
    pub fn check(&self, user: &User, project: &Project) -> Result<(), KnownError> {
        if !self.session.is_unended(user) {
            return Err(KnownError::AccessTokenExpired {
                expired_at_millis: None,
                project_id: Some(project.id.to_string()),
                user_id: Some(user.id.to_string()),
                refresh_token_id: Some(self.session.id.to_string()),
            });
        }
        self.allows.check(user, project)
    }
}

/// Which users a request accepts besides those without restrictions.
#[derive(Debug, Clone, Copy)]
pub struct Allowed {
    pub anonymous: bool,
    pub restricted: bool,
    /// Those whom an administrator has restricted; `restricted` is about them, too.
    pub by_administrator: bool,
}

impl Allowed {
    const ANYBODY: Self = Self { anonymous: true, restricted: true, by_administrator: true };

    /// Refuses a user whom the request does not accept.
    pub fn check(self, user: &User, project: &Project) -> Result<(), KnownError> {
        // Whatever else restricts the user, too.
        if user.restriction.is_some() && !self.by_administrator {
            let restricted_reason = RestrictedReason::RestrictedByAdministrator;
            return Err(KnownError::RestrictedUserNotAllowed { restricted_reason });
        }
        match user.restricted_reason(&project.config) {
            Some(RestrictedReason::Anonymous) if !self.anonymous => Err(KnownError::AnonymousAuthenticationNotAllowed),
            Some(restricted_reason) if !self.restricted => Err(KnownError::RestrictedUserNotAllowed { restricted_reason }),
            _ => Ok(()),
        }
    }
}

/// The items of a token's user and session.
pub fn keys(project: &ProjectId, claims: &Claims) -> [Key; 2] {
    [user_key(project, claims.sub), session_key(project, claims.sub, claims.refresh_token_id)]
}

/// The user of a token, or the error of a token whose session has ended. `items` has what [`keys`] names.
pub fn live_user(project: &Project, claims: &Claims, items: &Items, app: &App) -> Result<CurrentUser, Error> {
    let [user, session] = keys(&project.id, claims);
    let row = items.get(&user).map(UserRow::of).transpose()?;
    let session: Option<Session> = items.read(&session)?;
    let (settings, now) = (&project.config.sessions, app.clock.now());
    let current = row.zip(session).map(|(row, session)| CurrentUser { row, session, allows: Allowed::ANYBODY });
    let live = current.filter(|current| current.session.is_live(&current.row.user, settings, now));
    live.ok_or_else(|| expired(claims, None).into())
}

/// The error of a token that is not believed.
pub fn token_error(error: token::Error) -> KnownError {
    match error {
        token::Error::Unparsable => KnownError::UnparsableAccessToken,
        token::Error::Expired(claims) => expired(&claims, Some(claims.exp.saturating_mul(1000))),
    }
}

fn expired(claims: &Claims, expired_at_millis: Option<i64>) -> KnownError {
    KnownError::AccessTokenExpired {
        expired_at_millis,
        project_id: Some(claims.project_id.to_string()),
        user_id: Some(claims.sub.to_string()),
        refresh_token_id: Some(claims.refresh_token_id.to_string()),
    }
}
