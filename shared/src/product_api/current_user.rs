//! The user of an access token. The token says who it is and which session it belongs to; what the user may do is read with every
//! request, so an ended session, a restriction and a deletion take effect at once.

use http::HeaderMap;
use jiff::SignedDuration;

use super::error::{Error, KnownError};
use super::family::header;
use crate::App;
use crate::crypto::token::{self, Claims};
use crate::model::id::{ProjectId, UserId};
use crate::model::project::Project;
use crate::model::session::Session;
use crate::model::user::{RestrictedReason, User};
use crate::store::sessions::session_key;
use crate::store::users::{UserRow, user_key};
use crate::store::{Items, Key};

/// How long ago the proof may be that removing or replacing a second factor takes.
pub(super) const JUST_PROVED: SignedDuration = SignedDuration::from_mins(5);

/// The user of an access token whose session lives.
#[derive(Debug, Clone)]
pub struct CurrentUser {
    pub row: UserRow,
    pub session: Session,
    allows: Allowed,
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
    pub(super) fn check(&self, user: &User, project: &Project) -> Result<(), KnownError> {
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

/// An access token of the project whose signature and times are right.
pub(super) struct AccessToken {
    claims: Claims,
    allows: Allowed,
}

/// Which users a request accepts besides those without restrictions.
#[derive(Debug, Clone, Copy)]
struct Allowed {
    anonymous: bool,
    restricted: bool,
    /// Those whom an administrator has restricted; `restricted` is about them, too.
    by_administrator: bool,
}

impl Allowed {
    const ANYBODY: Self = Self { anonymous: true, restricted: true, by_administrator: true };

    /// What the headers say, which whoever sends the request decides, and the published SDK says always: an administrator's restriction
    /// is not theirs to lift, so what changes something accepts no such user.
    fn read(headers: &HeaderMap, is_change: bool) -> Result<Self, KnownError> {
        let anonymous = header(headers, "allow-anonymous-user")? == Some("true");
        let restricted = anonymous || header(headers, "allow-restricted-user")? == Some("true");
        Ok(Self { anonymous, restricted, by_administrator: !is_change })
    }

    fn check(self, user: &User, project: &Project) -> Result<(), KnownError> {
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

impl AccessToken {
    /// The checks of an access token: whose it is, and whether it is still good.
    pub(super) fn read(token: &str, project: &str, headers: &HeaderMap, is_change: bool, app: &App) -> Result<Self, KnownError> {
        let claims = app.signer.verify(token, app.clock.now()).map_err(token_error)?;
        if claims.project_id.as_str() != project {
            return Err(KnownError::InvalidProjectForAccessToken {
                expected_project_id: project.to_owned(),
                actual_project_id: claims.project_id.to_string(),
            });
        }
        Ok(Self { claims, allows: Allowed::read(headers, is_change)? })
    }

    pub(super) fn user(&self) -> UserId {
        self.claims.sub
    }

    pub(super) fn claims(&self) -> &Claims {
        &self.claims
    }

    /// The items that [`Self::user_now`] needs.
    pub(super) fn keys(&self, project: &ProjectId) -> [Key; 2] {
        keys(project, &self.claims)
    }

    /// The user as it is now, if the session lives and the request accepts such users (step 9).
    pub(super) fn user_now(&self, project: &Project, items: &Items, app: &App) -> Result<CurrentUser, Error> {
        let current = CurrentUser { allows: self.allows, ..live_user(project, &self.claims, items, app)? };
        self.allows.check(&current.row.user, project)?;
        Ok(current)
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
