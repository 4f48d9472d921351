//! The response that contains an entry of the outbox.

use api::http::Json;
use api::product::precondition::VersionedResponse;
use deserr::Deserr;
use errors::{Error, KnownError};
use flows::App;
use model::outbox::OutboxEntry;
use model::outbox::view::OutboxView;
use utoipa::ToSchema;
use wire::id::{EmailId, ProjectId};

/// Shows an entry with the bodies of the email. The bodies are stored separately until a day after
/// the email was sent, was skipped or failed for good.
pub(crate) async fn view(
    app: &App,
    project: &ProjectId,
    entry: OutboxEntry,
    version: u64,
) -> Result<VersionedResponse<Json<OutboxView>>, Error> {
    let now = app.clock.now();
    let entries = app.store.with_bodies(project, vec![entry], now).await?;
    let view = entries.iter().map(|entry| OutboxView::of(entry, now)).next().ok_or(KnownError::EmailNotFound)?;
    Ok(VersionedResponse { response: Json(view), version })
}

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct EntryPath {
    pub(crate) id: EmailId,
}
