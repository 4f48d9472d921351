//! Changes of a user that an operation makes: decided on what the user is, written on the condition that it still is, and decided again
//! when it is not.

use std::time::Duration;

use errors::{Error, KnownError};
use model::code::Rejected;
use model::place::Place;
use model::project::ProjectConfig;
use model::sign_up::rule::{Attempt, AuthMethod, judge};
use model::team::Team;
use model::user::User;
use model::user::ownership::Author;
use store::limit::Window;
use store::user::UserRow;
use store::user::account::Outcome;
use store::{Contention as _, Label, Store, Write, optimistic};
use tokio::time::Instant;
use wire::id::{ProjectId, UserId};
use wire::level::Level;

use crate::app::App;
use crate::context::{Context, ROUNDS};
use crate::email::notice;
use crate::limits::ended_codes;

/// How long a deletion goes on; a Lambda has ten seconds.
const BUDGET: Duration = Duration::from_secs(6);

/// What is done with a change that is written: whoever makes it says what else belongs to the transaction.
#[derive(Debug, Default)]
pub struct With(pub Vec<Write>);

/// The team that a user has selected.
pub async fn selected_team(table: &Store, project: &ProjectId, user: &User) -> Result<Option<Team>, store::Error> {
    match user.selected_team_id {
        Some(team) => Ok(table.team(project, team).await?.map(|row| row.team)),
        None => Ok(None),
    }
}

/// The user of an id, at first look: read already when it is the current one.
pub async fn read(context: &Context, id: UserId) -> Result<Option<UserRow>, Error> {
    match context.user.as_ref().filter(|user| user.row.user.id == id) {
        Some(own) => Ok(Some(own.row.clone())),
        None => Ok(context.prefetched.user(&context.project.id, id).await?),
    }
}

/// Changes a user that is read already: `change` is applied to what was read, and to a fresh copy until nobody interferes. The user as it is afterwards.
///
/// `missing` is the error when there is no such user any more; an address of somebody else is [`KnownError::UserEmailAlreadyExists`].
pub async fn change_read(
    app: &App,
    project: &ProjectId,
    mut row: UserRow,
    missing: KnownError,
    change: impl Fn(&mut User) -> Result<With, Error>,
) -> Result<UserRow, Error> {
    optimistic!(ROUNDS, |round| {
        if round > 0 {
            row = app.store.user(project, row.user.id).await?.ok_or_else(|| missing.clone())?;
        }
        let mut user = row.user.clone();
        let With(others) = change(&mut user)?;
        // What fails beside the user is for the caller to tell.
        Ok(match app.store.change_account(project, &row, &user, others).await {
            Ok(Outcome::Done) => Ok(UserRow { user, version: row.version + 1, last_active_at: row.last_active_at }),
            Ok(Outcome::Changed) => return Err(Error::conflict()),
            Ok(taken) => Err(taken_error(taken).into()),
            Err(error) => Err(error.into()),
        })
    })?
}

/// [`change_read`] by the caller of `context`: when the user has to be read again, the caller must still be who it was. The owner hears of
/// what changes of how the user signs in. What ends codes for an address that nobody has proved is counted.
pub async fn change_as(
    context: &Context,
    row: UserRow,
    missing: KnownError,
    change: impl Fn(&mut User) -> Result<With, Error>,
) -> Result<UserRow, Error> {
    let checked = |user: &mut User| {
        context.check_again(user)?;
        let before = user.clone();
        let mut with = change(user)?;
        with.0.extend(notice::of_change(&context.app, &context.project, place(context), &before, user)?);
        if context.author() == Author::User && user.credential_epoch != before.credential_epoch {
            with.0.extend(ended_codes(&context.app, &before).map(|counter| Window::alone(&counter).count(&context.project.id)));
        }
        Ok(with)
    };
    change_read(&context.app, &context.project.id, row, missing, checked).await
}

/// Where a change is made, if that says anything to its user: a server is at its own place.
fn place(context: &Context) -> Option<&Place> {
    Some(&context.place).filter(|_| context.level < Level::Server)
}

/// Changes a user by verifying an address of it, which the change may newly sign in with: an unverified claim of another user gives way
/// to it where it has to.
pub async fn verify_read(
    context: &Context,
    mut row: UserRow,
    missing: KnownError,
    change: impl Fn(&mut User) -> Result<With, Error>,
) -> Result<(), Error> {
    let project = &context.project.id;
    optimistic!(ROUNDS, |round| {
        if round > 0 {
            row = context.app.store.user(project, row.user.id).await?.ok_or_else(|| missing.clone())?;
        }
        let mut user = row.user.clone();
        let With(mut others) = change(&mut user)?;
        others.extend(notice::of_change(&context.app, &context.project, place(context), &row.user, &mut user)?);
        // What fails beside the user is for the caller to tell.
        Ok(match take_addresses(&context.app.store, project, &row, &user, others).await {
            Ok(Outcome::Done) => Ok(()),
            Ok(Outcome::Changed) => return Err(Error::conflict()),
            Ok(Outcome::EmailTaken(email)) => Err(KnownError::ContactChannelAlreadyUsedForAuthBySomeoneElse {
                r#type: "email",
                contact_channel_value: Some(email.to_string()),
                would_work_if_email_was_verified: false,
            }
            .into()),
            Ok(taken @ Outcome::AccountTaken(_)) => Err(taken_error(taken).into()),
            Err(error) => Err(error.into()),
        })
    })?
}

/// Changes an account; an unverified claim of another user on its address gives way.
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
    // Nobody's: it is free by now.
    let Some(mut holder) = holder else { return Ok(Outcome::Changed) };
    if !holder.user.give_way(email) {
        return Ok(outcome);
    }
    table.take_email(project, row, user, email, &holder, others).await
}

/// Lets a new user sign up as the project's rules say: as it is, restricted, or not at all. `user` has its first address.
pub fn admit(config: &ProjectConfig, user: &mut User, method: AuthMethod<'_>, place: &Place) -> Result<(), KnownError> {
    let email = user.primary().map(|channel| channel.value.clone());
    let country_code = place.country_code.as_deref();
    let attempt = Attempt { email: email.as_ref(), method, country_code, risk: user.risk_scores.sign_up };
    let verdict = judge(&config.sign_up_rules, config.sign_up_rules_default_action, &attempt);
    verdict.apply(user).map_err(|message| KnownError::SignUpRejected { message })
}

/// Creates a user, with `others` in the same transaction.
pub async fn create(app: &App, project: &ProjectId, user: &User, With(others): With) -> Result<(), Error> {
    match app.store.create_account(project, user, others).await? {
        Outcome::Done => Ok(()),
        taken => Err(taken_error(taken).into()),
    }
}

fn taken_error(outcome: Outcome) -> KnownError {
    match outcome {
        Outcome::EmailTaken(email) => {
            KnownError::UserEmailAlreadyExists { email: email.to_string(), would_work_if_email_was_verified: false }
        }
        Outcome::AccountTaken(_) => KnownError::OauthProviderAccountIdAlreadyUsedForSignIn,
        Outcome::Done | Outcome::Changed => KnownError::ServiceUnavailable,
    }
}

/// The result of what redeems a code: whoever loses against another redemption is told so.
pub fn redeemed<T>(result: Result<T, Error>) -> Result<T, Error> {
    match result {
        Err(Error::Store(store::Error::Conflict(conflict))) if conflict.is_of(Label::Code) => Err(Rejected::AlreadyUsed.into()),
        result => result,
    }
}

/// Deletes a user; `missing` when there is none. A user of very many teams loses them first, and goes last: sending the request again
/// goes on where one was interrupted.
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
