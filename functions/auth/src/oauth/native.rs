//! Signs a user in with a provider's ID token that the app sends, without a redirect. The sign-in
//! is written in one transaction. If the transaction fails, nothing is stored and the ID token can
//! still be used.

use api::product::{Access, Client};
use errors::{Error, KnownError};
use flows::context::Scope;
use flows::teams::welcome;
use model::project::Project;
use model::provider::account::ProviderAccount;
use model::provider::profile::Profile;
use model::session::Amr;
use model::sign_in::authorization::Purpose;
use model::sign_in::provider::Decision;
use model::sign_in::second_factor::Attach;
use model::user::User;
use store::user::{self, UserRow};
use store::{Contention as _, Label, Write, optimistic};
use wire::id::UserId;

use crate::oauth::account::{SignUpAccount, sign_up};
use crate::oauth::owners::{Owners, attached, taken_over};
use crate::sign_in::second_factor::{self, ProviderDetails};
use crate::sign_in::tokens::{NewSession, SignInOrUpTokens};
use crate::sign_in::{notice, remembered, required_teams};

/// A provider account with a verified ID token.
pub(crate) struct NativeSignIn<'a> {
    pub(crate) access: &'a Access<Client>,
    pub(crate) account: ProviderAccount,
    pub(crate) profile: Profile,
    /// The write that marks the ID token as used.
    pub(crate) used: Write,
    /// The error if the ID token was already used.
    pub(crate) replayed: KnownError,
}

/// A user before and after the sign-in, and the writes of the change.
struct Change {
    /// Absent if the sign-in creates the user.
    before: Option<UserRow>,
    after: User,
    writes: Vec<Write>,
    is_new_user: bool,
}

impl NativeSignIn<'_> {
    /// Starts a session of the account's user, or fails with the error that asks for a second
    /// factor.
    pub(crate) async fn sign_in(&self) -> Result<SignInOrUpTokens, Error> {
        optimistic!(|attempt| {
            match self.attempt(attempt).await {
                Err(Error::Store(store::Error::Conflict(conflict))) if conflict.is_of(Label::Code) => Err(self.replayed.clone().into()),
                result => result,
            }
        })
    }

    fn scope(&self) -> Scope<'_> {
        Scope { app: &self.access.app, project: &self.access.project, place: &self.access.place }
    }

    async fn attempt(&self, attempt: u32) -> Result<SignInOrUpTokens, Error> {
        let Scope { app, project, place } = self.scope();
        let mut items = app.store.get_many(Owners::keys(&project.id, &self.account)).await?;
        let owners = Owners::take(&mut items, &project.id, &self.account)?;
        let anonymous = self.anonymous(attempt).await?;
        let decision = owners.decide(project, &self.profile, Purpose::Authenticate, anonymous.as_ref().map(|row| row.user.id))?;
        let attach = matches!(decision, Decision::Attach(_)).then(|| Attach { account: self.account.clone(), tokens: None });
        let Change { before, mut after, mut writes, is_new_user } = self.change(decision, anonymous).await?;
        let first = ProviderDetails { of_code: None, to_attach: attach.clone(), new_tokens: None };
        let device = remembered::read(app, project, &after, self.access.device.as_ref()).await?;
        if device.is_none()
            && let Some((attempt, required)) = second_factor::required_of_provider(app, project, &after, is_new_user, first)?
        {
            // If the user was found by the account's email address, the account is linked after the
            // second factor.
            if let (Some(_), Some(row)) = (attach, &before) {
                (after, writes) = (row.user.clone(), Vec::new());
            }
            writes.extend([self.used.clone(), attempt]);
            self.write(project, before, &after, writes).await?;
            return Err(required.into());
        }
        writes.push(self.used.clone());
        let session = NewSession::start(app, project, &after, place, vec![Amr::Fed]).on(device);
        writes.extend(session.writes(project)?);
        let users = (before.as_ref().map(|row| &row.user), &after);
        writes.extend(notice::unless_new_owner(app, project, users, place).await?);
        self.write(project, before, &after, writes).await?;
        required_teams::renew(app, project, &mut after).await?;
        Ok(SignInOrUpTokens { signed_in: session.signed_in(app, project, &after).await?, is_new_user })
    }

    /// The signed-in anonymous user, read again after a conflict. `None` if nobody is signed in or
    /// if, by now, the user is not anonymous, is impersonated, is deleted, or has changed
    /// credentials.
    async fn anonymous(&self, attempt: u32) -> Result<Option<UserRow>, Error> {
        let Some(current) = self.access.user.as_ref().filter(|current| current.is_upgraded_by_sign_up()) else { return Ok(None) };
        let row = match attempt {
            0 => Some(current.row.clone()),
            _ => self.access.app.store.user(&self.access.project.id, current.row.user.id).await?,
        };
        Ok(row.filter(|row| row.user.is_anonymous && row.user.credential_epoch == current.row.user.credential_epoch))
    }

    async fn change(&self, decision: Decision, anonymous: Option<UserRow>) -> Result<Change, Error> {
        let (scope, account, profile) = (self.scope(), &self.account, &self.profile);
        let signed_up = async |user: User, email_signs_in: bool| {
            let account = SignUpAccount { profile, account, email_signs_in };
            sign_up(scope, user, &account).await
        };
        let (before, (after, writes)) = match decision {
            Decision::SignIn(user) => {
                let row = self.user(user).await?;
                // The user may have changed since the claim was read.
                if !row.user.provider_accounts.iter().any(|own| own.is_same(account) && own.allow_sign_in) {
                    return Err(Error::conflict());
                }
                let mut user = row.user.clone();
                user.forget_wrong_passwords();
                (Some(row), (user, Vec::new()))
            }
            Decision::Attach(user) => {
                let row = self.user(user).await?;
                let change = attached(scope, &row, account)?;
                (Some(row), change)
            }
            Decision::TakeOver(user) => {
                let row = self.user(user).await?;
                let change = taken_over(scope, &row, account, profile).await?;
                (Some(row), change)
            }
            Decision::Upgrade { email_signs_in, .. } => {
                let row = anonymous.ok_or_else(Error::conflict)?;
                let mut user = row.user.clone();
                user.sign_up(scope.app.clock.now());
                let mut user = signed_up(user, email_signs_in).await?;
                let notices = flows::email::notice::about_change(scope.app, scope.project, Some(scope.place), &row.user, &mut user)?;
                return Ok(Change { before: Some(row), after: user, writes: notices, is_new_user: true });
            }
            Decision::SignUp { email_signs_in } => {
                let mut user = signed_up(User::new(&scope.app.entropy, scope.app.clock.now()), email_signs_in).await?;
                let writes = welcome(scope.app, scope.project, &mut user)?;
                return Ok(Change { before: None, after: user, writes, is_new_user: true });
            }
        };
        Ok(Change { before, after, writes, is_new_user: false })
    }

    async fn user(&self, id: UserId) -> Result<UserRow, Error> {
        self.access.app.store.user(&self.access.project.id, id).await?.ok_or_else(Error::conflict)
    }

    /// Writes the sign-in, provided that the user has not changed since it was read.
    async fn write(&self, project: &Project, before: Option<UserRow>, after: &User, mut writes: Vec<Write>) -> Result<(), Error> {
        let (store, id) = (&self.access.app.store, &project.id);
        match before {
            None => store.create_account(id, after, writes).await?.done()?,
            Some(row) if row.user != *after => store.change_account(id, &row, after, writes).await?.done()?,
            Some(row) => {
                writes.push(user::unchanged(id, after.id, row.version));
                store.transact(writes).await?;
            }
        }
        Ok(())
    }
}
