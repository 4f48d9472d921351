//! `PATCH /api/v1/emails/outbox/{id}`: edits, pauses, resumes or cancels an email. The email must
//! not have been sent or skipped, and must not currently be sent.
//!
//! The write depends on the version that was checked. If a worker has advanced the entry in the
//! meantime, the patch is applied again to the new state.

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::input::Nothing;
use api::product::precondition::{IfMatch, VersionedResponse};
use api::product::{Access, Input, Server};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use model::document::DocumentKind;
use model::document::theme::ThemeId;
use model::outbox::patch::{OutboxPatch, Refusal};
use model::outbox::view::OutboxView;
use model::outbox::work::MAX_BYTES;
use store::optimistic;
use store::outbox::transition::OutboxMove;
use wire::change::Change;
use wire::id::EmailId;
use wire::problem::Problems;

use crate::documents::found::documents;
use crate::outbox::entry::{EntryPath, view};

pub const ROUTE: Route = Route::patch("emails-outbox-update", "/api/v1/emails/outbox/{id}")
    .summary("Edits, pauses, resumes or cancels an email that is not being sent yet")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .reads(&[NamedItem::Mail])
    .errors(&[ErrorCode::EmailNotFound, ErrorCode::EmailNotEditable]);

/// The maximum number of attempts. A worker advances an entry only a few times before it is sent,
/// so a patch rarely needs all attempts.
const MAX_ATTEMPTS: u32 = 8;

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    if_match: IfMatch,
    Input { body, path, .. }: Input<OutboxPatch, Nothing, EntryPath>,
) -> Result<VersionedResponse<Json<OutboxView>>, Error> {
    body.check().map_err(|problems| ROUTE.schema_error(&problems))?;
    let project = &access.project.id;
    if let Change::Set(ThemeId(theme)) = body.theme_id {
        let [found] = documents(&app, project, [Some((DocumentKind::Theme, theme.into()))]).await?;
        if found.is_none() {
            return Err(invalid("body.theme_id", "must be the id of a theme"));
        }
    }
    optimistic!(MAX_ATTEMPTS, |attempt| {
        let row = access.table(attempt).outbox_entry(project, path.id).await?.ok_or(KnownError::EmailNotFound)?;
        if_match.check(row.version)?;
        let entry = row.entry.clone().apply(body.clone(), app.clock.now()).map_err(|refused| error(path.id, refused))?;
        if entry.is_too_large() {
            return Err(invalid("body", &format!("makes the email larger than {MAX_BYTES} bytes")));
        }
        let row = app.store.move_outbox_entry(OutboxMove::new(row, entry)).await?;
        view(&app, project, row.entry, row.version).await
    })
}

fn invalid(path: &str, message: &str) -> Error {
    ROUTE.schema_error(&Problems::one(path, message)).into()
}

fn error(id: EmailId, refused: Refusal) -> Error {
    match refused {
        Refusal::NotEditable(status) => {
            let status = status.name().replace('-', "_").to_uppercase();
            KnownError::EmailNotEditable { email_id: id.to_string(), status }.into()
        }
        Refusal::Redirected => {
            invalid("body.to", "must not change: this email contains a code, which may be sent only to its original address")
        }
    }
}
