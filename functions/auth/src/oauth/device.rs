//! The device flow (RFC 8628), in which the device code is the polling code of a command-line tool.

use errors::{Error, KnownError};
use flows::context::Scope;
use jiff::SignedDuration;
use model::code::Code;
use model::session::cli::{CliSignIn, login_code};
use store::{Key, cli_sign_in};
use wire::id::ProjectId;

use crate::cli::fetch::{PollOutcome, poll};
use crate::oauth::tokens::Tokens;
use crate::sign_in::required_teams;

/// The number of seconds that a device waits between polls.
pub(crate) const INTERVAL_SECONDS: u32 = 5;
/// The minimum interval between polls. A device that polls sooner is told to slow down. The minimum
/// is one second shorter than the announced interval, because the network may delay one poll more
/// than the next.
const MIN_INTERVAL: SignedDuration = SignedDuration::from_secs(4);

/// A poll for the tokens of a device.
pub(crate) struct Poll(Code);

impl Poll {
    pub(crate) fn parse(device_code: &str) -> Result<Self, KnownError> {
        Code::parse(device_code).map(Self).map_err(|_| KnownError::InvalidPollingCode)
    }

    /// The key of the sign-in's item.
    pub(crate) fn key(&self, project: &ProjectId) -> Key {
        cli_sign_in::sign_in_key(project, &login_code(&self.0).digest())
    }

    /// The tokens, if a user has confirmed the sign-in.
    pub(crate) async fn exchange(&self, scope: Scope<'_>, stored: Option<CliSignIn>) -> Result<Tokens, Error> {
        let Scope { app, project, .. } = scope;
        match poll(scope, &self.0, stored.as_ref()).await? {
            PollOutcome::Fetched(session, mut user) => {
                required_teams::renew(app, project, &mut user).await?;
                session.tokens(app, project, &user).await
            }
            PollOutcome::Used => Err(KnownError::InvalidPollingCode.into()),
            PollOutcome::Expired => Err(KnownError::DeviceCodeExpired.into()),
            PollOutcome::Denied => Err(KnownError::DeviceDenied.into()),
            PollOutcome::Waiting => {
                let now = app.clock.now();
                let before = now.checked_sub(MIN_INTERVAL).unwrap_or(now);
                let is_slow_enough = app.store.note_poll(&project.id, &login_code(&self.0).digest(), before, now).await?;
                Err(if is_slow_enough { KnownError::AuthorizationPending } else { KnownError::SlowDown }.into())
            }
        }
    }
}
