//! The state that all pages share.

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

/// Details of the gateway that the private pages show.
#[derive(Clone)]
pub struct PrivateDetails {
    /// The keys of the gateway's first project.
    pub keys: Keys,
    /// The file with the keys; `None` if the keys are kept only in memory.
    pub keys_file: Option<PathBuf>,
    /// The key that gives access to the private pages.
    pub page_key: PageKey,
    /// Whether remote connections may open the private pages.
    pub is_remote: bool,
}

/// The state of the pages. Cheap to clone.
#[derive(Clone)]
pub(super) struct Pages(pub(super) Arc<Parts>);

pub(super) struct Parts {
    pub(super) app: App,
    /// The router of the operations.
    pub(super) api: Router,
    pub(super) inbox: Inbox,
    pub(super) frame: Frame,
    pub(super) reference: OnceLock<Result<Reference, String>>,
    pub(super) private: Option<PrivateDetails>,
}

impl std::ops::Deref for Pages {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// A project as it is shown in filters and rows.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Project {
    pub(super) id: ProjectId,
    pub(super) name: String,
}

impl Pages {
    /// Renders a page from its template. `here` is the page's entry in the navigation.
    pub(super) fn page(&self, template: &str, here: &str, page: impl Serialize) -> Response {
        answer::page(StatusCode::OK, self.frame.page(template, here, page))
    }

    pub(super) fn message(&self, status: StatusCode, title: &str, text: &str, links: &[Link]) -> Response {
        answer::page(status, self.frame.message(title, text, links))
    }

    pub(super) fn gone(&self, what: &str, back: Link) -> Response {
        self.message(StatusCode::NOT_FOUND, &format!("This {what} does not exist"), "It was deleted, or the link is incomplete.", &[back])
    }

    /// All projects; the gateway's first project comes first.
    pub(super) async fn projects(&self) -> Result<Vec<Project>, store::Error> {
        let first = self.private.as_ref().map(|private| &private.keys.project_id);
        let lines = self.app.store.projects().await?;
        let mut projects: Vec<Project> = lines.into_iter().map(|line| Project { id: line.id, name: line.display_name }).collect();
        projects.sort_by_cached_key(|project| (Some(&project.id) != first, project.id.is_internal(), project.name.to_lowercase()));
        Ok(projects)
    }
}
