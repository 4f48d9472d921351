//! Sign-ins of command-line tools, which a signed-in user confirms in a browser.
//!
//! The tool gets two codes: it keeps the polling code, and displays the login code as part of a
//! link. The login code is derived from the polling code, so both codes lead to the same item, but
//! someone who sees the link cannot fetch the session. With the device grant (RFC 8628), the tool
//! also displays a [`UserCode`], which can be used instead of the login code.

use crypto::digest::{Digest, derived_code};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use wire::clock::after;
use wire::entropy::TYPED_LETTERS;
use wire::id::{SessionId, UserId};
use wire::typed::typed;

use crate::code::Code;
use crate::place::Place;
use crate::session::Session;
use crate::user::User;

/// How long a sign-in waits for confirmation, unless the tool requests a shorter time. Longer times
/// are reduced to this time.
pub const DEFAULT_LIFE: SignedDuration = SignedDuration::from_mins(15);
/// The minimum time that a tool can request. Shorter times are raised to this minimum.
pub const MIN_LIFE: SignedDuration = SignedDuration::from_secs(30);

/// The sign-in of a command-line tool, stored under the digest of its login code.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CliSignIn {
    /// When the tool started the sign-in.
    pub created_at: Timestamp,
    /// When the sign-in expires, whether it was confirmed or not.
    pub expires_at: Timestamp,
    /// Where the tool runs, as shown to the user who confirms the sign-in.
    pub place: Place,
    /// The session of the tool's anonymous user. Absent if the tool does not have an anonymous
    /// user, after a decision, or once a browser has taken over the anonymous user.
    pub anonymous: Option<SessionRef>,
    /// The decision; absent until a user has decided.
    pub decision: Option<Decision>,
    /// Whether the tool has fetched its session.
    pub used: bool,
}

/// A session and its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRef {
    /// The user.
    pub user_id: UserId,
    /// The session.
    pub session_id: SessionId,
    /// The user's `credential_epoch`. A change of credentials invalidates an earlier decision.
    pub epoch: u64,
}

/// The decision about a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The user of this session confirmed the sign-in.
    Confirmed(SessionRef),
    /// Someone with the login code or the user code refused the sign-in.
    Denied,
}

/// The state of a sign-in for the tool that polls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nobody has decided yet.
    Waiting,
    /// The user of this session confirmed the sign-in.
    Confirmed(SessionRef),
    /// Someone refused.
    Denied,
    /// The tool has already fetched its session.
    Used,
    /// The sign-in has expired.
    Expired,
}

impl SessionRef {
    /// The session of `user`, in the user's current credential epoch.
    pub fn of(session: &Session, user: &User) -> Self {
        Self { user_id: user.id, session_id: session.id, epoch: user.credential_epoch }
    }
}

impl CliSignIn {
    /// A sign-in that begins at `now` and waits for `life`, limited to the permitted times, or for
    /// [`DEFAULT_LIFE`] if `life` is `None`.
    pub fn new(life: Option<SignedDuration>, place: Place, anonymous: Option<SessionRef>, now: Timestamp) -> Self {
        let life = life.unwrap_or(DEFAULT_LIFE).clamp(MIN_LIFE, DEFAULT_LIFE);
        Self { created_at: now, expires_at: after(now, life), place, anonymous, decision: None, used: false }
    }

    /// The state at `now`. Once the session of a sign-in has been fetched, the state of the sign-in
    /// remains [`State::Used`], even after the sign-in expires.
    pub fn state(&self, now: Timestamp) -> State {
        match self.decision {
            _ if self.used => State::Used,
            _ if self.expires_at <= now => State::Expired,
            None => State::Waiting,
            Some(Decision::Confirmed(session)) => State::Confirmed(session),
            Some(Decision::Denied) => State::Denied,
        }
    }
}

impl Session {
    /// Turns `started` into the session of a tool whose sign-in was confirmed in this session. The
    /// tool's session has the authentication methods of this session and ends no later than this
    /// session. If this session is an impersonation, the tool's session is an impersonation too.
    pub fn for_tool(&self, started: Self) -> Self {
        Self { amr: self.amr.clone(), ..started.within(&self.limits()) }
    }
}

/// A code that people type instead of opening a link with the login code (RFC 8628 §6.1).
pub struct UserCode(String);

impl UserCode {
    /// A new code from [`Entropy::typed_code`](wire::entropy::Entropy::typed_code).
    pub fn new(code: String) -> Self {
        Self(code)
    }

    /// Parses a typed code; case, spaces and dashes are ignored ([`typed`]). `None` if the
    /// remaining text is not eight of [`TYPED_LETTERS`].
    pub fn parse(text: &str) -> Option<Self> {
        let code = typed(text).to_ascii_uppercase();
        (code.len() == 8 && code.bytes().all(|byte| TYPED_LETTERS.contains(&byte))).then_some(Self(code))
    }

    /// The code as displayed, such as `WDJB-MJHT`.
    pub fn shown(&self) -> String {
        format!("{}-{}", &self.0[..4], &self.0[4..])
    }

    /// The digest of the code, which is the code's key in the table.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.0)
    }
}

/// The login code derived from a polling code.
pub fn login_code(polling_code: &Code) -> Code {
    Code::new(derived_code("login code", polling_code.secret()))
}
