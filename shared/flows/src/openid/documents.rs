//! Finds the client whose name is the URL of a metadata document. The document is fetched if it is
//! not known yet or no longer fresh, and is never used after that. Anybody can name any URL, so
//! fetches of unknown documents are counted by the caller's IP address, and all fetches by the
//! document's host.

use std::time::Duration;

use errors::Error;
use model::limit::{Rule, Subject};
use model::openid::client::{OauthClient, Origin};
use model::openid::document::ClientMetadata;
use model::openid::request::Refusal;
use model::place::Place;
use model::project::Project;
use model::session::client_name::{ClientName, DocumentUrl};
use net::outgoing::{AnswerError, Outgoing};
use store::openid::ClientRow;
use store::openid::described::{FAILURE, Fetch, LEASE, Lease, OUTAGE};
use tokio::time::{Instant, sleep};

use crate::App;
use crate::limits;

/// The pause before the second look at a document that another request is fetching; each further
/// pause is twice as long.
const POLL: Duration = Duration::from_millis(150);

/// Finds the client with this name, for an authorization request. `row` is the client as it is
/// stored; `None` if it is not stored.
pub async fn current(
    (app, project, place): (&App, &Project, &Place),
    name: &ClientName,
    mut row: Option<ClientRow>,
) -> Result<Result<Option<OauthClient>, Refusal>, Error> {
    let ClientName::Document(url) = name else {
        // A client with a document is known only by the document's URL.
        return Ok(Ok(row.map(|row| row.client).filter(|client| client.name() == *name)));
    };
    // The administrators of projects sign in only to the console.
    if project.id.is_internal() || !project.config.oauth_clients.permit_document(&url.domain()) {
        return Ok(Err(Refusal::invalid("client_id is a URL, but this project does not accept the metadata documents of its host")));
    }
    if row.is_none() {
        // A flood of unknown documents must not write leases.
        let (address, network) = (Subject::address(place.ip), Subject::network(place.ip));
        limits::room(app, &project.id, Rule::OauthClientDocument, &address)?;
        limits::room(app, &project.id, Rule::OauthClientDocumentNetwork, &network)?;
    }
    let (end, mut pause) = (Instant::now() + LEASE.unsigned_abs(), POLL);
    let mut fetch = None;
    loop {
        if let Some(client) = fresh(app, url, row.as_ref()) {
            return Ok(Ok(Some(client)));
        }
        let now = app.clock.now();
        if fetch.as_ref().is_none_or(|fetch: &Fetch| fetch.until <= now.as_second()) {
            if let Some(lease) = app.store.lease_fetch(&project.id, name.id(), now).await? {
                return Ok(fetched((app, project, place), url, &lease).await?.map(Some));
            }
        } else if let Some(failure) = fetch.and_then(|fetch| fetch.failure) {
            return Ok(Err(Refusal::invalid(failure)));
        } else if Instant::now() >= end {
            return Err(errors::KnownError::ServiceUnavailable.into());
        } else {
            sleep(pause).await;
            pause *= 2;
        }
        (row, fetch) = app.store.client_and_fetch(&project.id, name.id()).await?;
    }
}

/// The stored client, if its document is still fresh.
fn fresh(app: &App, named: &DocumentUrl, row: Option<&ClientRow>) -> Option<OauthClient> {
    let client = &row?.client;
    let is_fresh = matches!(&client.origin, Some(Origin::Document { url, fresh_until }) if url == named && app.clock.now() < *fresh_until);
    is_fresh.then(|| client.clone())
}

/// Fetches the document and stores the client, in the time that the lease gives to this request.
async fn fetched(
    (app, project, place): (&App, &Project, &Place),
    url: &DocumentUrl,
    lease: &Lease,
) -> Result<Result<OauthClient, Refusal>, Error> {
    // Another request may have fetched the document before this request got the lease.
    let row = app.store.oauth_client(&project.id, lease.client).await?;
    let result = match fresh(app, url, row.as_ref()) {
        Some(client) => Ok(Ok(client)),
        None => fetch((app, project, place), url, row.as_ref()).await,
    };
    let now = app.clock.now();
    match result {
        Ok(Err(refused)) => {
            let life = if refused.is_of_document { FAILURE } else { OUTAGE };
            app.store.fail_fetch(&project.id, lease, &refused.refusal.description, (now, life)).await?;
            Ok(Err(refused.refusal))
        }
        Ok(Ok(client)) => {
            app.store.end_fetch(&project.id, lease).await?;
            Ok(Ok(client))
        }
        Err(error) => {
            app.store.end_fetch(&project.id, lease).await?;
            Err(error)
        }
    }
}

/// Why a document cannot be used.
struct DocumentRefusal {
    refusal: Refusal,
    /// Whether the document itself is wrong, instead of out of reach.
    is_of_document: bool,
}

async fn fetch(
    (app, project, place): (&App, &Project, &Place),
    url: &DocumentUrl,
    row: Option<&ClientRow>,
) -> Result<Result<OauthClient, DocumentRefusal>, Error> {
    // Known documents are fetched at most once a minute, and nobody can use up their limit.
    if row.is_none() {
        limits::by_subject(app, &project.id, Rule::OauthClientDocument, &Subject::address(place.ip)).await?;
        limits::by_subject(app, &project.id, Rule::OauthClientDocumentNetwork, &Subject::network(place.ip)).await?;
        limits::by_subject(app, &project.id, Rule::OauthClientDocumentHost, &Subject::named(&url.domain())).await?;
    }
    let failed = |is_of_document: bool, reason: &dyn std::fmt::Display| {
        let refusal = Refusal::invalid(format!("the document at client_id cannot be used: {reason}"));
        Ok(Err(DocumentRefusal { refusal, is_of_document }))
    };
    let refused = |reason: &dyn std::fmt::Display| failed(true, reason);
    let answer =
        Outgoing::for_documents(&app.settings, &project.id).fetch(url.as_str(), None, None).await.and_then(net::outgoing::Answer::found);
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => {
            tracing::info!(%error, host = url.host(), "the metadata document of a client cannot be fetched");
            return failed(!matches!(error, AnswerError::Unavailable(_)), &reason(&error));
        }
    };
    let Ok(metadata) = answer.json::<ClientMetadata>() else {
        return refused(&"it is not JSON, or a field has the wrong type");
    };
    let fresh = jiff::SignedDuration::try_from(answer.fresh_for()).unwrap_or(jiff::SignedDuration::MAX);
    let client = match metadata.documented(url, row.map(|row| &row.client), (fresh, app.clock.now())) {
        Ok(client) => client,
        Err(error) => return refused(&error),
    };
    app.store.store_documented_client(&project.id, row, &client).await?;
    Ok(Ok(client))
}

/// Why a document could not be fetched, without details of the network.
fn reason(error: &AnswerError) -> &'static str {
    match error {
        AnswerError::Unavailable(_) => "its server does not answer, or has no public address",
        AnswerError::Refused(_) | AnswerError::Unauthorized => "its server does not answer with status 200",
        AnswerError::Misconfigured(_) => "its server redirects, and redirects are not followed",
        AnswerError::Senseless(_) => "it is too long, or cannot be read",
        AnswerError::Private(_) => "it is not at a public https URL",
    }
}
