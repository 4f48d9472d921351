//! The levels of the configuration, as requests name, read and change them.

use std::collections::HashMap;

use api::http::Route;
use api::http::TableAction::{self, BatchGetItem, DeleteItem, PutItem, Query, UpdateItem};
use api::product::{Access, Server};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::context::Context;
use model::document::{DocumentKind, MAX_DOCUMENTS, builtin};
use model::project::config::settings::Config;
use model::project::config::{self, DocumentChange, Level, MailDocuments};
use serde_json::{Map, Value};
use store::document::{ConfigError, DocumentRow, DocumentWrite, MAX_CHANGES};
use utoipa::ToSchema;
use wire::id::{DocumentId, ProjectId};
use wire::problem::Problems;

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct LevelPath {
    pub(crate) level: Level,
}

/// The errors of every operation on a level.
pub(crate) const ERRORS: &[ErrorCode] = &[ErrorCode::InsufficientAccessType];

/// The errors and the actions of every operation that changes one.
pub(crate) const CHANGE_ERRORS: &[ErrorCode] = &[ErrorCode::InsufficientAccessType, ErrorCode::TooManyEmailDocuments];
pub(crate) const CHANGE: [TableAction; 5] = [BatchGetItem, DeleteItem, PutItem, Query, UpdateItem];

/// A server may do with the branch what an administrator may do with every level.
pub(crate) fn permit(access: &Access<Server>, level: Level) -> Result<(), KnownError> {
    if level == Level::Branch || access.level == wire::level::Level::Admin {
        return Ok(());
    }
    Err(KnownError::InsufficientAccessType { actual_access_type: access.level.name().to_owned(), allowed_access_types: vec!["admin"] })
}

/// Reads the JSON text of an object.
pub(crate) fn parse(text: &str) -> Result<Map<String, Value>, Problems> {
    serde_json::from_str(text).map_err(|error| Problems::one("", format!("must be the JSON text of an object: {error}")))
}

/// The templates and themes of a project, with the versions that a change of them is conditional on.
pub(crate) struct Documents {
    versions: HashMap<(DocumentKind, DocumentId), u64>,
    pub(crate) own: MailDocuments,
}

impl Documents {
    pub(crate) async fn of(app: &App, project: &ProjectId) -> Result<Self, Error> {
        let (mut versions, mut own) = (HashMap::new(), MailDocuments::default());
        for (kind, DocumentRow { document, version }) in app.store.templates_and_themes(project).await? {
            versions.insert((kind, document.id), version);
            let list = if kind == DocumentKind::Theme { &mut own.themes } else { &mut own.templates };
            list.push(document);
        }
        Ok(Self { versions, own })
    }

    fn write(&self, change: DocumentChange) -> DocumentWrite {
        let (kind, id) = match &change {
            DocumentChange::Create(kind, document) | DocumentChange::Replace(kind, document) => (*kind, document.id),
            DocumentChange::Delete(kind, id) => (*kind, *id),
        };
        let version = self.versions.get(&(kind, id)).copied().unwrap_or_default();
        DocumentWrite { change, version, is_counted: builtin::document(kind, id).is_none() }
    }
}

/// Makes a changed configuration the settings and documents of the project, all or nothing.
pub(crate) async fn write(
    app: &App,
    access: Access<Server>,
    config: &Config,
    documents: &Documents,
) -> Result<Result<(), Problems>, Error> {
    let Context { project, project_version, .. } = access.into_context();
    let deployment = app.deployment();
    let changed = match config::read(config, project, &documents.own, &deployment, app.clock.now()) {
        Ok(changed) => changed,
        Err(problems) => return Ok(Err(problems)),
    };
    if changed.documents.len() > MAX_CHANGES {
        let message = format!("change together by more than {MAX_CHANGES} templates and themes: change some of them first");
        return Ok(Err(Problems::one("emails", message)));
    }
    let writes: Vec<DocumentWrite> = changed.documents.into_iter().map(|change| documents.write(change)).collect();
    match app.store.update_configuration(&changed.project, project_version, &writes).await {
        Ok(()) => Ok(Ok(())),
        Err(ConfigError::TooManyDocuments) => Err(KnownError::TooManyEmailDocuments { max: MAX_DOCUMENTS }.into()),
        Err(ConfigError::Store(error)) => Err(error.into()),
    }
}

/// What is wrong with the text in a field of the body.
pub(crate) fn refused(problems: Problems, field: &str, route: &Route) -> Error {
    route.schema_error(&problems.within(&format!("body.{field}"))).into()
}
