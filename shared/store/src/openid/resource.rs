//! Resources. A resource's id is derived from its identifier, so the identifier is unique, and the
//! resource is found without an index.

use model::openid::resource::{MAX_RESOURCES, OauthResource};
use model::session::resource_scopes::ResourceIdentifier;
use model::trail::{Target, TargetKind};
use wire::id::{OauthResourceId, ProjectId};

use crate::table::{Error, Item, Key, Label, Store, Write, entity, integer, is_made, number};

const PREFIX: &str = "OAUTHRESOURCE#";

/// A resource with its version; changes are conditional on the version.
#[derive(Debug, Clone)]
pub struct ResourceRow {
    /// The resource.
    pub resource: OauthResource,
    /// The version that was read.
    pub version: u64,
}

impl ResourceRow {
    fn of(item: Item) -> Result<Self, Error> {
        let version = number(&item, "version").unwrap_or_default();
        Ok(Self { resource: entity(item)?, version })
    }
}

/// The result of creating a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Creation {
    /// The resource was created.
    Created,
    /// The project already has a resource with this identifier.
    Exists,
    /// The project has the maximum number of resources.
    TooMany,
}

/// The key of a resource.
pub fn resource_key(project: &ProjectId, id: OauthResourceId) -> Key {
    Key::new(format!("P#{project}"), format!("{PREFIX}{id}"))
}

fn count_key(project: &ProjectId) -> Key {
    Key::new(format!("P#{project}"), "OAUTHRESOURCES")
}

fn target(id: OauthResourceId) -> [Target; 1] {
    [Target::new(TargetKind::OauthResource, id)]
}

impl Store {
    /// The resource with this id.
    pub async fn oauth_resource(&self, project: &ProjectId, id: OauthResourceId) -> Result<Option<ResourceRow>, Error> {
        self.get(&resource_key(project, id)).await?.map(ResourceRow::of).transpose()
    }

    /// Those of the named resources that exist. Costs one round trip, unless nothing is named.
    pub async fn named_resources(
        &self,
        project: &ProjectId,
        named: impl IntoIterator<Item = &ResourceIdentifier>,
    ) -> Result<Vec<OauthResource>, Error> {
        let keys: Vec<Key> = named.into_iter().map(|identifier| resource_key(project, identifier.id())).collect();
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let mut items = self.get_many(keys.clone()).await?;
        let found: Result<Vec<_>, _> = keys.iter().map(|key| items.entity(key)).collect();
        Ok(found?.into_iter().flatten().collect())
    }

    /// All resources of a project, in the order of their identifiers.
    pub async fn oauth_resources(&self, project: &ProjectId) -> Result<Vec<OauthResource>, Error> {
        let items = self.query_all(self.query_prefix(format!("P#{project}"), PREFIX)).await?;
        let mut resources: Vec<OauthResource> = items.into_iter().map(entity).collect::<Result<_, _>>()?;
        resources.sort_by(|one, other| one.identifier.cmp(&other.identifier));
        Ok(resources)
    }

    /// Creates a resource.
    pub async fn create_oauth_resource(&self, project: &ProjectId, resource: &OauthResource) -> Result<Creation, Error> {
        let id = resource.identifier.id();
        let more = Write::update(count_key(project), "ADD resources :one")
            .on("attribute_not_exists(resources) OR resources < :most")
            .value(":one", integer(1))
            .value(":most", integer(MAX_RESOURCES))
            .labelled(Label::Count);
        let create = Write::create(resource_key(project, id), resource)?.attribute("version", integer(1)).targets(target(id));
        match self.transact([create, more]).await {
            Ok(()) => Ok(Creation::Created),
            Err(Error::Conflict(conflict)) if conflict.is_of(Label::Count) => Ok(Creation::TooMany),
            Err(Error::Conflict(_)) => Ok(Creation::Exists),
            Err(error) => Err(error),
        }
    }

    /// Replaces a resource; fails with [`Error::Conflict`] if the resource has changed since it was
    /// read.
    pub async fn replace_oauth_resource(&self, project: &ProjectId, row: &ResourceRow, next: &OauthResource) -> Result<(), Error> {
        let id = next.identifier.id();
        let replace = Write::update(resource_key(project, id), "SET d = :d, version = :new")
            .on("version = :old")
            .targets(target(id))
            .entity(":d", next)?
            .value(":old", integer(row.version))
            .value(":new", integer(row.version + 1));
        self.write(replace).await
    }

    /// Deletes a resource; `false` if it does not exist. Clients get no more tokens for it.
    pub async fn delete_oauth_resource(&self, project: &ProjectId, id: OauthResourceId) -> Result<bool, Error> {
        let less = Write::update(count_key(project), "ADD resources :less").value(":less", integer(-1));
        let gone = Write::delete(resource_key(project, id)).on("attribute_exists(pk)").targets(target(id));
        is_made(self.transact([gone, less]).await)
    }
}
