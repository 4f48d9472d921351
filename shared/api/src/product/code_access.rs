//! Access with a one-time code: the code's item is read while the access is proved.
//!
//! An attempt at a code must be counted before the code is checked, and the code's account is known
//! only after the check. Proving the access, trying the code, reading the account and writing would
//! therefore take four round trips. To save two of them, the code in the body is read while the
//! access is proved, and the code's account is read while the attempt is counted
//! ([`PrefetchedItem`]).

use axum::extract::FromRequestParts;
use deserr::Deserr;
use errors::Error;
use flows::App;
use http::request::Parts;
use model::code::{Code, CodeRefusal, Purpose, StoredCode};
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
use crate::http::{Admission, Route, TableAction};
use crate::product::access::{Access, Client};
use crate::product::header_family::header;
use crate::product::input::ParsedBody;
use crate::product::prefetched::PrefetchedItem;

/// The body of a request that contains only a code.
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct CodeBody {
    /// For a link, the value of its query parameter `code`; for a typed code, its six characters
    /// followed by the nonce.
    pub code: Code,
}

/// The result of checking a code.
#[derive(Serialize, ToSchema)]
pub struct CheckedCode {
    /// Whether the code would be accepted; most operations respond with an error instead of
    /// `false`.
    pub is_code_valid: bool,
}

/// A kind of code, at the type level.
pub trait CodeKind: Send + Sync + 'static {
    /// The stored entity of a code of this kind.
    type Stored: DeserializeOwned + Clone + PartialEq + Send + std::fmt::Debug;
    /// The kind's name in the keys of the table.
    const NAME: &'static str;
}

/// A kind of emailed code stored as a [`StoredCode`]; invitation codes are stored differently.
pub trait MailedCode: Send + Sync + 'static {
    /// The purpose of the code.
    const PURPOSE: Purpose;
}

impl<K: MailedCode> CodeKind for K {
    type Stored = StoredCode;
    const NAME: &'static str = K::PURPOSE.name();
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

impl MailedCode for VerificationCode {
    const PURPOSE: Purpose = Purpose::VerifyEmail;
}

impl MailedCode for ResetCode {
    const PURPOSE: Purpose = Purpose::ResetPassword;
}

impl CodeKind for InvitationCode {
    type Stored = Invitation;
    const NAME: &'static str = invitation::PURPOSE;
}

impl CodeKind for AttemptCode {
    type Stored = MfaAttempt;
    const NAME: &'static str = code::MFA;
}

impl Route {
    /// Marks an operation that checks a code without redeeming it.
    pub const fn checks_code(self) -> Self {
        self.limit(Limit::Code).admits(Admission::Restricted).leaves_no_trail("it only counts an attempt; the code stays valid").table(&[
            TableAction::BatchGetItem,
            TableAction::GetItem,
            TableAction::UpdateItem,
        ])
    }
}

/// Client access, with the entity of the body's code, which was prefetched.
pub struct CodeAccess<K: CodeKind> {
    /// The proved access.
    pub access: Access<Client>,
    /// The entity stored under the code's nonce.
    pub code: PrefetchedItem<K::Stored>,
}

/// The project and the code named in a request, neither of which has been verified yet.
fn claimed(parts: &Parts) -> Option<(ProjectId, Code)> {
    let project = ProjectId::parse(header(&parts.headers, "project-id").ok()??).ok()?;
    let body = parts.extensions.get::<ParsedBody>()?.json.as_ref()?;
    Some((project, Code::parse(body.get("code")?.as_str()?).ok()?))
}

impl<K: CodeKind> FromRequestParts<App> for CodeAccess<K> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let claimed = claimed(parts);
        let stored = async {
            let Some((project, code)) = &claimed else { return PrefetchedItem::Unread };
            match app.store.code_of_nonce(project, K::NAME, code).await {
                Ok(Some(stored)) => PrefetchedItem::Found(stored),
                Ok(None) => PrefetchedItem::Missing,
                Err(_) => PrefetchedItem::Unread,
            }
        };
        let (access, code) = tokio::join!(Access::from_request_parts(parts, app), stored);
        Ok(Self { access: access?, code })
    }
}

impl<K: MailedCode> CodeAccess<K> {
    /// Counts an attempt at the code and checks the code. Returns the code with its user; `None` if
    /// the code is not for a user, or the user no longer exists. A code from an earlier credential
    /// epoch of the user is rejected as if it did not exist. The write that the code authorizes
    /// must check the epoch again, in its own transaction.
    pub async fn decide(&self, code: &Code) -> Result<(StoredCode, Option<UserRow>), Error> {
        let (stored, row, ()) = self.decide_with(code, async |_| Ok(())).await?;
        Ok((stored, row))
    }

    /// Like [`Self::decide`], but also returns the result of `read`, which runs while the code's
    /// user is read.
    pub async fn decide_with<T, F: Future<Output = Result<T, store::Error>>>(
        &self,
        code: &Code,
        read: impl Fn(StoredCode) -> F,
    ) -> Result<(StoredCode, Option<UserRow>, T), Error> {
        let (app, project) = (&self.access.app, &self.access.project.id);
        let user = async |id: Option<UserId>| match id {
            Some(id) => app.store.user(project, id).await,
            None => Ok(None),
        };
        let found = async |stored: StoredCode| tokio::try_join!(user(stored.user_id), read(stored));
        let (stored, (row, found)) = self.code.prove(app.store.try_code(project, K::PURPOSE, code, app.clock.now()), found).await?;
        if row.as_ref().is_some_and(|row| !stored.is_of_epoch(&row.user)) {
            return Err(CodeRefusal::NotFound.into());
        }
        Ok((stored, row, found))
    }
}

impl CodeAccess<InvitationCode> {
    /// Counts the caller's attempt at the code of an invitation and checks the code, without
    /// accepting the invitation. Returns the invitation and the result of `read`. If the code's
    /// nonce is unknown, the code is not read again and the attempt is not counted, so that made-up
    /// codes do not create items. The request then counts only against the operation's rate limit.
    /// An invitation without a valid sender ([`store::Store::has_valid_sender`]) is rejected as if
    /// it did not exist.
    pub async fn try_invitation<T, F: Future<Output = Result<T, store::Error>>>(
        &self,
        code: &Code,
        caller: &Subject,
        read: impl Fn(Invitation) -> F,
    ) -> Result<(Invitation, T), Error> {
        if self.code.is_missing() {
            return Err(CodeRefusal::NotFound.into());
        }
        let (app, project) = (&self.access.app, &self.access.project.id);
        let attempt = app.store.try_invitation(project, code, caller, app.clock.now());
        let with_sender =
            async |invitation: Invitation| tokio::try_join!(app.store.has_valid_sender(project, &invitation), read(invitation.clone()));
        let (invitation, (is_valid, found)) = self.code.prove(attempt, with_sender).await?;
        if is_valid { Ok((invitation, found)) } else { Err(CodeRefusal::NotFound.into()) }
    }
}

impl<K: CodeKind> Describe for CodeAccess<K> {
    fn describe(description: &mut Description) {
        Access::<Client>::describe(description);
    }
}
