//! The definitions of team permissions and project permissions. The definitions are stored with the
//! project, so each change depends on the version of the project.

use std::sync::Arc;

use api::http::{Json, Route};
use api::product::cursor::Cursors;
use api::product::input::Nothing;
use api::product::page::{self, Limit, List, Page};
use api::product::precondition::{IfMatch, VersionedResponse};
use api::product::{Access, Admin, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::context::Context;
use model::permission::{MAX_DESCRIPTION, PermissionDefinition, PermissionId, Rbac, Refusal, Scope};
use model::project::config::permissions::definition_path;
use model::trail::TargetKind;
use store::{optimistic, record};
use utoipa::ToSchema;
use wire::change::Change;
use wire::problem::Problems;

pub(crate) const CREATE_ERRORS: &[ErrorCode] = &[
    ErrorCode::PermissionIdAlreadyExists,
    ErrorCode::ContainedPermissionNotFound,
    ErrorCode::PermissionContainsItself,
    ErrorCode::TooManyPermissions,
];
pub(crate) const UPDATE_ERRORS: &[ErrorCode] = &[
    ErrorCode::PermissionNotFound,
    ErrorCode::WrongPermissionScope,
    ErrorCode::PermissionIdAlreadyExists,
    ErrorCode::ContainedPermissionNotFound,
    ErrorCode::PermissionContainsItself,
];

/// A new permission.
#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct NewPermission {
    /// 1 to 64 characters from `a-z`, `0-9`, `_` and `:`.
    id: PermissionId,
    /// At most 256 characters.
    description: Option<String>,
    /// The permissions that this permission implies.
    contained_permission_ids: Option<Vec<PermissionId>>,
}

/// A change to a permission. Omitted fields do not change.
#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct PermissionPatch {
    /// A new id. The permission's grants are kept.
    id: Option<PermissionId>,
    /// At most 256 characters. `null` for no description.
    description: Change<String>,
    contained_permission_ids: Option<Vec<PermissionId>>,
}

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct PermissionPath {
    pub(crate) permission_id: PermissionId,
}

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct DefinitionsQuery {
    /// 1 to 200. If both `limit` and `cursor` are omitted, all permissions are on one page.
    limit: Option<Limit<200, 200>>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
    /// Selects permissions whose id or description contains this text, ignoring case.
    query: Option<String>,
}

/// The request to change the definition of the permission in the path.
pub(crate) type Update = Input<PermissionPatch, Nothing, PermissionPath>;
/// The response of a list, with the version of the project.
pub(crate) type Definitions = VersionedResponse<Json<List<PermissionDefinition>>>;

fn has(definition: &PermissionDefinition, words: Option<&str>) -> bool {
    let contains = |text: &str| words.is_none_or(|words| text.to_lowercase().contains(&words.to_lowercase()));
    contains(definition.id.as_str()) || definition.description.as_deref().is_some_and(contains)
}

pub(crate) fn list(access: &Access<Admin>, scope: Scope, query: DefinitionsQuery, route: Route) -> Result<Definitions, Error> {
    let list = page(access, scope, query, route)?;
    Ok(VersionedResponse { response: Json(list), version: access.project_version })
}

fn page(access: &Access<Admin>, scope: Scope, query: DefinitionsQuery, route: Route) -> Result<List<PermissionDefinition>, Error> {
    let paged = query.limit.is_some() || query.cursor.is_some();
    let limit = page::limit(query.limit, &route)?;
    let cursors = Cursors::of(access, format_args!("{}-permission-definitions", scope.name()));
    let after: Option<String> = cursors.position(query.cursor.as_deref())?;
    let all = access.project.config.rbac.list(scope).into_iter();
    let mut items: Vec<_> = all
        .filter(|definition| after.as_deref().is_none_or(|after| definition.id.as_str() > after) && has(definition, query.query.as_deref()))
        .collect();
    if !paged {
        return Ok(List::whole(items));
    }
    let more = items.len() > limit;
    items.truncate(limit);
    let next_cursor = cursors.next(items.last().filter(|_| more).map(|last| &last.id))?;
    Ok(Page::new(items, next_cursor).into())
}

fn check(description: Option<&str>, route: Route) -> Result<(), KnownError> {
    if description.is_some_and(|text| text.chars().count() > MAX_DESCRIPTION) {
        return Err(route.schema_error(&Problems::one("body.description", "must be at most 256 characters long")));
    }
    Ok(())
}

pub(crate) async fn create(access: Access<Admin>, scope: Scope, new: NewPermission, route: Route) -> Result<PermissionDefinition, Error> {
    check(new.description.as_deref(), route)?;
    record::target(TargetKind::Permission, &new.id);
    let contains = new.contained_permission_ids.unwrap_or_default().into_iter().collect();
    change(access, (None, Some(&new.id)), IfMatch::default(), |rbac| {
        rbac.create(&new.id, scope, new.description.clone(), std::collections::BTreeSet::clone(&contains))?;
        rbac.read(&new.id, scope)
    })
    .await
}

pub(crate) async fn update(
    access: Access<Admin>,
    scope: Scope,
    if_match: IfMatch,
    Input { body: patch, path: PermissionPath { permission_id: id }, .. }: Update,
    route: Route,
) -> Result<PermissionDefinition, Error> {
    let description = match patch.description {
        Change::Keep => None,
        Change::Clear => Some(None),
        Change::Set(text) => Some(Some(text)),
    };
    check(description.as_ref().and_then(|text| text.as_deref()), route)?;
    let contains = patch.contained_permission_ids.map(|ids| ids.into_iter().collect::<std::collections::BTreeSet<_>>());
    change(access, (Some(&id), Some(patch.id.as_ref().unwrap_or(&id))), if_match, |rbac| {
        rbac.update(&id, scope, patch.id.as_ref(), description.clone(), contains.clone())?;
        rbac.read(patch.id.as_ref().unwrap_or(&id), scope)
    })
    .await
}

pub(crate) async fn delete(access: Access<Admin>, scope: Scope, id: PermissionId) -> Result<(), Error> {
    change(access, (Some(&id), None), IfMatch::default(), |rbac| rbac.delete(&id, scope)).await
}

/// Changes the project's permissions if the project has one of the wanted versions. Tries again if
/// the project changes concurrently.
///
/// `old` and `new` are the ids of the permission before and after the change: `old` is `None` for a
/// new permission, and `new` is `None` for a deleted permission. The levels of the configuration
/// are also changed. The definition is stored in the level `environment`. If the id changes or the
/// permission is deleted, references to `old` are changed or removed in every level.
async fn change<T>(
    access: Access<Admin>,
    (old, new): (Option<&PermissionId>, Option<&PermissionId>),
    if_match: IfMatch,
    change: impl Fn(&mut Rbac) -> Result<T, Refusal>,
) -> Result<T, Error> {
    let Context { app, project, project_version: mut version, .. } = access.into_context();
    let mut project = Arc::unwrap_or_clone(project);
    optimistic!(|attempt| {
        if attempt > 0 {
            let row = app.store.project(&project.id).await?;
            let row = row.ok_or_else(|| KnownError::CurrentProjectNotFound { project_id: project.id.to_string() })?;
            (project, version) = (row.project, row.version);
        }
        if_match.check(version)?;
        let mut levels = app.store.levels(&project).await?;
        let done = change(&mut project.config.rbac)?;
        if let Some(old) = old.filter(|old| Some(*old) != new) {
            levels = levels.with_permission(old, new);
        }
        if let Some(new) = new {
            levels = levels.noted(&project, &[&definition_path(new)]);
        }
        app.store.update_project(&project, version, Some(&levels)).await?;
        Ok(done)
    })
}
