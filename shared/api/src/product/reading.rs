//! Counts what clients read, as an inner layer of the product API.

use std::sync::{Arc, OnceLock};

use axum::extract::{FromRequestParts, RawPathParams, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use errors::Error;
use flows::App;
use flows::limits::Reader;
use http::StatusCode;
use http::request::Parts;
use store::table::volume;
use wire::id::ProjectId;

use crate::http::client::Caller;
use crate::http::describe::{Describe, Description};

/// A request extension with the client whose reads are counted, once the client is known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading(Arc<OnceLock<Reader>>);

impl Reading {
    /// Begins measuring what the request reads if the client's reads are counted, that is, if
    /// `reader` is not `None`. Fails if the client has read too much.
    pub(crate) fn begin(parts: &Parts, app: &App, reader: Option<Reader>) -> Result<(), store::Error> {
        let (Some(reader), Some(reading)) = (reader, parts.extensions.get::<Self>()) else { return Ok(()) };
        reader.check(app)?;
        volume::measure();
        // Always succeeds, because a request is authenticated only once.
        let _ = reading.0.set(reader);
        Ok(())
    }
}

/// Runs a request. If a client sent the request, counts what it read and whether it found nothing.
pub(crate) async fn counted(app: &App, mut request: Request, next: Next) -> Response {
    let reading = Reading::default();
    request.extensions_mut().insert(reading.clone());
    let (response, bytes) = volume::within(next.run(request)).await;
    if let Some(reader) = reading.0.get() {
        reader.count(app, bytes);
        if response.status() == StatusCode::NOT_FOUND
            && let Err(error) = reader.missed(app)
        {
            return Error::from(error).into_response();
        }
    }
    response
}

/// A caller without access, for reads of the project in the path. The reads are counted by IP
/// address and network.
pub struct Anybody;

impl FromRequestParts<App> for Anybody {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let path = RawPathParams::from_request_parts(parts, app).await.ok();
        let project = path.as_ref().and_then(|path| path.iter().find(|(name, _)| *name == "project_id"));
        let place = Caller::read(parts, &app.settings).place;
        let project = project.and_then(|(_, id)| ProjectId::parse(id).ok());
        Reading::begin(parts, app, project.map(|project| Reader::at(app, &project, &place, None)))?;
        Ok(Self)
    }
}

impl Describe for Anybody {
    fn describe(description: &mut Description) {
        description.counts_reads = true;
    }
}
