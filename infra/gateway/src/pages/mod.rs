//! The pages of a gateway, and who can see them.
//!
//! Documentation, the API reference and assets are public, because they reveal nothing about this
//! gateway's data. The console, the inbox and the outbox show keys and emails, so `guard` restricts
//! them to callers with the page key and, without `--remote-pages`, to the gateway's machine.
//! `--no-pages` removes the private pages. With `--console`, a gateway without private pages still
//! has the console, which is then open to everyone but contains no keys, so users must sign in. All
//! pages except the console are rendered on the server from templates in `infra/pages/`, and work
//! without scripts.

mod answer;
mod call;
mod console;
mod documents;
mod guard;
mod inbox;
mod outbox;
mod outbox_entry;
mod outbox_words;
mod request;
mod state;
mod verification;

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use flows::App;
use http::StatusCode;
use infra::pages::{CONSOLE, Frame, Link};
use request::wants_html;
use state::{Pages, Parts};

pub use self::state::PrivateDetails;
use crate::inbox::Inbox;

/// Which pages a gateway has in addition to the public ones.
pub enum Extent {
    /// Only the public pages.
    Public,
    /// The console, in which everyone must sign in.
    Console,
    /// The console, the inbox and the outbox, for callers with the page key.
    Private(PrivateDetails),
}

/// Adds the pages to the router of the operations.
pub fn with_pages(api: Router, inbox: Inbox, extent: Extent, app: &App) -> Router {
    let (frame, has_console, private) = match extent {
        Extent::Public => (Frame::new(false), false, None),
        Extent::Console => (Frame::beginning_with(&CONSOLE), true, None),
        Extent::Private(private) => (Frame::new(true), false, Some(private)),
    };
    let parts = Parts { app: app.clone(), api: api.clone(), inbox: inbox.clone(), frame, reference: OnceLock::new(), private };
    let pages = Pages(Arc::new(parts));
    let mut router = documents::router(pages.clone());
    if pages.private.is_some() {
        let guarded = inbox::router(pages.clone()).merge(outbox::router(pages.clone())).merge(crate::inbox::api::router(inbox));
        let guarded = guarded.layer(from_fn_with_state(pages.clone(), guard::holders_of_the_key));
        router = router.merge(guarded).merge(console::router(pages.clone())).merge(verification::router(pages.clone()));
    }
    if has_console {
        router = router.merge(console::with_sign_in(pages.clone()));
    }
    let router = router.layer(from_fn(answer::unless_known));
    router.fallback_service(api).layer(from_fn_with_state(pages, not_found))
}

/// Responds to people with a page instead of the API's 404 error, except on paths of the API.
async fn not_found(State(pages): State<Pages>, request: Request, next: Next) -> Response {
    let is_for_people = wants_html(request.headers()) && !request.uri().path().starts_with("/api/");
    let response = next.run(request).await;
    if response.status() != StatusCode::NOT_FOUND || !is_for_people || answer::is_html(&response) {
        return response;
    }
    let links = [Link::new("Documents", "/docs"), Link::new("API reference", "/docs/api")];
    pages.message(StatusCode::NOT_FOUND, "Page not found", "There is no page or operation at this address.", &links)
}
