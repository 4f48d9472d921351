//! The RSA keys of a project.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | keys | `P#<P>` | `SIGNING` | 1 to 2 units to read: once a minute for each process that signs or verifies tokens of the project, and with the project's key set; about 6 to write when a key is made |
//!
//! Only projects that have made an RSA key have this item.

use model::project::Project;
use model::project::signing_key::RsaKeys;
use model::trail::{Target, TargetKind};
use wire::id::ProjectId;

use crate::keys::project_key;
use crate::project::ProjectRow;
use crate::table::{Error, Key, Store, Write, entity, integer, number};

/// The RSA keys of a project with their version; changes are conditional on the version.
#[derive(Debug, Clone, Default)]
pub struct RsaKeysRow {
    /// The keys.
    pub keys: RsaKeys,
    version: u64,
}

pub(crate) fn signing_key(project: &ProjectId) -> Key {
    Key::new(format!("P#{project}"), "SIGNING")
}

impl Store {
    /// The RSA keys of a project.
    pub async fn rsa_keys(&self, project: &ProjectId) -> Result<RsaKeysRow, Error> {
        let key = signing_key(project);
        let item = self.get_many([key.clone()]).await?.take(&key);
        let Some(item) = item else { return Ok(RsaKeysRow::default()) };
        let version = number(&item, "version").unwrap_or_default();
        Ok(RsaKeysRow { keys: entity(item)?, version })
    }

    /// A project and its RSA keys. Costs one round trip.
    pub async fn project_and_rsa_keys(&self, project: &ProjectId) -> Result<Option<(Project, RsaKeys)>, Error> {
        let (home, signing) = (project_key(project), signing_key(project));
        let mut items = self.get_many([home.clone(), signing.clone()]).await?;
        let Some(row) = items.take(&home).map(ProjectRow::of).transpose()? else { return Ok(None) };
        let keys = items.take(&signing).map(entity).transpose()?;
        Ok(Some((row.project, keys.unwrap_or_default())))
    }

    /// Replaces the RSA keys of a project; fails with [`Error::Conflict`] if they have changed
    /// since they were read.
    pub async fn replace_rsa_keys(&self, project: &ProjectId, row: &RsaKeysRow, next: &RsaKeys) -> Result<(), Error> {
        let newest = next.stored().last().map(|key| Target::new(TargetKind::SigningKey, key.public.id()));
        let write = Write::update(signing_key(project), "SET d = :d, version = :new")
            .entity(":d", next)?
            .value(":new", integer(row.version + 1))
            .targets(newest);
        let write = match row.version {
            0 => write.on("attribute_not_exists(pk)"),
            version => write.on("version = :old").value(":old", integer(version)),
        };
        self.transact([write]).await
    }
}
