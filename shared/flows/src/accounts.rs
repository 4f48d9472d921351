//! Changes that operations make to users. Each change is based on the user's current state, and
//! written only if this state has not changed in the meantime. If the state has changed, the change
//! is computed again from the new state.

use std::time::Duration;

use errors::{Error, KnownError};
use model::code::CodeRefusal;
use model::place::Place;
use model::project::Project;
use model::sign_up::rule::{Attempt, AuthMethod};
use model::team::Team;
use model::user::User;
use model::user::ownership::Author;
use model::user::passkey;
use store::limit::Window;
use store::user::UserRow;
use store::user::account::{Outcome, TakenAddress};
use store::{Contention as _, Label, Store, Write, optimistic, record, session};
use tokio::time::Instant;
use wire::id::{ProjectId, UserId};
use wire::level::Level;

use crate::app::App;
use crate::context::Context;
use crate::email::notice;
use crate::limits::ended_codes;

/// The time that one request may spend on a deletion; a Lambda function has ten seconds.
const BUDGET: Duration = Duration::from_secs(6);

/// Writes to be made in the same transaction as a change.
#[derive(Debug, Default)]
pub struct ExtraWrites(pub Vec<Write>);

/// The team that a user has selected; `None` if no team is selected or the team no longer exists.
pub async fn selected_team(table: &Store, project: &ProjectId, user: &User) -> Result<Option<Team>, store::Error> {
    match user.selected_team_id {
        Some(team) => Ok(table.team(project, team).await?.map(|row| row.team)),
        None => Ok(None),
    }
}

/// Reads the user with this id; `None` if the user does not exist. The current user is not read
/// again: it was read with the access token.
pub async fn read(context: &Context, id: UserId) -> Result<Option<UserRow>, Error> {
    match context.user.as_ref().filter(|user| user.row.user.id == id) {
        Some(own) => Ok(Some(own.row.clone())),
        None => Ok(context.prefetched.user(&context.project.id, id).await?),
    }
}

/// Changes a user who was already read: applies `change` to the state that was read and, after a
/// conflict with another write, to the state that is read again. Returns the changed user.
///
/// `missing` is the error if the user no longer exists. If another user already has something that
/// the change claims, the error is [`KnownError::UserEmailAlreadyExists`] for an email address,
/// [`KnownError::OauthProviderAccountIdAlreadyUsedForSignIn`] for a provider account, and
/// [`KnownError::PasskeyRegistrationFailed`] for a passkey.
pub async fn change_read(
    app: &App,
    project: &ProjectId,
    mut row: UserRow,
    missing: KnownError,
    change: impl Fn(&mut User) -> Result<ExtraWrites, Error>,
) -> Result<UserRow, Error> {
    optimistic!(|attempt| {
        if attempt > 0 {
            row = app.store.user(project, row.user.id).await?.ok_or_else(|| missing.clone())?;
        }
        let mut user = row.user.clone();
        let ExtraWrites(others) = change(&mut user)?;
        // The calling function handles conflicts of the additional writes.
        Ok(match app.store.change_account(project, &row, &user, others).await {
            Ok(Outcome::Done) => Ok(UserRow { user, version: row.version + 1, last_active_at: row.last_active_at }),
            Ok(Outcome::Changed) => return Err(Error::conflict()),
            Ok(taken) => Err(taken_error(taken).into()),
            Err(error) => Err(error.into()),
        })
    })?
}

/// Like [`change_read`], on behalf of the caller of `context`. Each attempt checks the caller's
/// access again. The owner is notified of changes to how the user signs in. The session that sets
/// up the user's first authenticator app counts as having proved that app. The user's other
/// sessions then end if the user needs two factors in this project. A client's change that
/// invalidates codes for an unverified email address counts towards a rate limit.
pub async fn change_as(
    context: &Context,
    row: UserRow,
    missing: KnownError,
    change: impl Fn(&mut User) -> Result<ExtraWrites, Error>,
) -> Result<UserRow, Error> {
    let checked = |user: &mut User| {
        context.check_again(user)?;
        let before = user.clone();
        let mut with = change(user)?;
        let current = context.user.as_ref().filter(|current| current.row.user.id == user.id);
        let session = current.map(|current| &current.session);
        user.end_sessions_of_one_factor(&before, &context.project.config, session.map(|session| session.id));
        if let Some(session) = session.filter(|session| session.proved_one_factor() && user.gained_app(&before)) {
            with.0.push(session::gain_factor(&context.project.id, session)?);
        }
        with.0.extend(notice::about_change(&context.app, &context.project, place(context), &before, user)?);
        if context.author() == Author::User && user.credential_epoch != before.credential_epoch {
            with.0.extend(ended_codes(&context.app, &before).map(|counter| Window::alone(&counter).count(&context.project.id)));
        }
        Ok(with)
    };
    change_read(&context.app, &context.project.id, row, missing, checked).await
}

/// The place to name in the notice of a change; `None` if a server makes the change, because a
/// server's place means nothing to the user.
pub fn place(context: &Context) -> Option<&Place> {
    Some(&context.place).filter(|_| context.level < Level::Server)
}

/// Applies a change that verifies one of a user's email addresses, and may let the user sign in
/// with it. Takes over another user's claim to the address if that user has not verified the
/// address and must give way.
pub async fn verify_read(
    context: &Context,
    mut row: UserRow,
    missing: KnownError,
    change: impl Fn(&mut User) -> Result<ExtraWrites, Error>,
) -> Result<(), Error> {
    let project = &context.project.id;
    optimistic!(|attempt| {
        if attempt > 0 {
            row = context.app.store.user(project, row.user.id).await?.ok_or_else(|| missing.clone())?;
        }
        let mut user = row.user.clone();
        let ExtraWrites(mut others) = change(&mut user)?;
        others.extend(notice::about_change(&context.app, &context.project, place(context), &row.user, &mut user)?);
        // The calling function handles conflicts of the additional writes.
        Ok(match take_addresses(&context.app.store, project, &row, &user, others).await {
            Ok(Outcome::Done) => Ok(()),
            Ok(Outcome::Changed) => return Err(Error::conflict()),
            Ok(Outcome::EmailTaken(email)) => Err(KnownError::ContactChannelAlreadyUsedForAuthBySomeoneElse {
                r#type: "email",
                contact_channel_value: Some(email.to_string()),
                would_work_if_email_was_verified: false,
            }
            .into()),
            Ok(taken @ (Outcome::AccountTaken(_) | Outcome::PasskeyTaken(_))) => Err(taken_error(taken).into()),
            Err(error) => Err(error.into()),
        })
    })?
}

/// Changes an account. If [`User::give_way`] permits it, the account takes over another user's
/// claim to one of the account's email addresses.
async fn take_addresses(
    table: &Store,
    project: &ProjectId,
    row: &UserRow,
    user: &User,
    others: Vec<Write>,
) -> Result<Outcome, store::Error> {
    let outcome = table.change_account(project, row, user, others.clone()).await?;
    let Outcome::EmailTaken(email) = &outcome else { return Ok(outcome) };
    let holder = match table.email_claim(project, email).await? {
        Some(claim) => table.user(project, claim.user_id).await?,
        None => None,
    };
    // After the write failed, the claim was released, or the user with the claim was deleted.
    let Some(mut holder) = holder else { return Ok(Outcome::Changed) };
    if !holder.user.give_way(email) {
        return Ok(outcome);
    }
    table.take_email(project, row, user, TakenAddress { email, holder: &holder }, others).await
}

/// Applies the project's sign-up rules, which admit, restrict or reject a new user, and records the
/// country of the sign-up. `user` must already have the first email address, if there is one.
pub async fn admit(app: &App, project: &Project, user: &mut User, method: AuthMethod<'_>, place: &Place) -> Result<(), KnownError> {
    let email = user.primary().map(|channel| channel.value.clone());
    let country_code = place.country_code.as_deref();
    let attempt = Attempt { email: email.as_ref(), method, country_code, risk: user.risk_scores.sign_up };
    let verdict = app.sign_up_rules.judge(project, &attempt).await?;
    record::matched(verdict.matched());
    verdict.apply(user).map_err(|rejected| {
        record::rejected();
        KnownError::SignUpRejected { message: rejected.to_string() }
    })?;
    // An anonymous user who signs up keeps a country that is already set.
    user.country_code = user.country_code.take().or_else(|| place.country_code.clone());
    Ok(())
}

/// Creates a user, and makes the additional writes in the same transaction.
pub async fn create(app: &App, project: &ProjectId, user: &User, ExtraWrites(others): ExtraWrites) -> Result<(), Error> {
    match app.store.create_account(project, user, others).await? {
        Outcome::Done => Ok(()),
        taken => Err(taken_error(taken).into()),
    }
}

/// The error for a change that fails because another user already has the address, account or
/// passkey that the change would claim.
pub fn taken_error(outcome: Outcome) -> KnownError {
    match outcome {
        Outcome::EmailTaken(email) => {
            KnownError::UserEmailAlreadyExists { email: email.to_string(), would_work_if_email_was_verified: false }
        }
        Outcome::AccountTaken(_) => KnownError::OauthProviderAccountIdAlreadyUsedForSignIn,
        Outcome::PasskeyTaken(_) => KnownError::PasskeyRegistrationFailed { message: passkey::Refusal::Duplicate.to_string() },
        Outcome::Done | Outcome::Changed => KnownError::ServiceUnavailable,
    }
}

/// Turns a conflict over a code into the error for used codes.
pub fn redeemed<T>(result: Result<T, Error>) -> Result<T, Error> {
    match result {
        Err(Error::Store(store::Error::Conflict(conflict))) if conflict.is_of(Label::Code) => Err(CodeRefusal::AlreadyUsed.into()),
        result => result,
    }
}

/// Deletes a user; `missing` is the error for a user who does not exist. If there are very many
/// memberships, they are deleted first, and the user last. If a request runs out of time, it fails
/// with `SERVICE_UNAVAILABLE`; repeating the request continues the deletion.
pub async fn delete(app: &App, project: &ProjectId, id: UserId, missing: KnownError) -> Result<(), Error> {
    let end = Instant::now() + BUDGET;
    while Instant::now() < end {
        let account = app.store.account(project, id).await?.ok_or_else(|| missing.clone())?;
        if let Outcome::Done = app.store.delete_account(project, &account, app.clock.now()).await? {
            return Ok(());
        }
    }
    Err(KnownError::ServiceUnavailable.into())
}
