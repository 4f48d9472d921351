//! Grants of team permissions: a set of strings in the member's item ([`crate::team::membership`]),
//! which one conditional write changes without reading the item. Grants of project permissions are
//! part of the user.

use aws_sdk_dynamodb::types::AttributeValue;
use model::permission::Grant;
use wire::id::{ProjectId, TeamId, UserId};

use crate::table::{Error, Store, Write, is_made, string};
use crate::team::membership::{grants_value, member_key};

impl Store {
    /// Grants a permission to a member; `false` if the member does not exist.
    pub async fn grant(&self, project: &ProjectId, team: TeamId, user: UserId, grant: &Grant) -> Result<bool, Error> {
        let write = Write::update(member_key(project, team, user), "ADD grants :grants").on("attribute_exists(pk)");
        self.written(write.value(":grants", grants_value([grant.clone()]))).await
    }

    /// Revokes a permission from a member; `false` if the member does not have it.
    pub async fn revoke(&self, project: &ProjectId, team: TeamId, user: UserId, grant: &Grant) -> Result<bool, Error> {
        let write = Write::update(member_key(project, team, user), "DELETE grants :grants").on("contains(grants, :grant)");
        let one: AttributeValue = string(&grant.0);
        self.written(write.value(":grants", grants_value([grant.clone()])).value(":grant", one)).await
    }

    async fn written(&self, write: Write) -> Result<bool, Error> {
        is_made(self.write(write).await)
    }
}
