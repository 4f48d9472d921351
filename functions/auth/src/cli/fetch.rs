//! Fetches a tool's session after a user has confirmed the sign-in.
//!
//! The session begins when the tool fetches it, so the table never contains the session's refresh
//! token in plaintext. The session is separate from the confirming session, and the user can see
//! and end it like any other session. The confirmation is void if the confirming session has ended,
//! the user's credentials have changed or the user fails [`LiveSession::check_unrestricted`].

use errors::{Error, KnownError};
use flows::context::Scope;
use flows::limits;
use model::code::Code;
use model::limit::Rule;
use model::session::cli::{CliSignIn, SessionRef, State, login_code};
use model::user::User;
use secrecy::SecretString;
use store::{Label, cli_sign_in, session, user};

use crate::cli::session::LiveSession;
use crate::sign_in::notice;
use crate::sign_in::tokens::NewSession;

/// The outcome of a poll.
pub(crate) enum PollOutcome {
    Waiting,
    Fetched(Box<NewSession>, Box<User>),
    Denied,
    Used,
    Expired,
}

/// Polls a sign-in, and fetches its session once the sign-in is confirmed. Fails with
/// `INVALID_POLLING_CODE` if no sign-in has this code. Polls with a known code are counted per
/// code. Polls with unknown codes are counted per IP address of the caller.
pub(crate) async fn poll(scope: Scope<'_>, polling_code: &Code, sign_in: Option<&CliSignIn>) -> Result<PollOutcome, Error> {
    let Scope { app, project, place } = scope;
    let Some(sign_in) = sign_in else {
        limits::unknown_token(app, &project.id, place).await?;
        return Err(KnownError::InvalidPollingCode.into());
    };
    let secret = SecretString::from(polling_code.text().to_owned());
    let counted = limits::by_secret(app, &project.id, Rule::CliPoll, &secret);
    let state = sign_in.state(app.clock.now());
    if let State::Confirmed(by) = state {
        let ((), signed) = futures_util::try_join!(counted, LiveSession::find(app, project, by))?;
        return fetch(scope, polling_code, by, signed).await;
    }
    counted.await?;
    Ok(match state {
        State::Waiting => PollOutcome::Waiting,
        State::Denied => PollOutcome::Denied,
        State::Used => PollOutcome::Used,
        State::Confirmed(_) | State::Expired => PollOutcome::Expired,
    })
}

async fn fetch(
    Scope { app, project, place }: Scope<'_>,
    polling_code: &Code,
    by: SessionRef,
    signed: Option<LiveSession>,
) -> Result<PollOutcome, Error> {
    let signed = signed.filter(|signed| signed.check_unrestricted(project).is_ok());
    let Some(LiveSession { row, session: confirming }) = signed else { return Ok(PollOutcome::Expired) };
    let started = NewSession::start(app, project, &row.user, place, Vec::new()).confirmed_by(&confirming);
    let mut writes = vec![
        cli_sign_in::spend(&project.id, &login_code(polling_code).digest()),
        user::at_epoch(&project.id, row.user.id, by.epoch),
        session::lives(project, row.user.id, by.session_id, app.clock.now()),
    ];
    writes.extend(started.writes(project)?);
    writes.extend(notice::write(app, project, &row.user, place).await?);
    match app.store.transact(writes).await {
        Ok(()) => Ok(PollOutcome::Fetched(Box::new(started), Box::new(row.user))),
        Err(store::Error::Conflict(conflict)) if conflict.is_of(Label::Code) => Ok(PollOutcome::Used),
        Err(store::Error::Conflict(_)) => Ok(PollOutcome::Expired),
        Err(error) => Err(error.into()),
    }
}
