//! Second-factor codes from the authenticator app or the set of recovery codes, used at sign-in and
//! for reauthentication.
//!
//! The field for the app's code also accepts recovery codes, so that they work on pages without a
//! field for them. Wrong app codes and wrong recovery codes count towards the same limit.

use api::product::{Access, Client};
use crypto::password::recovery::{HashedCode, RecoveryCode};
use errors::{Error, ErrorCode, KnownError};
use flows::accounts::place;
use flows::email::notice;
use flows::limits::{Attempt, Failures};
use jiff::Timestamp;
use model::trail::Event;
use model::user::totp::{Authenticator, Totp};
use model::user::{User, recovery, totp};
use store::user::account::Outcome;
use store::user::{self, UserRow};
use store::{Contention as _, Label, Write, optimistic};
use wire::typed::typed;

/// The maximum number of attempts if the account changes concurrently.
const MAX_ATTEMPTS: u32 = 5;

/// The errors of operations that accept a code of the second factor or a passkey.
pub(crate) const SECOND_FACTOR_ERRORS: &[ErrorCode] = &[
    ErrorCode::InvalidTotpCode,
    ErrorCode::InvalidRecoveryCode,
    ErrorCode::PasskeyAuthenticationNotEnabled,
    ErrorCode::PasskeyAuthenticationFailed,
];

pub(crate) struct SecondFactorCode {
    typed: TypedCode,
    /// The error for a wrong code.
    wrong: KnownError,
}

enum TypedCode {
    App(String),
    Recovery(RecoveryCode),
    /// The text is not a recovery code, although one is required.
    Neither,
}

/// A correct code that has not been redeemed yet.
pub(crate) enum CorrectCode<'a> {
    /// The app that shows this code, and the code's time step.
    App(&'a Authenticator, u64),
    /// A recovery code of the user's set.
    Recovery(HashedCode),
}

impl CorrectCode<'_> {
    /// The time when the app that shows this code was added. `None` if the time is unknown, and for
    /// a recovery code.
    pub(crate) fn since(&self) -> Option<Timestamp> {
        match self {
            Self::App(app, _) => app.set_at,
            Self::Recovery(_) => None,
        }
    }
}

impl SecondFactorCode {
    /// The code from the field for the app's code.
    pub(crate) fn from_app(text: &str) -> Self {
        let typed = RecoveryCode::parse(text).map_or_else(|| TypedCode::App(typed(text)), TypedCode::Recovery);
        Self { typed, wrong: KnownError::InvalidTotpCode }
    }

    /// The code from the field for a recovery code.
    pub(crate) fn from_recovery(text: &str) -> Self {
        let typed = RecoveryCode::parse(text).map_or(TypedCode::Neither, TypedCode::Recovery);
        Self { typed, wrong: KnownError::InvalidRecoveryCode }
    }

    /// The time when the credential to which the code may belong was added, if the time is known.
    /// The credential is the set of recovery codes or the oldest app.
    pub(crate) fn since(&self, user: &User) -> Option<Timestamp> {
        match self.typed {
            TypedCode::App(_) => user.totp.as_ref()?.apps().map(|app| app.set_at).min()?,
            TypedCode::Recovery(_) | TypedCode::Neither => Some(user.recovery_codes()?.created_at),
        }
    }

    /// Checks the code. The attempt stays counted as wrong unless the caller permits it. A wrong
    /// code is recorded as `failed`, unless the user has no second factor.
    pub(crate) async fn check<'a>(
        &self,
        access: &Access<Client>,
        user: &'a User,
        failures: &'a Failures<'_>,
        failed: Event,
    ) -> Result<(Attempt<'a>, CorrectCode<'a>), Error> {
        let totp = user.totp.as_ref().ok_or_else(|| self.wrong.clone())?;
        // The code is counted before it is compared, so that a flood of codes is not hashed.
        let attempt = failures.begin().await?;
        if let Some(right) = self.compare(access, user, totp).await? {
            return Ok((attempt, right));
        }
        access.app.store.record_failure(Some(user.id), failed).await?;
        Err(self.wrong.clone().into())
    }

    async fn compare<'a>(&self, access: &Access<Client>, user: &User, totp: &'a Totp) -> Result<Option<CorrectCode<'a>>, Error> {
        let (project, sealer) = (&access.project.id, &access.app.sealer);
        match &self.typed {
            TypedCode::App(digits) => {
                let right = totp.check(sealer, &totp::owner(project, user.id), digits, access.app.clock.now())?;
                Ok(right.map(|(app, step)| CorrectCode::App(app, step)))
            }
            TypedCode::Recovery(code) => {
                let owner = recovery::owner(project, user.id);
                let set = totp.recovery.as_ref().map(|codes| codes.open(sealer, &owner)).transpose()?;
                let hashed = access.app.hasher.hash_code(set.as_ref(), code).await;
                Ok(set.and_then(|set| set.without(&hashed)).map(|_| CorrectCode::Recovery(hashed)))
            }
            TypedCode::Neither => Ok(None),
        }
    }

    /// Redeems a correct code in the transaction of `writes`, so that only one of several
    /// concurrent requests with the code succeeds.
    pub(crate) async fn redeem(
        &self,
        access: &Access<Client>,
        row: &UserRow,
        right: CorrectCode<'_>,
        writes: Vec<Write>,
    ) -> Result<(), Error> {
        let hashed = match right {
            CorrectCode::Recovery(hashed) => hashed,
            CorrectCode::App(app, step) => return self.redeem_step(access, &row.user, (app, step), writes).await,
        };
        let (project, mut row) = (&access.project, row.clone());
        let epochs = (row.user.session_epoch, row.user.credential_epoch);
        optimistic!(MAX_ATTEMPTS, |round| {
            if round > 0 {
                row = access.app.store.user(&project.id, row.user.id).await?.ok_or_else(|| self.wrong.clone())?;
            }
            let used = used(access, &row.user, &hashed)?.filter(|user| (user.session_epoch, user.credential_epoch) == epochs);
            let mut user = used.ok_or_else(|| self.wrong.clone())?;
            let notice = notice::about_change(&access.app, project, place(access), &row.user, &mut user)?;
            let writes = writes.iter().cloned().chain(notice).collect();
            // The caller handles failures of the other writes.
            Ok(match access.app.store.change_account(&project.id, &row, &user, writes).await {
                Ok(Outcome::Done) => Ok(()),
                Ok(_) => return Err(Error::conflict()),
                Err(error) => Err(error.into()),
            })
        })?
    }

    async fn redeem_step(
        &self,
        access: &Access<Client>,
        user: &User,
        (app, step): (&Authenticator, u64),
        mut writes: Vec<Write>,
    ) -> Result<(), Error> {
        writes.push(user::use_totp_step(&access.project.id, user, app, step, access.app.clock.now())?);
        match access.app.store.transact(writes).await {
            Err(store::Error::Conflict(conflict)) if conflict.is_of(Label::TotpStep) && !conflict.is_of(Label::Code) => {
                Err(self.wrong.clone().into())
            }
            result => Ok(result?),
        }
    }
}

/// The user after a recovery code was used. `None` if the user never had the code or has already
/// used it.
fn used(access: &Access<Client>, user: &User, code: &HashedCode) -> Result<Option<User>, Error> {
    let (app, owner) = (&access.app, recovery::owner(&access.project.id, user.id));
    let Some(codes) = user.recovery_codes() else { return Ok(None) };
    let Some(left) = codes.redeem(&app.sealer, &app.entropy, &owner, code)? else { return Ok(None) };
    let mut user = user.clone();
    if let Some(totp) = &mut user.totp {
        totp.recovery = Some(left);
    }
    Ok(Some(user))
}
