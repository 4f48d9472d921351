//! Changes the keys of a user or team, for a caller who may manage them.

use api::product::{Access, Client};
use errors::{Error, KnownError};
use flows::App;
use flows::accounts::{place, read};
use flows::email::notice;
use flows::teams::enter;
use model::owned_key::{Creator, OwnedKey, OwnedKeys, Owner, OwnerKind};
use model::permission::System;
use model::place::Place;
use model::project::{Project, ProjectConfig};
use model::team::Team;
use model::user::User;
use store::owned_key::OwnerRow;
use store::{Contention as _, Write, optimistic, team};
use wire::level::Level;

use crate::owners::exposure;

/// Rejects keys of a kind that the project has disabled.
pub(crate) fn check_enabled(config: &ProjectConfig, kind: OwnerKind) -> Result<(), KnownError> {
    let is_enabled = match kind {
        OwnerKind::User => config.user_api_keys_enabled,
        OwnerKind::Team => config.team_api_keys_enabled,
    };
    if is_enabled { Ok(()) } else { Err(KnownError::ApiKeysNotEnabled { owner: kind.name() }) }
}

/// Reads an owner whose keys the caller may manage. A client may manage the keys of its user and of
/// teams in which the user has `$manage_api_keys`. A server may manage the keys of any user or
/// team. For any other team, a client gets `API_KEY_NOT_FOUND`, so the response does not reveal
/// whether the team has keys.
pub(crate) async fn open(access: &Access<Client>, owner: Owner, attempt: u32) -> Result<OwnerRow, Error> {
    check_enabled(&access.project.config, owner.kind())?;
    match owner {
        Owner::User(id) => {
            let row = match attempt {
                0 => read(access, id).await?,
                _ => access.app.store.user(&access.project.id, id).await?,
            };
            let row = row.ok_or_else(|| KnownError::UserIdDoesNotExist { user_id: id.to_string() })?;
            access.check_again(&row.user)?;
            Ok(OwnerRow::User(Box::new(row)))
        }
        Owner::Team(id) => match enter(access.table(attempt), access, id, &[], &[System::ManageApiKeys]).await {
            Ok(entered) => Ok(OwnerRow::Team(Box::new(entered.row))),
            Err(Error::Known(error)) if access.level == Level::Client && error != KnownError::UserAuthenticationRequired => {
                Err(KnownError::ApiKeyNotFound.into())
            }
            Err(error) => Err(error),
        },
    }
}

/// Changes the keys of an owner. Returns what `change` returns.
pub(crate) async fn change<T>(
    access: &Access<Client>,
    owner: Owner,
    change: impl Fn(&mut OwnedKeys) -> Result<T, KnownError>,
) -> Result<T, Error> {
    optimistic!(|attempt| {
        let row = open(access, owner, attempt).await?;
        let mut keys = row.keys().clone();
        let result = change(&mut keys)?;
        write(&access.app, &access.project, place(access), row, keys).await?;
        Ok(result)
    })
}

/// The creator of a team's key: the client's user, or `None` if a server creates the key. `None`
/// also for a user's key, which needs no creator, because it ends with its owner's credentials.
pub(crate) fn creator(access: &Access<Client>, owner: Owner) -> Option<Creator> {
    if access.level != Level::Client || owner.kind() != OwnerKind::Team {
        return None;
    }
    let user = &access.user.as_ref()?.row.user;
    Some(Creator { user_id: user.id, owner_epoch: user.owner_epoch })
}

/// Writes the keys of an owner if the owner has not changed since it was read. Users are notified
/// of their new and exposed keys, and of keys that they create for a team. If a team's key is
/// exposed, the members who manage its keys are notified. A project can disable the notices about
/// API keys.
pub(crate) async fn write(app: &App, project: &Project, place: Option<&Place>, row: OwnerRow, keys: OwnedKeys) -> Result<(), Error> {
    if *row.keys() == keys {
        return Ok(());
    }
    match row {
        OwnerRow::User(row) => {
            let mut user = User { api_keys: keys, ..row.user.clone() };
            let notices = notice::about_change(app, project, place, &row.user, &mut user)?;
            Ok(app.store.change_account(&project.id, &row, &user, notices).await?.done()?)
        }
        OwnerRow::Team(row) => {
            let created = keys.iter().find(|key| row.team.api_keys.get(key.id).is_none()).cloned();
            let mut after = Team { api_keys: keys, ..row.team.clone() };
            let mut writes = exposure::notices(app, project, &row.team, &mut after).await?;
            writes.push(team::replace(&project.id, &after, row.version)?);
            match created.and_then(|key| Some((key.creator?, key))) {
                Some((creator, key)) => tell_creator(app, project, place, (creator, &key), writes).await,
                None => Ok(app.store.transact(writes).await?),
            }
        }
    }
}

/// Writes a new key of a team, together with the notices for its creator.
async fn tell_creator(
    app: &App,
    project: &Project,
    place: Option<&Place>,
    (creator, key): (Creator, &OwnedKey),
    mut writes: Vec<Write>,
) -> Result<(), Error> {
    let before = app.store.user(&project.id, creator.user_id).await?.ok_or_else(Error::conflict)?;
    let mut after = before.user.clone();
    writes.extend(notice::about_team_key(app, project, place, (&before.user, &mut after), key)?);
    if after == before.user {
        return Ok(app.store.transact(writes).await?);
    }
    Ok(app.store.change_account(&project.id, &before, &after, writes).await?.done()?)
}
