//! The URLs of a project's pages. The pages are on the project's host, or on the API's host with
//! the project in the query.

use model::project::own_pages::{OwnPages, PATH};
use url::Url;
use wire::id::ProjectId;

use crate::visit::fields::Fields;

/// Where the visitor finds the project's pages: on the project's host or on the API's host.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    origin: String,
    /// The project to add to the query, unless the host identifies it.
    project: Option<ProjectId>,
    /// The origin of the API, to which providers redirect users.
    api: String,
    id: ProjectId,
}

impl Place {
    pub(crate) fn of(pages: &OwnPages, project: &ProjectId, is_own_host: bool) -> Self {
        let own = pages.host_origin(project).filter(|_| is_own_host);
        let named = own.is_none().then(|| project.clone());
        Self { origin: own.unwrap_or_else(|| pages.api()), project: named, api: pages.api(), id: project.clone() }
    }

    /// The origin of the pages.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// The path of a page, including a query.
    pub(crate) fn path(&self, page: &str, query: &Fields) -> String {
        let query = query.without(&["project_id", "project"]);
        let query = match &self.project {
            Some(project) => query.with("project_id", project.as_str()),
            None => query,
        };
        let query = query.query();
        if query.is_empty() { format!("{PATH}/{page}") } else { format!("{PATH}/{page}?{query}") }
    }

    /// The URL of a page.
    pub(crate) fn url(&self, page: &str, query: &Fields) -> String {
        format!("{}{}", self.origin, self.path(page, query))
    }

    /// The URL of a page on the API's host, whose cookies the browser sends to the callback of
    /// providers.
    pub(crate) fn url_at_api(&self, page: &str, query: Fields) -> String {
        format!("{}{PATH}/{page}?{}", self.api, query.with("project_id", self.id.as_str()).query())
    }

    /// Whether passkeys of a relying party work on the pages, because the relying party is the
    /// pages' host or a parent domain of it.
    pub(crate) fn is_below(&self, relying_party: &str) -> bool {
        let host = Url::parse(&self.origin).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
        host == relying_party || host.strip_suffix(relying_party).is_some_and(|rest| rest.ends_with('.'))
    }

    /// The URL to which `text` refers on these pages. `None` if the URL is not a page of this
    /// project.
    pub(crate) fn own(&self, text: &str, pages: &OwnPages) -> Option<Url> {
        let url = Url::parse(&self.origin).ok()?.join(text).ok()?;
        (pages.has(&self.id, &url) && url.origin().ascii_serialization() == self.origin).then_some(url)
    }
}
