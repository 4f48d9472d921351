//! Checks the response of a passkey that is used to sign in, as a second factor, or to
//! reauthenticate.
//!
//! One transaction redeems the challenge, records the use of the passkey and makes the writes that
//! the response permits. Only one of several concurrent requests with the same response can
//! therefore succeed.

use api::product::{Access, Client};
use crypto::webauthn::client_data::Ceremony;
use deserr::Deserr;
use errors::{Error, KnownError};
use flows::accounts::{place, redeemed};
use flows::email::notice;
use jiff::Timestamp;
use model::code::{Code, CodeRefusal};
use model::passkey::ceremony::{CeremonyRefusal, authenticate, claimed_user};
use model::passkey::challenge::Challenge;
use model::project::Project;
use model::session::Amr;
use model::trail::Event;
use model::user::User;
use model::user::passkey::{Assertion, Refusal};
use serde_json::Value;
use store::user::UserRow;
use store::user::account::Outcome;
use store::{Contention as _, Store, Write, passkey};
use utoipa::ToSchema;
use wire::id::UserId;

/// The response of a passkey, for requests that also accept other proofs.
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub(crate) struct PasskeyResponse {
    /// The code that `initiate-passkey-authentication` returned with the options.
    pub(crate) code: Code,
    /// The browser's `AuthenticationResponseJSON`.
    #[schema(value_type = Object)]
    pub(crate) authentication_response: Value,
}

/// The response of a passkey that has not been checked yet.
pub(crate) struct PasskeyProof<'a> {
    pub(crate) access: &'a Access<Client>,
    pub(crate) code: &'a Code,
    pub(crate) response: &'a Value,
    /// The attempt code of the sign-in whose second factor the passkey is, if any. The challenge
    /// must have been issued for this code.
    pub(crate) attempt: Option<&'a Code>,
    /// The event that records a wrong response.
    pub(crate) failed: Event,
}

/// A correct response of a passkey whose use has not been written yet.
pub(crate) struct PasskeyUse {
    /// The user as read.
    row: UserRow,
    /// The user, with the use of the passkey recorded.
    pub(crate) user: User,
    pub(crate) assertion: Assertion,
    /// The time when the passkey was registered.
    pub(crate) since: Timestamp,
}

impl PasskeyProof<'_> {
    /// Checks the response. If there is an `owner`, the response must come from one of the owner's
    /// passkeys. In the first attempt (0), the challenge and the user may be prefetched.
    pub(crate) async fn check(&self, attempt: u32, owner: Option<UserId>) -> Result<PasskeyUse, Error> {
        let (access, project) = (self.access, &self.access.project);
        let now = access.app.clock.now();
        let table = access.table(attempt);
        // The user must be read before the challenge. If the user item already contains this use of
        // the passkey, the later read then finds that the challenge has been redeemed.
        let row = match claimed_user(self.response, owner) {
            Some(id) => table.user(&project.id, id).await?,
            None => None,
        };
        let challenge = self.challenge(table).await?;
        if !project.config.passkeys.enabled {
            return Err(KnownError::PasskeyAuthenticationNotEnabled.into());
        }
        let Some(row) = row else { return Err(self.wrong(None, CeremonyRefusal::Unknown).await) };
        let assertion = match authenticate(project, &access.app.settings.own_pages, &challenge, self.response, &row.user) {
            Ok(assertion) => assertion,
            Err(failed) => return Err(self.wrong(Some(&row.user), failed).await),
        };
        let since = row.user.passkey_of(&assertion.credential_id.0).map(|passkey| passkey.created_at);
        let mut user = row.user.clone();
        match (user.use_passkey(&assertion, now), since) {
            (Ok(()), Some(since)) => Ok(PasskeyUse { row, user, assertion, since }),
            (Err(Refusal::Cloned), _) => Err(self.suspect(&row, user).await),
            _ => Err(self.wrong(Some(&row.user), CeremonyRefusal::Unknown).await),
        }
    }

    async fn challenge(&self, table: &Store) -> Result<Challenge, Error> {
        let found = table.challenge(&self.access.project.id, Ceremony::Authentication, self.code).await?;
        let challenge = Challenge::check(found, self.access.app.clock.now())?;
        if challenge.is_for_attempt(self.attempt) { Ok(challenge) } else { Err(CodeRefusal::NotFound.into()) }
    }

    /// Records a wrong response, and returns the error for the request.
    async fn wrong(&self, user: Option<&User>, failed: CeremonyRefusal) -> Error {
        match self.access.app.store.record_failure(user.map(|user| user.id), self.failed).await {
            Ok(()) => KnownError::PasskeyAuthenticationFailed { message: failed.to_string() }.into(),
            Err(error) => error.into(),
        }
    }

    /// Records that the authenticator may have been copied, and notifies the owner once. The owner
    /// is not notified if the project has disabled notices about passkeys. `user` is the user of
    /// `row` with the suspicion recorded.
    async fn suspect(&self, row: &UserRow, user: User) -> Error {
        let refused = || KnownError::PasskeyAuthenticationFailed { message: Refusal::Cloned.to_string() }.into();
        let told = async {
            // The signature count also fails to increase if another request has just used this
            // response. The challenge has then been redeemed, so reading it fails.
            self.challenge(&self.access.app.store).await?;
            if user == row.user {
                let store = &self.access.app.store;
                return Ok::<_, Error>(store.record_failure(Some(user.id), self.failed).await?);
            }
            let (access, mut user) = (self.access, user);
            let writes = notice::about_change(&access.app, &access.project, place(access), &row.user, &mut user)?;
            PasskeyUse::write(access, row, &user, writes).await
        };
        told.await.err().unwrap_or_else(refused)
    }

    /// Writes the use of the passkey and `writes`, and redeems the challenge.
    pub(crate) async fn redeem(&self, proved: &PasskeyUse, user: &User, mut writes: Vec<Write>) -> Result<(), Error> {
        writes.push(passkey::redeem_challenge(&self.access.project.id, Ceremony::Authentication, self.code));
        redeemed(PasskeyUse::write(self.access, &proved.row, user, writes).await)
    }
}

impl PasskeyUse {
    /// The authentication methods that the response proves (RFC 8176).
    pub(crate) fn amr(&self, project: &Project) -> Vec<Amr> {
        let is_two_factors = project.config.passkeys.is_two_factors(self.assertion.is_user_verified);
        [Amr::Pop].into_iter().chain(is_two_factors.then_some(Amr::Mfa)).collect()
    }

    async fn write(access: &Access<Client>, row: &UserRow, user: &User, writes: Vec<Write>) -> Result<(), Error> {
        match access.app.store.change_account(&access.project.id, row, user, writes).await? {
            Outcome::Done => Ok(()),
            _ => Err(Error::conflict()),
        }
    }
}
