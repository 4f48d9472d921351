//! Clients.

use model::openid::client::{MAX_CLIENTS, OauthClient, Origin};
use model::trail::{Target, TargetKind};
use wire::id::{OauthClientId, ProjectId};

use crate::table::row::Items;
use crate::table::{Error, Item, Key, Label, Store, TTL, Write, entity, integer, is_made, number};

const PREFIX: &str = "OAUTHCLIENT#";
/// The prefix of the marks of registered clients to which nobody has signed in.
pub(super) const UNUSED: &str = "OAUTHUNUSED#";

/// A client with its version; changes are conditional on the version.
#[derive(Debug, Clone)]
pub struct ClientRow {
    /// The client.
    pub client: OauthClient,
    /// The version that was read.
    pub version: u64,
}

impl ClientRow {
    pub(super) fn of(item: Item) -> Result<Self, Error> {
        let version = number(&item, "version").unwrap_or_default();
        Ok(Self { client: entity(item)?, version })
    }
}

/// The key of a client.
pub fn client_key(project: &ProjectId, id: OauthClientId) -> Key {
    Key::new(format!("P#{project}"), format!("{PREFIX}{id}"))
}

pub(super) fn unused_key(project: &ProjectId, id: OauthClientId) -> Key {
    Key::new(format!("P#{project}"), format!("{UNUSED}{id}"))
}

fn count_key(project: &ProjectId) -> Key {
    Key::new(format!("P#{project}"), "OAUTHCLIENTS")
}

fn target(id: OauthClientId) -> [Target; 1] {
    [Target::new(TargetKind::OauthClient, id)]
}

impl Store {
    /// The client with this id.
    pub async fn oauth_client(&self, project: &ProjectId, id: OauthClientId) -> Result<Option<ClientRow>, Error> {
        self.get(&client_key(project, id)).await?.map(ClientRow::of).transpose()
    }

    /// Up to `limit` clients of a project whose ids come after `after`, in the order of their ids,
    /// and whether there are more.
    pub async fn oauth_clients(
        &self,
        project: &ProjectId,
        after: Option<OauthClientId>,
        limit: usize,
    ) -> Result<(Vec<OauthClient>, bool), Error> {
        let first = after.map_or_else(|| PREFIX.to_owned(), |id| format!("{PREFIX}{id}~"));
        let query = self.query_range(format!("P#{project}"), first, format!("{PREFIX}~"));
        let (items, next) = self.query_page(query.limit(i32::try_from(limit + 1).unwrap_or(i32::MAX))).await?;
        let mut clients: Vec<OauthClient> = items.into_iter().map(entity).collect::<Result<_, _>>()?;
        let has_more = clients.len() > limit || next.is_some();
        clients.truncate(limit);
        Ok((clients, has_more))
    }

    /// Creates a client; `false` if the project already has the maximum number of clients.
    pub async fn create_oauth_client(&self, project: &ProjectId, client: &OauthClient) -> Result<bool, Error> {
        let more = Write::update(count_key(project), "ADD clients :one")
            .on("attribute_not_exists(clients) OR clients < :most")
            .value(":one", integer(1))
            .value(":most", integer(MAX_CLIENTS))
            .labelled(Label::Count);
        let create = Write::create(client_key(project, client.id), client)?.attribute("version", integer(1)).targets(target(client.id));
        match self.transact([create, more]).await {
            Ok(()) => Ok(true),
            Err(Error::Conflict(conflict)) if conflict.is_of(Label::Count) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Replaces a client; fails with [`Error::Conflict`] if the client has changed since it was
    /// read.
    pub async fn replace_oauth_client(&self, project: &ProjectId, row: &ClientRow, next: &OauthClient) -> Result<(), Error> {
        // A client that an administrator has changed no longer expires.
        let replace = Write::update(client_key(project, next.id), "SET d = :d, version = :new REMOVE #ttl")
            .on("version = :old")
            .name("#ttl", TTL)
            .targets(target(next.id))
            .entity(":d", next)?
            .value(":old", integer(row.version))
            .value(":new", integer(row.version + 1));
        if row.client.origin == Some(Origin::Registration) {
            return self.transact([replace, Write::delete(unused_key(project, next.id))]).await;
        }
        self.write(replace).await
    }

    /// Deletes a client; `false` if it does not exist. The client's sessions and grants no longer
    /// work. Only clients that an administrator has created are counted.
    pub async fn delete_oauth_client(&self, project: &ProjectId, client: &OauthClient) -> Result<bool, Error> {
        let less = Write::update(count_key(project), "ADD clients :less").value(":less", integer(-1));
        let gone = Write::delete(client_key(project, client.id)).on("attribute_exists(pk)").targets(target(client.id));
        let count = if client.origin.is_none() { less } else { Write::delete(unused_key(project, client.id)) };
        is_made(self.transact([gone, count]).await)
    }
}

/// Finds a client among items that were read.
impl Items {
    /// The client with this id.
    pub fn oauth_client(&mut self, project: &ProjectId, id: OauthClientId) -> Result<Option<OauthClient>, Error> {
        self.entity(&client_key(project, id))
    }
}
