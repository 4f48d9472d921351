//! Fetches the session of a tool whose sign-in was confirmed.
//!
//! The session begins when the tool fetches it, so its refresh token is stored nowhere in
//! plaintext. It belongs to the tool alone: the user can see and end it like any other session. If
//! the session that confirmed has ended, or the user's credentials have changed or the user was
//! restricted, the confirmation no longer counts.

use errors::Error;
use flows::context::Scope;
use flows::limits;
use model::code::Code;
use model::limit::Rule;
use model::session::cli::{CliSignIn, SessionOf, State, login_code};
use model::user::User;
use store::{Label, cli_sign_in, session, user};

use crate::cli::session::Signed;
use crate::sign_in::notice;
use crate::sign_in::tokens::NewSession;

/// The answer to a poll.
pub(crate) enum Polled {
    Waiting,
    Fetched(Box<NewSession>, Box<User>),
    Denied,
    Used,
    Expired,
}

/// Polls a sign-in, and fetches its session once it is confirmed.
pub(crate) async fn poll(scope: Scope<'_>, polling_code: &Code, sign_in: &CliSignIn) -> Result<Polled, Error> {
    match sign_in.state(scope.app.clock.now()) {
        State::Waiting => Ok(Polled::Waiting),
        State::Confirmed(by) => fetch(scope, polling_code, by).await,
        State::Denied => Ok(Polled::Denied),
        State::Used => Ok(Polled::Used),
        State::Expired => Ok(Polled::Expired),
    }
}

async fn fetch(Scope { app, project, place }: Scope<'_>, polling_code: &Code, by: SessionOf) -> Result<Polled, Error> {
    let signed = Signed::of(app, project, by).await?.filter(|signed| signed.check_unrestricted().is_ok());
    let Some(Signed { row, session: confirming }) = signed else { return Ok(Polled::Expired) };
    let started = NewSession::start(app, project, &row.user, place, Vec::new()).confirmed_by(&confirming);
    let mut writes = vec![
        cli_sign_in::spend(&project.id, &login_code(polling_code).digest()),
        user::at_epoch(&project.id, row.user.id, by.epoch),
        session::lives(project, row.user.id, by.session_id, app.clock.now()),
    ];
    writes.extend(started.writes(project)?);
    writes.extend(notice::write(app, project, &row.user, place).await?);
    match app.store.transact(writes).await {
        Ok(()) => Ok(Polled::Fetched(Box::new(started), Box::new(row.user))),
        Err(store::Error::Conflict(conflict)) if conflict.is_of(Label::Code) => Ok(Polled::Used),
        Err(store::Error::Conflict(_)) => Ok(Polled::Expired),
        Err(error) => Err(error.into()),
    }
}

/// Counts a poll: of a known code by the code, of an unknown one by the caller's IP address.
pub(crate) async fn count(Scope { app, project, place }: Scope<'_>, polling_code: &Code, is_known: bool) -> Result<(), store::Error> {
    if is_known {
        limits::by_secret(app, &project.id, Rule::CliPoll, &polling_code.text().to_owned().into()).await
    } else {
        limits::unknown_token(app, &project.id, place).await
    }
}
