//! Names, reads and changes the levels of the configuration.

use std::collections::HashMap;
use std::sync::Arc;

use api::http::Route;
use api::http::TableAction::{self, BatchGetItem, DeleteItem, GetItem, PutItem, Query, UpdateItem};
use api::product::{Access, Server};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::context::Context;
use flows::providers::test_changed;
use model::document::{DocumentKind, MAX_DOCUMENTS, MailDocument, builtin};
use model::project::Project;
use model::project::config::{self, DocumentChange, Level, LevelChange, LevelDocuments, Levels};
use model::project::source::ConfigSource;
use serde_json::{Map, Value};
use store::document::{ConfigError, DocumentRow, DocumentWrite, MAX_CHANGES};
use utoipa::ToSchema;
use wire::id::DocumentId;
use wire::json::{MAX_MARKS, is_too_complex};
use wire::problem::Problems;

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct LevelPath {
    pub(crate) level: Level,
}

/// The errors of every operation on a level.
pub(crate) const ERRORS: &[ErrorCode] = &[ErrorCode::InsufficientAccessType];

/// The errors of every operation that changes a level.
pub(crate) const CHANGE_ERRORS: &[ErrorCode] =
    &[ErrorCode::InsufficientAccessType, ErrorCode::TooManyEmailDocuments, ErrorCode::OauthProviderMisconfigured];
pub(crate) const CHANGE: [TableAction; 6] = [BatchGetItem, DeleteItem, GetItem, PutItem, Query, UpdateItem];

/// Checks the caller's access. Administrators may use every level. Servers may use only the level
/// `branch`.
pub(crate) fn permit(access: &Access<Server>, level: Level) -> Result<(), KnownError> {
    if level == Level::Branch || access.level == wire::level::Level::Admin {
        return Ok(());
    }
    Err(KnownError::InsufficientAccessType { actual_access_type: access.level.name().to_owned(), allowed_access_types: vec!["admin"] })
}

/// Parses the JSON text of an object.
pub(crate) fn parse(text: &str) -> Result<Map<String, Value>, Problems> {
    if is_too_complex(text.as_bytes()) {
        return Err(Problems::one("", format!("must have at most {MAX_MARKS} of the characters {{ [ , : outside strings")));
    }
    serde_json::from_str(text).map_err(|error| Problems::one("", format!("must be the JSON text of an object: {error}")))
}

/// The stored configuration of a project, which consists of its levels and documents.
pub(crate) struct StoredConfig {
    pub(crate) levels: Levels,
    rows: HashMap<(DocumentKind, DocumentId), DocumentRow>,
    pub(crate) documents: LevelDocuments,
}

impl StoredConfig {
    pub(crate) async fn read(app: &App, project: &Project) -> Result<Self, Error> {
        let (levels, rows) = tokio::try_join!(app.store.levels(project), app.store.templates_and_themes(&project.id))?;
        let mut documents = LevelDocuments::default();
        let mut add = |kind: DocumentKind, level: Level, document: &MailDocument| {
            let own = if level == Level::Branch { &mut documents.branch } else { &mut documents.environment };
            let list = if kind == DocumentKind::Theme { &mut own.themes } else { &mut own.templates };
            list.push(document.clone());
        };
        for (kind, row) in &rows {
            add(*kind, row.level, &row.document);
            row.below.iter().for_each(|below| add(*kind, Level::Branch, below));
        }
        let rows = rows.into_iter().map(|(kind, row)| ((kind, row.document.id), row)).collect();
        Ok(Self { levels, rows, documents })
    }

    /// The write for a change to a level's document. `None` if the document to delete does not
    /// exist.
    fn write(&self, level: Level, change: DocumentChange) -> Option<DocumentWrite> {
        let (kind, id, document) = match change {
            DocumentChange::Create(kind, document) | DocumentChange::Replace(kind, document) => (kind, document.id, Some(document)),
            DocumentChange::Delete(kind, id) => (kind, id, None),
        };
        let is_counted = builtin::document(kind, id).is_none();
        let write = |row, is_deletion| Some(DocumentWrite { kind, row, is_deletion, is_counted });
        match (self.rows.get(&(kind, id)).cloned(), document) {
            (None, document) => write(DocumentRow::new(document?, level), false),
            (Some(row), Some(document)) if level == Level::Environment => write(row.at_environment(document), false),
            (Some(row), document) if level == Level::Branch && row.level == Level::Environment => {
                write(DocumentRow { below: document, ..row }, false)
            }
            (Some(row), Some(document)) => write(DocumentRow { document, ..row }, false),
            (Some(DocumentRow { below: Some(document), version, .. }), None) => {
                write(DocumentRow { document, version, level: Level::Branch, below: None }, false)
            }
            (Some(row), None) => write(row, true),
        }
    }
}

/// Changes a level of the configuration, together with the project's settings and documents, in one
/// transaction.
///
/// `source` is the new source of the configuration. `None` keeps the current source.
pub(crate) async fn apply(
    access: Access<Server>,
    level: Level,
    change: &LevelChange,
    source: Option<ConfigSource>,
) -> Result<Result<(), Problems>, Error> {
    let Context { app, project, project_version, .. } = access.into_context();
    let mut project = Arc::unwrap_or_clone(project);
    let stored = StoredConfig::read(&app, &project).await?;
    project.config_source = source.unwrap_or(project.config_source);
    let (deployment, documents) = (app.deployment(), &stored.documents);
    let before = project.config.clone();
    let changed = match config::change(stored.levels.clone(), (level, change), (project, documents), &deployment, app.clock.now()) {
        Ok(changed) => changed,
        Err(problems) => return Ok(Err(problems)),
    };
    test_changed(&app, &changed.project.id, &before, &changed.project.config).await?;
    if changed.documents.len() > MAX_CHANGES {
        let message =
            format!("must not change more than {MAX_CHANGES} templates and themes at once: split the change into several requests");
        return Ok(Err(Problems::one("emails", message)));
    }
    let writes: Vec<DocumentWrite> = changed.documents.into_iter().filter_map(|change| stored.write(level, change)).collect();
    match app.store.update_configuration((&changed.project, project_version), &changed.levels, &writes).await {
        Ok(()) => Ok(Ok(())),
        Err(ConfigError::TooManyDocuments) => Err(KnownError::TooManyEmailDocuments { max: MAX_DOCUMENTS }.into()),
        Err(ConfigError::Store(error)) => Err(error.into()),
    }
}

/// The schema error for problems in the text of a field.
pub(crate) fn refused(problems: Problems, field: &str, route: &Route) -> Error {
    route.schema_error(&problems.within(&format!("body.{field}"))).into()
}
