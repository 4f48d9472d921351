//! Definitions of permissions, the same for both scopes: they are a part of the project, changed on the condition of its version.

use api::http::Route;
use api::product::input::Param;
use api::product::page::{self, Pagination};
use api::product::{Access, Admin, cursor};
use deserr::Deserr;
use errors::{Error, KnownError};
use flows::App;
use flows::context::{Context, ROUNDS};
use model::permission::{MAX_DESCRIPTION, PermissionDefinition, PermissionId, Rbac, Refused, Scope};
use model::trail::TargetKind;
use serde::Serialize;
use store::{optimistic, record};
use utoipa::ToSchema;
use wire::change::Change;
use wire::problem::Problems;

const MAX_LIMIT: usize = 200;

/// A new permission.
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct NewPermission {
    /// 1 to 64 of `a-z`, `0-9`, `_` and `:`.
    id: PermissionId,
    /// At most 256 characters.
    #[deserr(default)]
    description: Option<String>,
    /// Whoever has the permission has these as well.
    #[deserr(default)]
    contained_permission_ids: Option<Vec<PermissionId>>,
}

/// A change of a permission; absent fields stay as they are.
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct PermissionPatch {
    /// Another id: whoever has the permission keeps it.
    #[deserr(default)]
    id: Option<PermissionId>,
    /// At most 256 characters; `null` for none.
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    description: Change<String>,
    #[deserr(default)]
    contained_permission_ids: Option<Vec<PermissionId>>,
}

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct PermissionPath {
    pub(crate) permission_id: PermissionId,
}

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct DefinitionsQuery {
    /// 1 to 200; without it there are no pages.
    #[schema(value_type = Option<u8>, minimum = 1, maximum = 200)]
    #[deserr(default)]
    limit: Option<Param<usize>>,
    /// The `next_cursor` of the page before.
    #[deserr(default)]
    cursor: Option<String>,
    /// A part of an id or a description, in any case.
    #[deserr(default)]
    query: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct PermissionDefinitions {
    items: Vec<PermissionDefinition>,
    is_paginated: bool,
    /// Absent when there are no pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pagination: Option<Pagination>,
}

fn has(definition: &PermissionDefinition, words: Option<&str>) -> bool {
    let contains = |text: &str| words.is_none_or(|words| text.to_lowercase().contains(&words.to_lowercase()));
    contains(definition.id.as_str()) || definition.description.as_deref().is_some_and(contains)
}

pub(crate) fn list(
    app: &App,
    access: &Access<Admin>,
    scope: Scope,
    query: DefinitionsQuery,
    route: Route,
) -> Result<PermissionDefinitions, Error> {
    let paged = query.limit.is_some() || query.cursor.is_some();
    let limit = page::limit(query.limit, MAX_LIMIT, MAX_LIMIT, &route)?;
    let (project, list) = (&access.project, format!("{}-permission-definitions", scope.name()));
    let after: Option<String> = query.cursor.map(|cursor| cursor::decode(app, &project.id, &list, &cursor)).transpose()?;
    let all = project.config.rbac.list(scope).into_iter();
    let mut items: Vec<_> = all
        .filter(|definition| after.as_deref().is_none_or(|after| definition.id.as_str() > after) && has(definition, query.query.as_deref()))
        .collect();
    if !paged {
        return Ok(PermissionDefinitions { items, is_paginated: false, pagination: None });
    }
    let more = items.len() > limit;
    items.truncate(limit);
    let last = items.last().filter(|_| more);
    let next_cursor = last.map(|last| cursor::encode(app, &project.id, &list, &last.id)).transpose()?;
    Ok(PermissionDefinitions { items, is_paginated: true, pagination: Some(Pagination { next_cursor }) })
}

fn check(description: Option<&str>, route: Route) -> Result<(), KnownError> {
    if description.is_some_and(|text| text.chars().count() > MAX_DESCRIPTION) {
        return Err(route.schema_error(&Problems::one("body.description", "must have at most 256 characters")));
    }
    Ok(())
}

pub(crate) async fn create(
    app: &App,
    access: Access<Admin>,
    scope: Scope,
    new: NewPermission,
    route: Route,
) -> Result<PermissionDefinition, Error> {
    check(new.description.as_deref(), route)?;
    record::target(TargetKind::Permission, &new.id);
    let contains = new.contained_permission_ids.unwrap_or_default().into_iter().collect();
    change(app, access, |rbac| {
        rbac.create(&new.id, scope, new.description.clone(), std::collections::BTreeSet::clone(&contains))?;
        rbac.read(&new.id, scope)
    })
    .await
}

pub(crate) async fn update(
    app: &App,
    access: Access<Admin>,
    scope: Scope,
    id: PermissionId,
    patch: PermissionPatch,
    route: Route,
) -> Result<PermissionDefinition, Error> {
    let description = match patch.description {
        Change::Keep => None,
        Change::Clear => Some(None),
        Change::Set(text) => Some(Some(text)),
    };
    check(description.as_ref().and_then(|text| text.as_deref()), route)?;
    let contains = patch.contained_permission_ids.map(|ids| ids.into_iter().collect::<std::collections::BTreeSet<_>>());
    change(app, access, |rbac| {
        rbac.update(&id, scope, patch.id.as_ref(), description.clone(), contains.clone())?;
        rbac.read(patch.id.as_ref().unwrap_or(&id), scope)
    })
    .await
}

pub(crate) async fn delete(app: &App, access: Access<Admin>, scope: Scope, id: PermissionId) -> Result<(), Error> {
    change(app, access, |rbac| rbac.delete(&id, scope)).await
}

/// Changes the permissions of the project: decided again when somebody else changed the project meanwhile.
async fn change<T>(app: &App, access: Access<Admin>, change: impl Fn(&mut Rbac) -> Result<T, Refused>) -> Result<T, Error> {
    let Context { mut project, project_version: mut version, .. } = access.into_context();
    optimistic!(ROUNDS, |round| {
        if round > 0 {
            let row = app.store.project(&project.id).await?;
            let row = row.ok_or_else(|| KnownError::CurrentProjectNotFound { project_id: project.id.to_string() })?;
            (project, version) = (row.project, row.version);
        }
        let done = change(&mut project.config.rbac)?;
        app.store.update_project(&project, version).await?;
        Ok(done)
    })
}
