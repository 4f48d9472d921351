//! Access with a one-time code: what the code is for is read beside the access.
//!
//! A code has to be counted before it is decided on, and only then says whose it is: access, code, account and write would be four round
//! trips. So the code that the body seems to bring is read while the access is proved, and its account while the attempt is counted.
//! What is read here decides nothing, but that a code which nobody has made is none.

use std::marker::PhantomData;

use axum::extract::FromRequestParts;
use errors::Error;
use flows::App;
use http::request::Parts;
use model::code::{Code, Purpose, Rejected, StoredCode};
use model::limit::Subject;
use model::team::invitation::Invitation;
use model::user::second_factor::MfaAttempt;
use serde::de::DeserializeOwned;
use store::code;
use store::team::invitation;
use store::user::UserRow;
use wire::id::{ProjectId, UserId};

use crate::http::describe::{Describe, Description};
use crate::product::access::{Access, Client};
use crate::product::header_family::header;
use crate::product::input::ParsedBody;

/// A kind of code, as a type.
pub trait CodeKind: Send + Sync + 'static {
    /// What the table has of it.
    type Stored: DeserializeOwned + Send + std::fmt::Debug;
    /// Its name in the table.
    fn name() -> &'static str;
}

/// A kind of code that a mail brings.
pub trait MailedCode: CodeKind<Stored = StoredCode> {
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
/// Codes of sign-ins that wait for a second factor.
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

/// Client access, with a hint at what the code in the body is for.
pub struct CodeAccess<K: CodeKind> {
    pub access: Access<Client>,
    /// What the table has under the nonce of the code: good for knowing early whom to read, and for nothing else.
    pub hint: Option<K::Stored>,
    /// The table was asked for the code, and has none of its nonce.
    is_made_up: bool,
    kind: PhantomData<K>,
}

/// Where a request seems to have a code; whether it may is for others to say.
fn claimed(parts: &Parts) -> Option<(ProjectId, Code)> {
    let project = ProjectId::parse(header(&parts.headers, "project-id").ok()??).ok()?;
    let body = parts.extensions.get::<ParsedBody>()?.0.as_ref()?;
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
    /// Counts an attempt at the code and decides on it; gives it with the user that it is for, who is read meanwhile. A code of an earlier
    /// credential epoch does not exist. Whoever writes what the code is good for decides on the epoch again, by the same transaction.
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
    /// Counts the caller's attempt at the code of an invitation and decides on it, without accepting it. A code that nobody has made is not
    /// looked for again, and leaves no count of attempts behind: whoever makes them up is counted by the address.
    pub async fn try_invitation(&self, app: &App, code: &Code, caller: &Subject) -> Result<Result<Invitation, Rejected>, store::Error> {
        if self.is_made_up {
            return Ok(Err(Rejected::NotFound));
        }
        app.store.try_invitation(&self.access.project.id, code, caller, app.clock.now()).await
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
