//! The attempt that a sign-in stores, and the error that it returns, while it waits for the second
//! factor.

use errors::KnownError;
use flows::App;
use model::code::Code;
use model::project::Project;
use model::provider::tokens::NewTokens;
use model::session::Amr;
use model::sign_in::second_factor::{Attach, CodeSession, MfaAttempt};
use model::user::User;
use secrecy::ExposeSecret as _;
use store::{Write, code};

/// For a user with a second factor, returns the write that stores a sign-in attempt instead of a
/// session, and the error for the response. `None` for a user without a second factor.
pub(crate) fn required(
    app: &App,
    project: &Project,
    user: &User,
    is_new_user: bool,
    amr: Amr,
) -> Result<Option<(Write, KnownError)>, store::Error> {
    asked(app, project, user, || MfaAttempt::new(user, is_new_user, vec![amr], app.clock.now()))
}

/// The fields that a sign-in with a provider account adds to the sign-in attempt ([`MfaAttempt`]).
pub(crate) struct ProviderDetails {
    pub(crate) of_code: Option<CodeSession>,
    pub(crate) to_attach: Option<Attach>,
    pub(crate) new_tokens: Option<NewTokens>,
}

/// Like [`required`], for a sign-in with a provider account.
pub(crate) fn required_of_provider(
    app: &App,
    project: &Project,
    user: &User,
    is_new_user: bool,
    ProviderDetails { of_code, to_attach, new_tokens }: ProviderDetails,
) -> Result<Option<(Write, KnownError)>, store::Error> {
    asked(app, project, user, || {
        let attempt = MfaAttempt::new(user, is_new_user, vec![Amr::Fed], app.clock.now());
        MfaAttempt { of_code, to_attach, new_tokens, ..attempt }
    })
}

fn asked(
    app: &App,
    project: &Project,
    user: &User,
    attempt: impl FnOnce() -> MfaAttempt,
) -> Result<Option<(Write, KnownError)>, store::Error> {
    if user.totp.is_none() {
        return Ok(None);
    }
    let secret = app.entropy.code();
    let attempt_code = secret.expose_secret().to_owned();
    let attempt = attempt();
    let write = code::create_attempt(&project.id, &Code::new(secret), &attempt)?;
    let factors = factors(project, user, &attempt);
    Ok(Some((write, KnownError::MultiFactorAuthenticationRequired { attempt_code, factors })))
}

/// The types of second factors with which `mfa/sign-in` can complete the user's sign-in.
fn factors(project: &Project, user: &User, attempt: &MfaAttempt) -> Vec<&'static str> {
    let has_codes = user.recovery_codes().is_some_and(|codes| codes.left > 0);
    let has_passkey = project.config.passkeys.enabled && attempt.takes_passkey() && !user.passkeys.is_empty();
    let all = [("totp", true), ("recovery-code", has_codes), ("passkey", has_passkey)];
    all.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect()
}
