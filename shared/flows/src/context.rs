//! Who asks, for which project, and what was read to prove it: what an operation works with.

use errors::KnownError;
use model::limit::Subject;
use model::place::Place;
use model::project::Project;
use model::user::User;
use model::user::ownership::{Author, Prover};
use model::user::reference::UserRef;
use store::Store;
use wire::id::UserId;
use wire::level::Level;

use crate::app::App;
use crate::current_user::{CurrentUser, JUST_PROVED};

/// A request that has proved its access type.
pub struct Context {
    pub app: App,
    pub level: Level,
    pub project: Project,
    /// What a change of the project is conditional on.
    pub project_version: u64,
    pub user: Option<CurrentUser>,
    pub place: Place,
    /// The table, with what the request names as it was read with all this. A second look takes the app's.
    pub prefetched: Store,
}

/// For whom something is done: what an operation without an access has in place of a [`Context`].
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    pub app: &'a App,
    pub project: &'a Project,
    pub place: &'a Place,
}

/// How often a request looks again when somebody else changes the same thing. What changes more often is under attack, not in use.
pub const ROUNDS: u32 = 5;

impl Context {
    /// Where a change reads: at first what was read with the access, after a conflict the table itself.
    pub fn table(&self, round: u32) -> &Store {
        if round == 0 { &self.prefetched } else { &self.app.store }
    }

    /// The current user, or the error of an operation that is about it.
    pub fn own_user(&self) -> Result<&CurrentUser, KnownError> {
        self.user.as_ref().ok_or(KnownError::CannotGetOwnUserWithoutUser)
    }

    /// Whom attempts are counted by: the current user, or the address that the request came from.
    pub fn subject(&self) -> Subject {
        self.user.as_ref().map_or_else(|| Subject::address(self.place.ip), |user| Subject::user(user.row.user.id))
    }

    /// By whose word the request changes an account.
    pub fn author(&self) -> Author {
        if self.level >= Level::Server { Author::Server } else { Author::User }
    }

    /// Refuses a client's change of how its user signs in when the project wants the user to be proved to be there first.
    pub fn check_fresh(&self) -> Result<(), KnownError> {
        match &self.user {
            Some(current) if self.level < Level::Server => current.check_fresh(&self.project, None, &self.app),
            _ => Ok(()),
        }
    }

    /// The same for what takes a proof of the last minutes where a project wants any.
    pub fn check_just_proved(&self) -> Result<(), KnownError> {
        match &self.user {
            Some(current) if self.level < Level::Server => current.check_fresh(&self.project, Some(JUST_PROVED), &self.app),
            _ => Ok(()),
        }
    }

    /// Who proves an address of the account `user` by this request. A session that ended since the request was authenticated proves
    /// nothing.
    pub fn prover(&self, user: &User) -> Prover {
        let is_own = self.user.as_ref().is_some_and(|current| current.row.user.id == user.id && current.session.is_unended(user));
        if is_own { Prover::Creator } else { Prover::Stranger }
    }

    /// Refuses a client's change of `user`, as it is read again, when the caller's session has ended or the caller has been restricted
    /// since the request was authenticated.
    pub fn check_again(&self, user: &User) -> Result<(), KnownError> {
        match &self.user {
            Some(current) if self.level < Level::Server && current.row.user.id == user.id => current.check(user, &self.project),
            _ => Ok(()),
        }
    }

    /// The user that a request is about: a client may name itself alone.
    pub fn user_id(&self, user: UserRef) -> Result<UserId, KnownError> {
        let own = self.user.as_ref().map(|user| user.row.user.id);
        match user {
            UserRef::Me => own.ok_or(KnownError::CannotGetOwnUserWithoutUser),
            UserRef::Id(id) if self.level >= Level::Server || own == Some(id) => Ok(id),
            UserRef::Id(_) => Err(KnownError::Forbidden),
        }
    }
}
