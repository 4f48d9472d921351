//! Access with a one-time code: the code's item is read while the access is proved.
//!
//! An attempt at a code must be counted before the code is checked, and only the checked code says
//! whose account it is for. One after the other, proving the access, trying the code, reading the
//! account and writing would take four round trips. So the code in the body is already read while
//! the access is proved, and its account while the attempt is counted. These early reads decide
//! nothing, except that an invitation whose nonce is unknown does not exist.

use std::marker::PhantomData;

use axum::extract::FromRequestParts;
use deserr::Deserr;
use errors::Error;
use flows::App;
use http::request::Parts;
use model::code::{Code, Purpose, Rejected, StoredCode};
use model::limit::{Limit, Subject};
use model::sign_in::second_factor::MfaAttempt;
use model::team::invitation::Invitation;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::code;
use store::team::invitation;
use store::user::UserRow;
use utoipa::ToSchema;
use wire::id::{ProjectId, UserId};

use crate::http::describe::{Describe, Description};
use crate::http::{Route, TableAction};
use crate::product::access::{Access, Client};
use crate::product::header_family::header;
use crate::product::input::ParsedBody;

/// The body of a request that contains only a code.
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct CodeBody {
    /// For a link, the value of its query parameter `code`; for a typed code, its six characters
    /// followed by the nonce.
    pub code: Code,
}

/// Whether a code would be accepted.
#[derive(Serialize, ToSchema)]
pub struct CheckedCode {
    /// Whether the code would be accepted; most operations respond with an error instead of
    /// `false`.
    pub is_code_valid: bool,
}

/// A kind of code, at the type level.
pub trait CodeKind: Send + Sync + 'static {
    /// The entity that the table stores for such a code.
    type Stored: DeserializeOwned + Send + std::fmt::Debug;
    /// The name of the kind in the keys of the table.
    fn name() -> &'static str;
}

/// A kind of emailed code that is stored as a [`StoredCode`], unlike that of an invitation.
pub trait MailedCode: CodeKind<Stored = StoredCode> {
    /// The purpose of the code.
    const PURPOSE: Purpose;
}

/// Codes of [`Purpose::SignIn`].
#[derive(Debug)]
pub struct SignInCode;
/// Codes of [`Purpose::VerifyEmail`].
#[derive(Debug)]
pub struct VerificationCode;
/// Codes of [`Purpose::ResetPassword`].
#[derive(Debug)]
pub struct ResetCode;
/// Codes of invitations to teams.
#[derive(Debug)]
pub struct InvitationCode;
/// Codes of sign-ins that await a second factor.
#[derive(Debug)]
pub struct AttemptCode;

impl MailedCode for SignInCode {
    const PURPOSE: Purpose = Purpose::SignIn;
}

impl CodeKind for SignInCode {
    type Stored = StoredCode;

    fn name() -> &'static str {
        Self::PURPOSE.name()
    }
}

impl MailedCode for VerificationCode {
    const PURPOSE: Purpose = Purpose::VerifyEmail;
}

impl CodeKind for VerificationCode {
    type Stored = StoredCode;

    fn name() -> &'static str {
        Self::PURPOSE.name()
    }
}

impl MailedCode for ResetCode {
    const PURPOSE: Purpose = Purpose::ResetPassword;
}

impl CodeKind for ResetCode {
    type Stored = StoredCode;

    fn name() -> &'static str {
        Self::PURPOSE.name()
    }
}

impl CodeKind for InvitationCode {
    type Stored = Invitation;

    fn name() -> &'static str {
        invitation::PURPOSE
    }
}

impl CodeKind for AttemptCode {
    type Stored = MfaAttempt;

    fn name() -> &'static str {
        code::MFA
    }
}

impl Route {
    /// An operation that checks a code without redeeming it.
    pub const fn checks_code(self) -> Self {
        self.limit(Limit::Code).open_to_restricted().leaves_no_trail("it only counts an attempt; the code stays valid").table(&[
            TableAction::BatchGetItem,
            TableAction::GetItem,
            TableAction::UpdateItem,
        ])
    }
}

/// Client access, with a hint about the account of the code in the body.
pub struct CodeAccess<K: CodeKind> {
    /// The proved access.
    pub access: Access<Client>,
    /// The entity stored under the nonce of the code; `None` if there is none, if the body has no
    /// well-formed code, or if reading failed. Use it only to read its account early, because the
    /// code has not been checked.
    pub hint: Option<K::Stored>,
    /// Whether the table was read and has no code with this nonce.
    is_made_up: bool,
    kind: PhantomData<K>,
}

/// The project and the code that a request claims; nothing is proved yet.
fn claimed(parts: &Parts) -> Option<(ProjectId, Code)> {
    let project = ProjectId::parse(header(&parts.headers, "project-id").ok()??).ok()?;
    let body = parts.extensions.get::<ParsedBody>()?.json.as_ref()?;
    Some((project, Code::parse(body.get("code")?.as_str()?).ok()?))
}

impl<K: CodeKind> FromRequestParts<App> for CodeAccess<K> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let claimed = claimed(parts);
        let hint = async {
            let (project, code) = claimed.as_ref()?;
            app.store.code_of_nonce(project, K::name(), code).await.ok()
        };
        let (access, found) = tokio::join!(Access::from_request_parts(parts, app), hint);
        let is_made_up = matches!(found, Some(None));
        Ok(Self { access: access?, hint: found.flatten(), is_made_up, kind: PhantomData })
    }
}

impl<K: MailedCode> CodeAccess<K> {
    /// Counts an attempt at the code and checks the code. Returns the code with its user, who is
    /// usually read at the same time; `None` if the code is for no user, or the user no longer
    /// exists. A code from an earlier credential epoch of the user is rejected as if it did not
    /// exist. The write that the code authorizes must check the epoch again in its own transaction.
    pub async fn decide(&self, app: &App, code: &Code) -> Result<(StoredCode, Option<UserRow>), Error> {
        let project = &self.access.project.id;
        let hinted = self.hint.as_ref().and_then(|code| code.user_id);
        let attempt = app.store.try_code(project, K::PURPOSE, code, app.clock.now());
        let (decision, row) = tokio::try_join!(attempt, user(app, project, hinted))?;
        let stored = decision?;
        let row = if stored.user_id == hinted { row } else { user(app, project, stored.user_id).await? };
        if row.as_ref().is_some_and(|row| !stored.is_of_epoch(&row.user)) {
            return Err(Rejected::NotFound.into());
        }
        Ok((stored, row))
    }
}

impl CodeAccess<InvitationCode> {
    /// Counts the caller's attempt at the code of an invitation and checks the code, without
    /// accepting the invitation. If the nonce is unknown, the code is not read again, and no
    /// attempt at it is counted, so that made-up codes create no items; such a request counts only
    /// against the rate limit of its operation. An invitation without a valid sender
    /// ([`store::Store::has_valid_sender`]) is rejected as if it did not exist.
    pub async fn try_invitation(&self, app: &App, code: &Code, caller: &Subject) -> Result<Result<Invitation, Rejected>, store::Error> {
        if self.is_made_up {
            return Ok(Err(Rejected::NotFound));
        }
        let project = &self.access.project.id;
        let hinted = async {
            match &self.hint {
                Some(invitation) => app.store.has_valid_sender(project, invitation).await,
                None => Ok(false),
            }
        };
        let attempt = app.store.try_invitation(project, code, caller, app.clock.now());
        let (decision, is_valid) = tokio::try_join!(attempt, hinted)?;
        let invitation = match decision {
            Ok(invitation) => invitation,
            rejected => return Ok(rejected),
        };
        let is_hinted = self.hint.as_ref().is_some_and(|hint| hint.id == invitation.id);
        let is_valid = if is_hinted { is_valid } else { app.store.has_valid_sender(project, &invitation).await? };
        Ok(if is_valid { Ok(invitation) } else { Err(Rejected::NotFound) })
    }
}

async fn user(app: &App, project: &ProjectId, id: Option<UserId>) -> Result<Option<UserRow>, store::Error> {
    match id {
        Some(id) => app.store.user(project, id).await,
        None => Ok(None),
    }
}

impl<K: CodeKind> Describe for CodeAccess<K> {
    fn describe(description: &mut Description) {
        Access::<Client>::describe(description);
    }
}
