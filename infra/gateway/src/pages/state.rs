//! What pages are made of and made with.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::response::Response;
use flows::App;
use http::StatusCode;
use infra::pages::{Frame, Link};
use infra::reference::Reference;
use serde::Serialize;
use wire::id::ProjectId;

use super::answer;
use crate::inbox::Inbox;
use crate::keys::Keys;
use crate::page_key::PageKey;

/// What the private pages show of the gateway.
#[derive(Clone)]
pub struct Private {
    /// Of the project that the gateway began with.
    pub keys: Keys,
    /// Where they are kept, unless they are in memory alone.
    pub keys_file: Option<PathBuf>,
    /// What opens them.
    pub page_key: PageKey,
    /// Whether they are shown over connections that do not come from this machine.
    pub is_remote: bool,
}

/// What pages are made of. Cheap to clone.
#[derive(Clone)]
pub(super) struct Pages(pub(super) Arc<Parts>);

pub(super) struct Parts {
    pub(super) app: App,
    /// Answers the operations.
    pub(super) api: Router,
    pub(super) inbox: Inbox,
    pub(super) frame: Frame,
    pub(super) reference: OnceLock<Result<Reference, String>>,
    pub(super) private: Option<Private>,
}

impl std::ops::Deref for Pages {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// A project, as filters and rows name it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Project {
    pub(super) id: ProjectId,
    pub(super) name: String,
}

impl Pages {
    /// A page by its template, of which `here` is the entry of the navigation.
    pub(super) fn page(&self, template: &str, here: &str, page: impl Serialize) -> Response {
        answer::page(StatusCode::OK, self.frame.page(template, here, page))
    }

    pub(super) fn message(&self, status: StatusCode, title: &str, text: &str, links: &[Link]) -> Response {
        answer::page(status, self.frame.message(title, text, links))
    }

    pub(super) fn gone(&self, what: &str, back: Link) -> Response {
        self.message(StatusCode::NOT_FOUND, &format!("This {what} is not here"), "It was deleted, or the link is not whole.", &[back])
    }

    /// All projects, the one that the gateway began with first.
    pub(super) async fn projects(&self) -> Result<Vec<Project>, store::Error> {
        let first = self.private.as_ref().map(|private| &private.keys.project_id);
        let lines = self.app.store.projects().await?;
        let mut projects: Vec<Project> = lines.into_iter().map(|line| Project { id: line.id, name: line.display_name }).collect();
        projects.sort_by_cached_key(|project| (Some(&project.id) != first, project.id.is_internal(), project.name.to_lowercase()));
        Ok(projects)
    }
}
