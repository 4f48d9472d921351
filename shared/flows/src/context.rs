//! The context of an authenticated request: the caller, the project, and the prefetched items.

use std::sync::Arc;

use errors::KnownError;
use model::limit::Subject;
use model::place::Place;
use model::project::Project;
use model::project::redirect::Rules;
use model::user::User;
use model::user::device::DeviceToken;
use model::user::ownership::{Author, Prover};
use model::user::reference::UserRef;
use model::user::restriction::RestrictedReason;
use store::Store;
use wire::id::UserId;
use wire::level::Level;

use crate::app::App;
use crate::current_user::{CurrentUser, JUST_PROVED};

/// A request that has proved its access level.
pub struct Context {
    /// The store, the settings, the clock and the keys.
    pub app: App,
    /// The access level that the request claimed and proved.
    pub level: Level,
    /// The project of the request.
    pub project: Arc<Project>,
    /// The version of the project's item. Changes to the project are conditional on this version.
    pub project_version: u64,
    /// The user of the access token; `None` without an access token, or if the operation ignores
    /// tokens.
    pub user: Option<CurrentUser>,
    /// The caller's IP address and place.
    pub place: Place,
    /// The token of a remembered device, which stands in for the second factor; `None` if it is
    /// absent or malformed.
    pub device: Option<DeviceToken>,
    /// The store with the prefetched items; use `app.store` to read again.
    pub prefetched: Store,
}

/// The project and the caller's place, for code shared by operations with and without a
/// [`Context`].
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The store, the settings, the clock and the keys.
    pub app: &'a App,
    /// The project that the operation acts for.
    pub project: &'a Project,
    /// The caller's IP address and place.
    pub place: &'a Place,
}

impl Context {
    /// The store to read from for a change. In the first attempt (0), it includes the prefetched
    /// items; after a conflict, it does not.
    pub fn table(&self, attempt: u32) -> &Store {
        if attempt == 0 { &self.prefetched } else { &self.app.store }
    }

    /// The rules for the project's redirects.
    pub fn redirects(&self) -> Rules<'_> {
        self.project.redirects(&self.app.settings.own_pages)
    }

    /// The current user; fails with `CANNOT_GET_OWN_USER_WITHOUT_USER` if no user is signed in.
    pub fn own_user(&self) -> Result<&CurrentUser, KnownError> {
        self.user.as_ref().ok_or(KnownError::CannotGetOwnUserWithoutUser)
    }

    /// The subject for rate limits: the current user, or else the caller's IP address.
    pub fn subject(&self) -> Subject {
        self.user.as_ref().map_or_else(|| Subject::address(self.place.ip), |user| Subject::user(user.row.user.id))
    }

    /// The author of this request's changes: the user, or a server.
    pub fn author(&self) -> Author {
        if self.level >= Level::Server { Author::Server } else { Author::User }
    }

    /// For changes to how a user signs in, and for deleting the user: refuses a client whose
    /// session is not fresh ([`CurrentUser::check_fresh`]). A session is not fresh if it is an
    /// impersonation, if it still owes a second factor, or if its sign-in or last reauthentication
    /// is too old for the project.
    pub fn check_fresh(&self) -> Result<(), KnownError> {
        match &self.user {
            Some(current) if self.level < Level::Server => current.check_fresh(&self.project, None, &self.app),
            _ => Ok(()),
        }
    }

    /// Like [`Self::check_fresh`], but stricter in a project that requires a recent sign-in: the
    /// sign-in or last reauthentication must be at most five minutes old ([`JUST_PROVED`]), even if
    /// the project accepts older ones.
    pub fn check_just_proved(&self) -> Result<(), KnownError> {
        match &self.user {
            Some(current) if self.level < Level::Server => current.check_fresh(&self.project, Some(JUST_PROVED), &self.app),
            _ => Ok(()),
        }
    }

    /// The person who proves an email address of the account `user` with this request: the creator
    /// if the request has a session of the account, otherwise a stranger. A session that has ended
    /// since the authentication does not count.
    pub fn prover(&self, user: &User) -> Prover {
        let is_own = self.user.as_ref().is_some_and(|current| current.row.user.id == user.id && current.session.is_unended(user));
        if is_own { Prover::Creator } else { Prover::Stranger }
    }

    /// The reason why `user` is restricted; `None` if the user is not restricted. For the request's
    /// own user, the reason also depends on what the session has proved.
    pub fn restricted_reason(&self, user: &User) -> Option<RestrictedReason> {
        let config = &self.project.config;
        match &self.user {
            Some(current) if current.row.user.id == user.id => user.restricted_reason_in(&current.session, config),
            _ => user.restricted_reason(config),
        }
    }

    /// Refuses a client's change to `user` if the session has ended or the user has been restricted
    /// since the authentication; `user` must have been read again.
    pub fn check_again(&self, user: &User) -> Result<(), KnownError> {
        match &self.user {
            Some(current) if self.level < Level::Server && current.row.user.id == user.id => current.check(user, &self.project),
            _ => Ok(()),
        }
    }

    /// The id of the user that a request refers to. A client may refer only to its own user.
    pub fn user_id(&self, user: UserRef) -> Result<UserId, KnownError> {
        let own = self.user.as_ref().map(|user| user.row.user.id);
        match user {
            UserRef::Me => own.ok_or(KnownError::CannotGetOwnUserWithoutUser),
            UserRef::Id(id) if self.level >= Level::Server || own == Some(id) => Ok(id),
            UserRef::Id(_) => Err(KnownError::Forbidden),
        }
    }
}
