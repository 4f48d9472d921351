//! Grants.

use model::openid::grant::OauthGrant;
use model::trail::{Event, Target, TargetKind};
use wire::id::{OauthClientId, OauthGrantId, ProjectId, UserId};

use crate::keys::user_key;
use crate::table::row::Items;
use crate::table::{Error, Key, Store, Write, entity, is_made, string};

const PREFIX: &str = "GRANT#";

/// The key of a user's grant.
pub fn grant_key(project: &ProjectId, user: UserId, id: OauthGrantId) -> Key {
    Key::new(user_key(project, user).pk, format!("{PREFIX}{id}"))
}

/// Writes a grant that the user has given or extended. Fails if, since `before` was read, another
/// request has changed the grant or the user has ended it.
pub fn replace(project: &ProjectId, user: UserId, before: Option<&OauthGrant>, grant: &OauthGrant) -> Result<Write, Error> {
    let write = Write::put(grant_key(project, user, OauthGrant::id(grant.client_id)), grant)?
        .about(user)
        .tells([Event::GrantGiven])
        .targets([Target::new(TargetKind::OauthClient, grant.client_id)]);
    Ok(match before {
        Some(before) => write
            .on("d.serial = :serial AND d.scopes = :scopes AND (attribute_not_exists(d.resources) OR d.resources = :resources)")
            .value(":serial", string(before.serial.to_string()))
            .entity(":scopes", &before.scopes)?
            .entity(":resources", &before.resources)?,
        None => write.on("attribute_not_exists(pk)"),
    })
}

impl Store {
    /// The grant of a user to a client.
    pub async fn oauth_grant(&self, project: &ProjectId, user: UserId, client: OauthClientId) -> Result<Option<OauthGrant>, Error> {
        self.get(&grant_key(project, user, OauthGrant::id(client))).await?.map(entity).transpose()
    }

    /// All grants of a user; at most one for each client.
    pub async fn oauth_grants(&self, project: &ProjectId, user: UserId) -> Result<Vec<OauthGrant>, Error> {
        let query = self.query_prefix(user_key(project, user).pk, PREFIX);
        self.query_all(query).await?.into_iter().map(entity).collect()
    }

    /// Ends a grant, and thereby all sessions based on the grant; `false` if the grant does not
    /// exist.
    pub async fn end_oauth_grant(&self, project: &ProjectId, user: UserId, id: OauthGrantId) -> Result<bool, Error> {
        let end = Write::delete(grant_key(project, user, id))
            .on("attribute_exists(pk)")
            .about(user)
            .tells([Event::GrantEnded])
            .targets([Target::new(TargetKind::OauthGrant, id)]);
        is_made(self.write(end).await)
    }
}

impl Items {
    /// The grant of a user to a client, found among items that were read.
    pub fn oauth_grant(&mut self, project: &ProjectId, user: UserId, client: OauthClientId) -> Result<Option<OauthGrant>, Error> {
        self.entity(&grant_key(project, user, OauthGrant::id(client)))
    }
}
