//! The pages of a gateway, and who may see them.
//!
//! Documents, the API reference and the files that pages load are for everybody, as they say nothing of this gateway's data. The start
//! page, the inbox and the outbox show keys and emails, so [`guard`] keeps them to the machine that the gateway runs on and to whoever has the
//! page key; `--no-pages` removes them. Pages are rendered on the server from the templates of `infra/pages/`, and work without scripts.

mod answer;
mod call;
mod documents;
pub(crate) mod guard;
mod inbox;
mod key;
mod outbox;
mod outbox_entry;
mod start;
mod verification;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use flows::App;
use http::{HeaderMap, StatusCode, header};
use infra::pages::{Frame, Link};
use infra::reference::Reference;
use serde::Serialize;
use wire::id::ProjectId;

pub use self::key::PageKey;
use crate::inbox::Inbox;
use crate::keys::Keys;

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
struct Pages(Arc<Parts>);

struct Parts {
    app: App,
    /// Answers the operations.
    api: Router,
    inbox: Inbox,
    frame: Frame,
    reference: OnceLock<Result<Reference, String>>,
    private: Option<Private>,
}

impl std::ops::Deref for Pages {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// A project, as filters and rows name it.
#[derive(Debug, Clone, Serialize)]
struct Project {
    id: ProjectId,
    name: String,
}

impl Pages {
    /// A page by its template, of which `here` is the entry of the navigation.
    fn page(&self, template: &str, here: &str, page: impl Serialize) -> Response {
        answer::page(StatusCode::OK, self.frame.page(template, here, page))
    }

    fn message(&self, status: StatusCode, title: &str, text: &str, links: &[Link]) -> Response {
        answer::page(status, self.frame.message(title, text, links))
    }

    fn gone(&self, what: &str, back: Link) -> Response {
        self.message(StatusCode::NOT_FOUND, &format!("This {what} is not here"), "It was deleted, or the link is not whole.", &[back])
    }

    /// All projects, the one that the gateway began with first.
    async fn projects(&self) -> Result<Vec<Project>, store::Error> {
        let first = self.private.as_ref().map(|private| &private.keys.project_id);
        let lines = self.app.store.projects().await?;
        let mut projects: Vec<Project> = lines.into_iter().map(|line| Project { id: line.id, name: line.display_name }).collect();
        projects.sort_by_cached_key(|project| (Some(&project.id) != first, project.id.is_internal(), project.name.to_lowercase()));
        Ok(projects)
    }
}

/// Adds the pages to the operations. Without `private` there are those for everybody alone.
pub fn with_pages(api: Router, inbox: Inbox, private: Option<Private>, app: &App) -> Router {
    let frame = Frame::new(private.is_some());
    let parts = Parts { app: app.clone(), api: api.clone(), inbox: inbox.clone(), frame, reference: OnceLock::new(), private };
    let pages = Pages(Arc::new(parts));
    let mut router = documents::router(pages.clone());
    if pages.private.is_some() {
        let guarded = inbox::router(pages.clone()).merge(outbox::router(pages.clone())).merge(crate::inbox::api::router(inbox));
        let guarded = guarded.layer(from_fn_with_state(pages.clone(), guard::holders_of_the_key));
        router = router.merge(guarded).merge(start::router(pages.clone())).merge(verification::router(pages.clone()));
    }
    let router = router.layer(from_fn(answer::unless_known));
    Router::new().merge(router).merge(api).layer(from_fn_with_state(pages, not_found))
}

/// A page for people in place of the API's 404, outside of the API itself.
async fn not_found(State(pages): State<Pages>, request: Request, next: Next) -> Response {
    let is_for_people = wants_html(request.headers()) && !request.uri().path().starts_with("/api/");
    let response = next.run(request).await;
    if response.status() != StatusCode::NOT_FOUND || !is_for_people || answer::is_html(&response) {
        return response;
    }
    let links = [Link::new("Documents", "/docs"), Link::new("API reference", "/docs/api")];
    pages.message(StatusCode::NOT_FOUND, "There is nothing here", "No page and no operation has this address.", &links)
}

/// Whether a request comes from somebody who looks at the answer: browsers name HTML when they open a page, programs do not.
fn wants_html(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accepted.split(',').any(|one| one.split(';').next().is_some_and(|one| one.trim() == "text/html"))
}

/// A path with a query.
fn path_with(path: &str, parameters: &[(&str, &str)]) -> String {
    let given = parameters.iter().filter(|(_, value)| !value.is_empty());
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_browser_wants_a_page_and_a_program_does_not() {
        let wants = |accept: &'static str| wants_html(&HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]));
        assert!(wants("text/html,application/xhtml+xml,*/*;q=0.8"));
        assert!(!wants("*/*") && !wants("application/json") && !wants_html(&HeaderMap::new()));
    }

    #[test]
    fn parameters_that_are_empty_are_left_out_of_a_link() {
        assert_eq!(path_with("/inbox", &[("q", "a&b c"), ("to", "")]), "/inbox?q=a%26b+c");
        assert_eq!(path_with("/inbox", &[("q", "")]), "/inbox");
    }
}
