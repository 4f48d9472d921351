//! Sign-ins to OAuth clients.

pub mod documents;
pub mod targets;

use errors::Error;
use model::openid::client::{Eligibility, OauthClient};
use model::permission::{PermissionId, Scope};
use model::project::Project;
use model::user::User;
use store::team::membership::member_key;

use crate::App;

/// Whether the client admits the user. Nothing is read unless the client admits only members of
/// teams.
pub async fn is_admitted(app: &App, project: &Project, client: &OauthClient, user: &User) -> Result<bool, Error> {
    Ok(match &client.admitted {
        Eligibility::Everyone => true,
        Eligibility::MembersOf(teams) => {
            let keys: Vec<_> = teams.iter().map(|team| member_key(&project.id, *team, user.id)).collect();
            let items = app.store.get_many(keys.clone()).await?;
            keys.iter().any(|key| items.has(key))
        }
        Eligibility::HoldersOf(id) => {
            let granted = project.config.rbac.granted(&user.permissions, Scope::Project, true);
            PermissionId::parse(id).is_ok_and(|id| granted.contains(&id))
        }
    })
}
