//! Redeems authorization codes, each of which has 64 hexadecimal digits. The first half of a code
//! is the user's id, so that the token endpoint can read the code and the user in one round trip.
//! The second half is random.
//!
//! A code is bound to its project, its redirect URI, its PKCE challenge and the credential epoch of
//! its user. If the flow links an account to a signed-in user, or upgrades an anonymous user, the
//! code is also bound to the session in which the flow began. A code is valid for five minutes and
//! works once. A second use means that the code was stolen, so it ends the session that the code
//! started or took to another domain (RFC 6749 §4.1.2, RFC 9700 §2.1.1). If the flow changes an
//! existing user, the change is made when the code is redeemed. If the user was found by the
//! provider account's email address and a second factor is required, the account is linked only
//! after the second factor. The provider's tokens are stored together with the change.

use errors::{Error, KnownError};
use flows::App;
use flows::context::Scope;
use model::project::Project;
use model::project::redirect::RedirectUrl;
use model::session::{Amr, SessionLimits};
use model::sign_in::authorization::challenge;
use model::sign_in::provider::Refusal;
use model::sign_in::second_factor::{Attach, CodeSession};
use model::user::User;
use model::user::device::Device;
use model::user::restriction::RestrictedReason;
use secrecy::{ExposeSecret as _, SecretString};
use store::provider::authorization::{self, AuthorizationCode, PendingAccount, PendingChange};
use store::user::account::Outcome;
use store::user::{self, UserRow};
use store::{Contention as _, Label, optimistic, session};
use subtle::ConstantTimeEq as _;

use crate::oauth::code::revoke;
use crate::oauth::owners::refused;
use crate::oauth::tokens::Tokens;
use crate::oauth::{handed_over, kept_tokens, pending};
use crate::sign_in::tokens::NewSession;
use crate::sign_in::{notice, required_teams, second_factor};

/// The reason why a write did not redeem the code. `None` if the code was redeemed.
fn failed(outcome: Result<Outcome, store::Error>) -> Result<Option<RedemptionRefusal>, Error> {
    Ok(Some(match outcome {
        Ok(Outcome::Done) => return Ok(None),
        Ok(Outcome::Changed | Outcome::PasskeyTaken(_)) => RedemptionRefusal::Changed,
        Ok(Outcome::AccountTaken(_)) => RedemptionRefusal::For(refused(Refusal::OfAnother, None)),
        Ok(Outcome::EmailTaken(email)) => {
            RedemptionRefusal::For(refused(Refusal::EmailTaken { would_work_if_verified: false }, Some(&email)))
        }
        Err(store::Error::Conflict(conflict)) if conflict.is_of(Label::Code) => RedemptionRefusal::Redeemed,
        Err(store::Error::Conflict(conflict)) if conflict.is_of(Label::Tokens) || conflict.is_of(Label::Member) => {
            RedemptionRefusal::Changed
        }
        Err(store::Error::Conflict(_)) => RedemptionRefusal::For(KnownError::InvalidAuthorizationCode),
        Err(error) => return Err(error.into()),
    }))
}

/// The result of redeeming a code.
enum Next {
    Session(Box<NewSession>),
    SecondFactor(KnownError),
}

/// The reason why a code was not redeemed.
enum RedemptionRefusal {
    /// The code was redeemed earlier.
    Redeemed,
    /// The user or the stored provider tokens changed concurrently.
    Changed,
    /// Any other reason, with the error to return.
    For(KnownError),
}

/// Checks that the code has not expired and that the user's credentials have not changed. Also
/// checks that a user who links an account is not restricted by an administrator or a sign-up rule.
fn check(app: &App, stored: &AuthorizationCode, row: &UserRow) -> Result<(), KnownError> {
    if stored.expires_at <= app.clock.now() || stored.epoch != row.user.credential_epoch {
        return Err(KnownError::InvalidAuthorizationCode);
    }
    let links = stored.pending.as_ref().is_some_and(|pending| pending.change == PendingChange::Link);
    if links && row.user.restriction.is_some() {
        return Err(KnownError::RestrictedUserNotAllowed { restricted_reason: RestrictedReason::RestrictedByAdministrator });
    }
    Ok(())
}

/// A session that was started by redeeming a code.
struct RedeemedSession {
    session: Box<NewSession>,
    user: User,
    code: AuthorizationCode,
}

/// An app's request to redeem a code.
pub(crate) struct Redemption {
    pub(crate) code: SecretString,
    pub(crate) redirect_uri: RedirectUrl,
    pub(crate) verifier: SecretString,
    /// The remembered device of the code's user, if the request names one; a second factor is then
    /// unnecessary. The device is read together with the code.
    pub(crate) device: Option<Device>,
}

impl Redemption {
    /// Redeems a code for the tokens of a new session, or of the session that the code takes to
    /// another domain.
    pub(crate) async fn redeem(self, scope: Scope<'_>, stored: Option<AuthorizationCode>, user: Option<UserRow>) -> Result<Tokens, Error> {
        let Scope { app, project, .. } = scope;
        if let Some(stored) = stored.as_ref().filter(|stored| stored.handed_over.is_some()) {
            self.check(app, project, stored).await?;
            let row = user.ok_or(KnownError::InvalidAuthorizationCode)?;
            check(app, stored, &row)?;
            return handed_over::redeem(&self.code, scope, stored, &row).await;
        }
        let RedeemedSession { session, user, code } = Box::pin(self.sign_in(scope, stored, user)).await?;
        session.tokens_of_code(app, project, &user, code).await
    }

    /// Redeems a code that starts a session.
    async fn sign_in(&self, scope: Scope<'_>, stored: Option<AuthorizationCode>, user: Option<UserRow>) -> Result<RedeemedSession, Error> {
        let Scope { app, project, .. } = scope;
        let stored = stored.ok_or(KnownError::InvalidAuthorizationCode)?;
        self.check(app, project, &stored).await?;
        let mut row = user.ok_or(KnownError::InvalidAuthorizationCode)?;
        optimistic!(|attempt| {
            if attempt > 0 {
                let again = app.store.user(&project.id, row.user.id).await?;
                row = again.ok_or(KnownError::InvalidAuthorizationCode)?;
            }
            if let Err(reason) = check(app, &stored, &row) {
                // Another request may have redeemed the code and changed the user since the code
                // was read.
                return Err(self.reused(app, project).await?.unwrap_or_else(|| reason.into()));
            }
            let (mut after, done) = self.write(scope, &stored, &row).await?;
            match done {
                Ok(Next::Session(session)) => {
                    required_teams::renew(app, project, &mut after).await?;
                    Ok(RedeemedSession { session, user: after, code: stored.clone() })
                }
                Ok(Next::SecondFactor(required)) => Err(required.into()),
                Err(RedemptionRefusal::Redeemed) => {
                    // Another request redeemed the code first.
                    let taken = app.store.authorization_code(&project.id, &self.code).await?;
                    Err(revoke(app, project, taken.as_ref().unwrap_or(&stored)).await)
                }
                Err(RedemptionRefusal::Changed) => Err(self.reused(app, project).await?.unwrap_or_else(Error::conflict)),
                Err(RedemptionRefusal::For(reason)) => Err(reason.into()),
            }
        })
    }

    /// If the code has been redeemed in the meantime, ends the session that the code started and
    /// returns the error for the request.
    async fn reused(&self, app: &App, project: &Project) -> Result<Option<Error>, Error> {
        let code = app.store.authorization_code(&project.id, &self.code).await?;
        Ok(match code.filter(|code| code.session_id.is_some()) {
            Some(taken) => Some(revoke(app, project, &taken).await),
            None => None,
        })
    }

    /// In one transaction, redeems the code, changes the code's user, and writes the session. If a
    /// second factor is required, the sign-in attempt is written instead of the session. Returns
    /// the user after the change.
    async fn write(
        &self,
        scope: Scope<'_>,
        stored: &AuthorizationCode,
        row: &UserRow,
    ) -> Result<(User, Result<Next, RedemptionRefusal>), Error> {
        let Scope { app, project, place } = scope;
        let id = &project.id;
        // The user may have changed since the device was read.
        let (settings, now) = (&project.config.second_factor, app.clock.now());
        let remembered = |user: &User| self.device.clone().filter(|device| device.is_remembered(user, settings, now));
        // If the user was found by the account's email address, the account is linked after the
        // second factor.
        let is_asked = row.user.has_second_factor() && remembered(&row.user).is_none();
        let waiting = stored.pending.as_ref().filter(|pending| pending.change == PendingChange::Attach && is_asked);
        let pending = stored.pending.as_ref().filter(|_| waiting.is_none());
        let (after, change) = match pending {
            Some(pending) => pending::made(scope, pending, row).await?,
            None if row.user.has_wrong_passwords() => (row.user.clone(), vec![user::password::reopen(id, row.user.id, stored.epoch)]),
            None => (row.user.clone(), vec![user::at_epoch(id, row.user.id, stored.epoch)]),
        };
        let device = remembered(&after);
        let is_remembered = device.is_some();
        let limits = self.limits(app, project, stored).await?;
        let session = NewSession::start(app, project, &after, place, vec![Amr::Fed]).on(device).within(limits.as_ref());
        let mut writes = vec![authorization::redeem_code(id, &self.code, session.id())];
        writes.extend(stored.begun_in.map(|begun| session::lives(project, after.id, begun, app.clock.now())));
        writes.extend(change);
        let first = second_factor::ProviderDetails {
            of_code: Some(CodeSession { session_id: session.id(), limits }),
            to_attach: waiting.map(|PendingAccount { account, tokens, .. }| Attach { account: account.clone(), tokens: tokens.clone() }),
            new_tokens: stored.new_tokens.clone(),
        };
        let asked = second_factor::required_of_provider(app, project, &after, stored.is_new_user, first)?;
        let next = match asked.filter(|_| !is_remembered) {
            Some((attempt, required)) => {
                writes.push(attempt);
                Next::SecondFactor(required)
            }
            None => {
                if let Some(new) = &stored.new_tokens {
                    writes.extend(kept_tokens::renewal_writes(scope, row, new).await?);
                }
                writes.extend(session.writes(project)?);
                writes.extend(notice::unless_new_owner(app, project, (Some(&row.user), &after), place).await?);
                Next::Session(Box::new(session))
            }
        };
        let outcome = match pending {
            Some(_) => app.store.change_account(id, row, &after, writes).await,
            None => app.store.transact(writes).await.map(|()| Outcome::Done),
        };
        Ok((after, failed(outcome)?.map_or(Ok(next), Err)))
    }

    /// The limits of the session in which a user began to link an account, so that a short session
    /// or an impersonation cannot become an ordinary session. `None` for sign-ins and sign-ups.
    async fn limits(&self, app: &App, project: &Project, stored: &AuthorizationCode) -> Result<Option<SessionLimits>, Error> {
        let signs_up = stored.pending.as_ref().is_some_and(|pending| matches!(pending.change, PendingChange::Upgrade { .. }));
        let Some(begun) = stored.begun_in.filter(|_| !signs_up) else { return Ok(None) };
        let session = app.store.session(&project.id, stored.user_id, begun).await?;
        Ok(Some(session.ok_or(KnownError::InvalidAuthorizationCode)?.limits()))
    }

    /// Whether the caller has the PKCE verifier, which proves that the caller began the flow.
    fn verifies(&self, stored: &AuthorizationCode) -> bool {
        let shown = challenge(self.verifier.expose_secret());
        shown.as_bytes().ct_eq(stored.code_challenge.as_bytes()).into()
    }

    /// Checks the verifier and the redirect URI, and that the code has not been redeemed yet.
    async fn check(&self, app: &App, project: &Project, stored: &AuthorizationCode) -> Result<(), Error> {
        if !self.verifies(stored) {
            return Err(KnownError::InvalidAuthorizationCode.into());
        }
        if self.redirect_uri.as_received() != stored.redirect_uri.as_received() {
            // Only the app that began the flow has the verifier, so a different redirect URI means
            // that the code was intercepted or sent to the wrong place.
            app.store.end_code(&project.id, &self.code).await?;
            return Err(KnownError::InvalidAuthorizationCode.into());
        }
        if stored.session_id.is_some() { Err(revoke(app, project, stored).await) } else { Ok(()) }
    }
}
