//! `POST /api/v1/auth/otp/sign-in`: redeems a sign-in code. If the code's email address has no
//! account, an account is created, or the caller's anonymous user becomes an ordinary user. The
//! first person who proves an unverified address becomes the owner of its account
//! ([`ownership`](model::user::ownership)).
//!
//! The code is redeemed in the transaction that begins the session or, if a second factor is
//! required, in the transaction that stores the pending sign-in. Only one of several concurrent
//! requests can therefore continue the sign-in. A request that fails counts as an attempt to use
//! the code, but does not redeem it.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem};
use api::http::{Admission, Json, Route};
use api::product::code_access::{CodeAccess, SignInCode};
use api::product::{Access, Client, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{CODE_ERRORS, Error, ErrorCode, KnownError};
use flows::App;
use flows::accounts::{admit, redeemed};
use flows::new_owner::hand_over;
use model::code::{Code, CodeRefusal, Purpose, StoredCode};
use model::limit::Limit;
use model::session::Amr;
use model::sign_up::rule::AuthMethod;
use model::trail::Event;
use model::user::User;
use model::user::device::Device;
use model::user::ownership::Proof;
use store::user::account::Outcome;
use store::user::{self, EmailClaim, UserRow};
use store::{Conflict, Write, code, keys, optimistic};
use utoipa::ToSchema;
use wire::id::ProjectId;

use crate::sign_in::new_account::{account_writes, new_user};
use crate::sign_in::otp::may_sign_in;
use crate::sign_in::tokens::{NewSession, SignInOrUpTokens};
use crate::sign_in::{notice, remembered, required_teams, second_factor};

pub const ROUTE: Route = Route::post("auth-otp-sign-in", "/api/v1/auth/otp/sign-in")
    .summary("Signs in with a code from an email")
    .limit(Limit::Code)
    .admits(Admission::Owing)
    .table(&[BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem])
    .errors(CODE_ERRORS)
    .errors(&[
        ErrorCode::MagicLinkNotEnabled,
        ErrorCode::SignUpNotEnabled,
        ErrorCode::SignUpRejected,
        ErrorCode::MultiFactorAuthenticationRequired,
    ]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct SignIn {
    /// The code from the link, or the six characters from the email followed by the nonce.
    code: Code,
}

pub async fn handle(
    State(app): State<App>,
    CodeAccess { access, code }: CodeAccess<SignInCode>,
    Input { body, .. }: Input<SignIn>,
) -> Result<Json<SignInOrUpTokens>, Error> {
    let attempt = app.store.try_code(&access.project.id, Purpose::SignIn, &body.code, app.clock.now());
    let checked = code.prove(attempt, async |stored| Account::read(&access, &stored).await).await;
    // The caller who requests a code gets all of it except the characters that users type from the
    // email. A wrong guess at the missing characters is recorded as a failed sign-in of the
    // account.
    if let (Err(Error::Known(KnownError::VerificationCodeNotFound)), Some(guessed)) = (&checked, code.unproved()) {
        app.store.record_failure(guessed.user_id, Event::SignInFailed).await?;
    }
    let (stored, mut account) = checked?;
    if !access.project.config.magic_link_enabled {
        return Err(KnownError::MagicLinkNotEnabled.into());
    }
    optimistic!(|attempt| {
        if attempt > 0 {
            account = Account::read(&access, &stored).await?;
        }
        redeemed(sign_in(&access, &body.code, &stored, &account).await).map(Json)
    })
}

/// The claim and the account of a code's email address. `None` if no account has the address.
struct Account {
    claim: Option<EmailClaim>,
    row: Option<UserRow>,
    /// The remembered device that replaces the user's second factor, if there is one.
    device: Option<Device>,
}

impl Account {
    /// Reads the claim and the account in one round trip. A second round trip is needed only if the
    /// address has moved to another account since the code was sent.
    async fn read(access: &Access<Client>, stored: &StoredCode) -> Result<Self, store::Error> {
        let (app, project, token) = (&access.app, &access.project.id, access.device.as_ref());
        let claim_key = user::email_claim_key(project, &stored.email);
        let user_key = stored.user_id.map(|id| keys::user_key(project, id));
        let device_key = stored.user_id.and_then(|id| remembered::key(project, id, token));
        let mut items = app.store.get_many([Some(claim_key.clone()), user_key.clone(), device_key].into_iter().flatten()).await?;
        let claim: Option<EmailClaim> = items.entity(&claim_key)?;
        let sent_to = user_key.and_then(|key| items.take(&key)).map(UserRow::of).transpose()?;
        let row = match &claim {
            Some(claim) if stored.user_id == Some(claim.user_id) => sent_to,
            Some(claim) => app.store.user(project, claim.user_id).await?,
            None => None,
        };
        let device = match &row {
            Some(row) if stored.user_id == Some(row.user.id) => remembered::device(app, &access.project, &row.user, (&items, token))?,
            _ => None,
        };
        Ok(Self { claim, row, device })
    }
}

async fn sign_in(access: &Access<Client>, code: &Code, stored: &StoredCode, account: &Account) -> Result<SignInOrUpTokens, Error> {
    let project = &access.project.id;
    // A code that was sent to an account must not create a new account after the account or its
    // address was removed.
    if account.claim.is_none() && stored.user_id.is_some() {
        return Err(CodeRefusal::NotFound.into());
    }
    may_sign_in(&access.project.config, account.claim.as_ref())?;
    let is_new_user = account.claim.is_none();
    let mut writes = vec![code::redeem(project, Purpose::SignIn, code)];
    let (mut user, before) = match &account.claim {
        None => (sign_up(access, stored, &mut writes).await?, None),
        Some(_) => {
            let row = account.row.as_ref().ok_or(KnownError::UserNotFound)?;
            (proved(access, stored, row, &mut writes).await?, Some(row))
        }
    };
    // If the account has a new owner, `proved` has removed the old owner's second factor, so no
    // remembered device is needed.
    let device = account.device.clone().filter(|_| user.has_second_factor());
    if device.is_none()
        && let Some((attempt, required)) = second_factor::required(&access.app, &access.project, &user, is_new_user, Amr::Otp)?
    {
        writes.push(attempt);
        write(&access.app, project, before, &user, writes).await?;
        return Err(required.into());
    }
    let session = NewSession::start(&access.app, &access.project, &user, &access.place, vec![Amr::Otp]).on(device);
    writes.extend(session.writes(&access.project)?);
    let users = (before.map(|row| &row.user), &user);
    writes.extend(notice::unless_new_owner(&access.app, &access.project, users, &access.place).await?);
    write(&access.app, project, before, &user, writes).await?;
    let was_anonymous = access.user.as_ref().is_some_and(|current| current.row.user.is_anonymous && current.row.user.id == user.id);
    if was_anonymous {
        access.app.store.name_personal_team(project, &user).await;
    }
    required_teams::renew(&access.app, &access.project, &mut user).await?;
    Ok(SignInOrUpTokens { signed_in: session.signed_in(&access.app, &access.project, &user).await?, is_new_user })
}

/// The user after the code has proved the user's email address.
async fn proved(access: &Access<Client>, stored: &StoredCode, row: &UserRow, writes: &mut Vec<Write>) -> Result<User, Error> {
    // A code that was sent to one account is not valid for another account.
    let is_for = stored.user_id.is_none_or(|user| user == row.user.id);
    if !is_for || !stored.is_of_epoch(&row.user) {
        return Err(CodeRefusal::NotFound.into());
    }
    let mut user = row.user.clone();
    let prover = access.prover(&user);
    let proof = user.prove(&stored.email, prover, access.app.entropy.uuid().into()).ok_or(CodeRefusal::NotFound)?;
    if user.otp_refused {
        return Err(KnownError::MagicLinkNotEnabled.into());
    }
    user.use_email_codes();
    user.forget_wrong_passwords();
    user.note_verified(&row.user, access.app.clock.now());
    if proof == Proof::First {
        writes.extend(hand_over(&access.app, &access.project, row, &mut user).await?);
    }
    Ok(user)
}

/// Writes a sign-in, provided that the account has not changed since it was read.
async fn write(app: &App, project: &ProjectId, before: Option<&UserRow>, user: &User, mut writes: Vec<Write>) -> Result<(), Error> {
    let Some(row) = before.filter(|row| row.user != *user) else {
        writes.extend(before.map(|row| user::unchanged(project, user.id, row.version)));
        return Ok(app.store.transact(writes).await?);
    };
    match app.store.change_account(project, row, user, writes).await? {
        Outcome::Done => Ok(()),
        // The error is the same as for a changed version, so that the caller reads the account
        // again.
        _ => Err(store::Error::Conflict(Conflict::default()).into()),
    }
}

async fn sign_up(access: &Access<Client>, stored: &StoredCode, writes: &mut Vec<Write>) -> Result<User, Error> {
    let (mut user, version) = new_user(access, access.app.clock.now());
    user.otp_enabled = true;
    user.add_primary_email(&access.app.entropy, stored.email.clone(), true);
    admit(&access.app, &access.project, &mut user, AuthMethod::Otp, &access.place).await?;
    writes.extend(account_writes(access, &mut user, version)?);
    Ok(user)
}
