//! Clients that describe themselves, by a metadata document or a registration. A client is deleted
//! by TTL if nobody signs in to it.
//!
//! A document is fetched once for all concurrent requests: the request that writes the lease
//! fetches the document, and the others wait for the result. The reason of a failure is kept in the
//! lease for a minute.

use jiff::{SignedDuration, Timestamp};
use model::openid::client::OauthClient;
use model::openid::document::MAX_UNUSED;
use model::trail::{Target, TargetKind};
use serde::{Deserialize, Serialize};
use wire::clock::after;
use wire::id::{OauthClientId, ProjectId};

use crate::openid::client::{ClientRow, UNUSED, client_key, unused_key};
use crate::table::{Error, Item, Key, Store, TTL, Write, entity, integer, is_made, number};

/// How long a request may take to fetch a document: longer than the fetch itself.
pub const LEASE: SignedDuration = SignedDuration::from_secs(7);
/// How long the reason of a failed fetch is kept if the document is wrong.
pub const FAILURE: SignedDuration = SignedDuration::from_mins(1);
/// How long the reason is kept if the document's server was out of reach.
pub const OUTAGE: SignedDuration = SignedDuration::from_secs(5);

/// The right to fetch the document of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// The client.
    pub client: OauthClientId,
    until: i64,
}

/// The fetch of a document.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fetch {
    /// Until when no other request fetches the document.
    pub until: i64,
    /// Why the fetch failed; absent while it is running.
    pub failure: Option<String>,
}

impl Lease {
    fn is_held(&self, write: Write) -> Write {
        write.on("d.#until = :own").name("#until", "until").value(":own", integer(self.until))
    }
}

fn fetch_key(project: &ProjectId, id: OauthClientId) -> Key {
    Key::new(format!("N#{project}#{id}"), "FETCH")
}

/// Keeps a client to which somebody has signed in. Fails if the client does not exist.
pub fn keep(project: &ProjectId, client: OauthClientId) -> [Write; 2] {
    // The version changes, so that a document fetched at the same time does not restore the expiry.
    let keep = Write::update(client_key(project, client), "REMOVE #ttl, d.expires_at ADD version :one")
        .on("attribute_exists(pk)")
        .name("#ttl", TTL)
        .value(":one", integer(1));
    [keep, Write::delete(unused_key(project, client))]
}

impl Store {
    /// Whether the project has the maximum number of registered clients to which nobody has signed
    /// in.
    pub async fn has_many_unused_clients(&self, project: &ProjectId, now: Timestamp) -> Result<bool, Error> {
        let limit = i32::try_from(MAX_UNUSED).unwrap_or(i32::MAX);
        let (unused, _) = self.query_page(self.query_prefix(format!("P#{project}"), UNUSED).limit(limit)).await?;
        // DynamoDB deletes expired items late.
        let is_live = |item: &&Item| number(item, TTL).is_none_or(|end: i64| now.as_second() < end);
        Ok(unused.iter().filter(is_live).count() >= MAX_UNUSED)
    }

    /// Registers a client.
    pub async fn register_oauth_client(&self, project: &ProjectId, client: &OauthClient) -> Result<(), Error> {
        let end = client.expires_at.unwrap_or(client.created_at);
        let create = Write::create(client_key(project, client.id), client)?.attribute("version", integer(1)).expires(end);
        let create = create.targets([Target::new(TargetKind::OauthClient, client.id)]);
        self.transact([create, Write::put(unused_key(project, client.id), &client.created_at)?.expires(end)]).await
    }

    /// Stores a client as its document describes it now. The audit log gets an entry once a user
    /// signs in to the client. Fails with [`Error::Conflict`] if the
    /// client has changed since `before` was read.
    pub async fn store_documented_client(
        &self,
        project: &ProjectId,
        before: Option<&ClientRow>,
        client: &OauthClient,
    ) -> Result<(), Error> {
        let version = before.map_or(0, |row| row.version);
        let write = Write::put(client_key(project, client.id), client)?.attribute("version", integer(version + 1));
        let write = match client.expires_at {
            Some(end) => write.expires(end),
            None => write,
        };
        let write = match before {
            Some(_) => write.on("version = :old").value(":old", integer(version)),
            None => write.on("attribute_not_exists(pk)"),
        };
        self.write_unrecorded(write).await
    }

    /// Reserves the fetch of a document for this request; `None` if another request is fetching it,
    /// or the reason of a failure is still kept.
    pub async fn lease_fetch(&self, project: &ProjectId, client: OauthClientId, now: Timestamp) -> Result<Option<Lease>, Error> {
        let until = after(now, LEASE).as_second();
        let write = Write::put(fetch_key(project, client), &Fetch { until, failure: None })?
            .expires(after(now, FAILURE))
            .on("attribute_not_exists(pk) OR d.#until <= :now")
            .name("#until", "until")
            .value(":now", integer(now.as_second()));
        Ok(is_made(self.write_unrecorded(write).await)?.then_some(Lease { client, until }))
    }

    /// Records why the document could not be used, for `life`. Without effect if another request
    /// has the lease now.
    pub async fn fail_fetch(
        &self,
        project: &ProjectId,
        lease: &Lease,
        failure: &str,
        (now, life): (Timestamp, SignedDuration),
    ) -> Result<(), Error> {
        let end = after(now, life);
        let failed = Fetch { until: end.as_second(), failure: Some(failure.to_owned()) };
        let write = Write::put(fetch_key(project, lease.client), &failed)?.expires(end);
        is_made(self.write_unrecorded(lease.is_held(write)).await).map(drop)
    }

    /// Lets the next request fetch the document again. Without effect if another request has the
    /// lease now.
    pub async fn end_fetch(&self, project: &ProjectId, lease: &Lease) -> Result<(), Error> {
        is_made(self.write_unrecorded(lease.is_held(Write::delete(fetch_key(project, lease.client)))).await).map(drop)
    }

    /// The client, and the fetch of its document that is running or has failed.
    pub async fn client_and_fetch(&self, project: &ProjectId, client: OauthClientId) -> Result<(Option<ClientRow>, Option<Fetch>), Error> {
        let row = self.get_now(&client_key(project, client)).await?.map(ClientRow::of).transpose()?;
        let fetch = self.get_now(&fetch_key(project, client)).await?.map(entity).transpose()?;
        Ok((row, fetch))
    }
}
