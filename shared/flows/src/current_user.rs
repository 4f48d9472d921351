//! The user of an access token. The token identifies the user and the session. Every request reads
//! the user's rights, so the end of a session, a restriction or a deletion takes effect
//! immediately.

use errors::{Error, KnownError};
use jiff::SignedDuration;
use model::openid::client::OauthClient;
use model::project::Project;
use model::session::Session;
use model::session::token::{self, Claims};
use model::user::User;
use model::user::restriction::RestrictedReason;
use store::keys::user_key;
use store::openid::client_key;
use store::session::session_key;
use store::user::UserRow;
use store::{Items, Key};
use wire::id::{OauthClientId, ProjectId};

use crate::app::App;

/// The maximum age of a sign-in or reauthentication for changing the second factors of a user who
/// already has one, in projects that require a recent sign-in.
pub const JUST_PROVED: SignedDuration = SignedDuration::from_mins(5);

/// The user of an access token whose session is live.
#[derive(Debug, Clone)]
pub struct CurrentUser {
    /// The user's item.
    pub row: UserRow,
    /// The session of the token.
    pub session: Session,
    /// The users that the request accepts.
    pub allows: AllowedUsers,
}

impl CurrentUser {
    /// Fails with `REAUTHENTICATION_REQUIRED` if the project requires a recent sign-in and this
    /// session's sign-in or last reauthentication is older than the project's maximum age or
    /// `limit`. Also fails if the project requires two factors and the session proved only one,
    /// although the user could prove both: knowing a password must not be enough to add another
    /// factor. Always fails in an impersonation: someone other than the user uses the session, and
    /// a change to how the user signs in would outlast the session.
    pub fn check_fresh(&self, project: &Project, limit: Option<SignedDuration>, app: &App) -> Result<(), KnownError> {
        let seconds = project.config.reauthentication_max_age_seconds;
        let age = SignedDuration::from_secs(seconds.into());
        let age = limit.map_or(age, |limit| limit.min(age));
        let is_fresh = seconds == 0 || self.session.is_fresh(age, app.clock.now());
        let owes_factor = self.row.user.owes_second_factor(&self.session, &project.config);
        let is_own = !self.session.is_impersonation;
        if is_own && is_fresh && !owes_factor { Ok(()) } else { Err(KnownError::ReauthenticationRequired) }
    }

    /// Whether a sign-up in this session turns the session's anonymous user into an ordinary one.
    /// In an impersonation, a sign-up creates a new user instead, because the credentials would
    /// outlast the session.
    pub fn is_upgraded_by_sign_up(&self) -> bool {
        self.row.user.is_anonymous && !self.session.is_impersonation
    }

    /// Checks whether the user, who has been read again, may still make the request.
    pub fn check(&self, user: &User, project: &Project) -> Result<(), KnownError> {
        if !self.session.is_unended(user) {
            return Err(KnownError::AccessTokenExpired {
                expired_at_millis: None,
                project_id: Some(project.id.to_string()),
                user_id: Some(user.id.to_string()),
                refresh_token_id: Some(self.session.id.to_string()),
            });
        }
        self.allows.check(user, &self.session, project)
    }
}

/// The users that a request accepts in addition to unrestricted ones.
#[derive(Debug, Clone, Copy)]
pub struct AllowedUsers {
    /// Anonymous users.
    pub anonymous: bool,
    /// Users who are restricted for a reason other than being anonymous.
    pub restricted: bool,
    /// Users whom an administrator has restricted. Has no effect unless `restricted` is set.
    pub by_administrator: bool,
    /// Sessions in which the user could prove a required second factor but has not done so: a
    /// password alone must not suffice for changes. Has no effect unless `restricted` is set.
    pub owing: bool,
}

impl AllowedUsers {
    const ANYBODY: Self = Self { anonymous: true, restricted: true, by_administrator: true, owing: true };

    /// Refuses a user that the request does not accept.
    pub fn check(self, user: &User, session: &Session, project: &Project) -> Result<(), KnownError> {
        // An administrator's restriction is checked first, because it applies even if the user is
        // also restricted for another reason.
        if user.restriction.is_some() && !self.by_administrator {
            let restricted_reason = RestrictedReason::RestrictedByAdministrator;
            return Err(KnownError::RestrictedUserNotAllowed { restricted_reason });
        }
        match user.restricted_reason_in(session, &project.config) {
            Some(RestrictedReason::Anonymous) if !self.anonymous => Err(KnownError::AnonymousAuthenticationNotAllowed),
            Some(restricted_reason) if !self.restricted => Err(KnownError::RestrictedUserNotAllowed { restricted_reason }),
            _ if !self.owing && user.owes_second_factor(session, &project.config) => Err(KnownError::ReauthenticationRequired),
            _ => Ok(()),
        }
    }
}

/// The keys of the user and the session of a token. If the token belongs to one of the project's
/// OAuth clients, and not to the project itself, the keys include the client's.
pub fn keys(project: &ProjectId, claims: &Claims) -> Vec<Key> {
    let client = client_of(claims).map(|client| client_key(project, client));
    let own = [user_key(project, claims.sub), session_key(project, claims.sub, claims.refresh_token_id)];
    own.into_iter().chain(client).collect()
}

fn client_of(claims: &Claims) -> Option<OauthClientId> {
    let client = claims.client_id.as_ref().filter(|client| **client != claims.project_id)?;
    OauthClientId::parse(client.as_str()).ok()
}

/// Whether the client of a session may still act for the user: the client must exist, be switched
/// on, and belong to the project itself.
fn may_act(project: &ProjectId, session: &Session, claims: &Claims, items: &Items) -> Result<bool, store::Error> {
    let Some(own) = &session.client else { return Ok(client_of(claims).is_none()) };
    let client = items.read::<OauthClient>(&client_key(project, own.id))?;
    Ok(client_of(claims) == Some(own.id) && client.is_some_and(|client| client.is_first_party && !client.is_disabled))
}

/// The user of a token. Fails if the user or the session no longer exists, or the session has
/// ended. `items` must have been read with [`keys`].
pub fn live_user(project: &Project, claims: &Claims, items: &Items, app: &App) -> Result<CurrentUser, Error> {
    let user = user_key(&project.id, claims.sub);
    let session = session_key(&project.id, claims.sub, claims.refresh_token_id);
    let row = items.read_as(&user, UserRow::of)?;
    let session = items.read::<Session>(&session)?;
    let (settings, now) = (&project.config.sessions, app.clock.now());
    let current = row.zip(session).map(|(row, session)| CurrentUser {
        row: UserRow::clone(&row),
        session: Session::clone(&session),
        allows: AllowedUsers::ANYBODY,
    });
    let live = current.filter(|current| current.session.is_live(&current.row.user, settings, now));
    let live = match live {
        Some(current) if may_act(&project.id, &current.session, claims, items)? => Some(current),
        _ => None,
    };
    live.ok_or_else(|| expired(claims, None).into())
}

/// The error for an invalid or expired token.
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
