//! A visit is one request for a page, with the project, the visitor and all data in the request.

pub(crate) mod account;
pub(crate) mod authorization;
pub(crate) mod call;
pub(crate) mod cookies;
pub(crate) mod document;
pub(crate) mod fields;
pub(crate) mod place;
pub(crate) mod said;
pub(crate) mod session;
pub(crate) mod visitor;
pub(crate) mod way_back;

use std::sync::Mutex;

use api::http::client::Caller;
use api::http::describe::SchemaParts;
use api::http::{Describe, Description};
use api::pages::FormFields;
use axum::extract::{FromRequestParts, RawPathParams};
use crypto::digest::Digest;
use flows::App;
use flows::limits::unproved;
use http::request::Parts;
use http::{StatusCode, header};
use jiff::SignedDuration;
use model::project::Project;
use secrecy::{ExposeSecret as _, SecretString};
use utoipa::ToSchema;
use wire::id::ProjectId;

use crate::answer::Answer;
use crate::render::language::Language;
use crate::render::{SCRIPT, failure, script_name};
use crate::visit::cookies::{Cookie, Cookies};
use crate::visit::fields::Fields;
use crate::visit::place::Place;
use crate::visit::visitor::Visitor;

/// How long the pages remember a browser, with its last sign-in method and the text to which its
/// forms are bound.
const BROWSER_LIFE: SignedDuration = SignedDuration::from_hours(24 * 180);

/// The maximum length of a query, in bytes.
const MAX_QUERY: usize = 8 * 1024;

/// The path of a page.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the path in the API document")]
pub(crate) struct PagePath {
    /// The name of the page, such as `sign-in`.
    page: String,
}

/// The tokens of a session that this request has started.
pub(crate) struct SignedIn {
    pub(crate) access_token: String,
    pub(crate) refresh_token: SecretString,
}

/// A request for a page.
pub struct Visit {
    pub(crate) app: App,
    pub(crate) project: Project,
    /// The URLs of the project's pages for this visitor.
    pub(crate) place: Place,
    /// The name of the page.
    pub(crate) page: String,
    pub(crate) query: Fields,
    /// The fields of a posted form. Empty for GET.
    pub(crate) form: Fields,
    pub(crate) language: Language,
    pub(crate) cookies: Cookies,
    /// The signed-in user, if the session in the cookie is live.
    pub(crate) visitor: Option<Visitor>,
    /// The session that this request has started.
    pub(crate) signed_in: Option<SignedIn>,
    /// The message at the top of the page if an error has occurred.
    pub(crate) problem: Option<String>,
    /// The browser's secret, to which forms are bound.
    browser: String,
    /// The cookies to set with the response.
    set: Mutex<Vec<String>>,
    parts: Parts,
}

impl FromRequestParts<App> for Visit {
    type Rejection = Answer;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Answer> {
        let path = RawPathParams::from_request_parts(parts, app).await.ok();
        let parameter = |wanted: &str| path.as_ref()?.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.to_owned());
        let (page, named) = (parameter("page"), parameter("project_id"));
        // The script is the same for all visitors, so no project is read and no cookie is set.
        if page.as_deref().is_some_and(|page| page == script_name()) {
            return Err(Answer::file("text/javascript; charset=utf-8", SCRIPT));
        }
        let query = parts.uri.query().unwrap_or_default();
        if query.len() > MAX_QUERY {
            return Err(failure(Language::choose(None, &parts.headers, false), StatusCode::URI_TOO_LONG, "no_project"));
        }
        let query = Fields::of_query(query);
        let form = parts.extensions.get::<FormFields>().map(Fields::of_form).unwrap_or_default();
        let language = Language::choose(query.get("ui_locales"), &parts.headers, app.settings.development);
        let caller = Caller::read(parts, &app.settings);
        let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let own_host = host.and_then(|host| app.settings.own_pages.project_of(host));
        let given = named.as_deref().or_else(|| query.get("project_id")).or_else(|| query.get("project")).map(ProjectId::parse);
        let id = match (own_host.clone(), given) {
            (Some(id), _) => id,
            (None, Some(Ok(id))) => id,
            (None, None) => return Err(failure(language, StatusCode::BAD_REQUEST, "no_project")),
            (None, Some(Err(_))) => return Err(failure(language, StatusCode::NOT_FOUND, "unknown_project")),
        };
        // The administrators of projects sign in to the console, which has a separate page.
        let found = if id.is_internal() { Ok(None) } else { visitor::read(app, parts, &id).await };
        let (project, cookies, visitor) = match found {
            Ok(Some(found)) => found,
            Ok(None) => return Err(no_such_project(app, language, &caller).await),
            Err(error) => {
                tracing::error!(%error, "a page cannot read its project");
                return Err(failure(language, StatusCode::INTERNAL_SERVER_ERROR, "other"));
            }
        };
        let (browser, set) = match cookies.get(Cookie::Browser) {
            Some(browser) => (browser.to_owned(), Vec::new()),
            None => {
                let browser = app.entropy.code().expose_secret().to_owned();
                let cookie = cookies.set(Cookie::Browser, &browser, Some(BROWSER_LIFE));
                (browser, vec![cookie])
            }
        };
        Ok(Self {
            place: Place::of(&app.settings.own_pages, &project.id, own_host.is_some()),
            app: app.clone(),
            project,
            page: page.unwrap_or_default(),
            query,
            form,
            language,
            cookies,
            visitor,
            signed_in: None,
            problem: None,
            browser,
            set: Mutex::new(set),
            parts: parts.clone(),
        })
    }
}

/// The page for a project that does not exist, or that has no pages. Each request for a missing
/// project counts towards a limit per IP address, so that a caller cannot try many ids.
async fn no_such_project(app: &App, language: Language, caller: &Caller) -> Answer {
    let counted = unproved(app, None, &caller.place).await;
    let is_limited = matches!(counted, Err(store::Error::Limited(_)));
    let (status, text) = if is_limited { (StatusCode::TOO_MANY_REQUESTS, "too_many") } else { (StatusCode::NOT_FOUND, "unknown_project") };
    failure(language, status, text)
}

impl Describe for Visit {
    fn describe(description: &mut Description) {
        description.path = Some(SchemaParts::of::<PagePath>());
    }
}

impl Visit {
    /// The token of the forms on this page. The token depends on the browser and the session, and
    /// is derived from cookies that another site can neither read nor set.
    pub(crate) fn form_token(&self) -> String {
        let session = self.refresh_token().unwrap_or_default();
        Digest::of(&format!("form {} {} {session}", self.project.id, self.browser)).as_str().to_owned()
    }

    /// Whether the posted form came from this browser and this origin.
    pub(crate) fn is_own_form(&self) -> bool {
        let header = |name: &str| self.parts.headers.get(name).and_then(|value| value.to_str().ok());
        let is_same_origin = match (header("sec-fetch-site"), header("origin")) {
            (Some(site), _) => site == "same-origin",
            (None, origin) => origin.is_none_or(|origin| origin == self.place.origin()),
        };
        is_same_origin && self.form.get("form_token") == Some(&self.form_token())
    }

    /// Adds a cookie to the response.
    pub(crate) fn set_cookie(&self, cookie: String) {
        if let Ok(mut set) = self.set.lock() {
            set.push(cookie);
        }
    }

    /// Records how the visitor signed in, so that the next sign-in can mark this method.
    pub(crate) fn note_way(&self, way: &str) {
        self.set_cookie(self.cookies.set(Cookie::Way, way, Some(BROWSER_LIFE)));
    }

    /// The response with the cookies that were set.
    pub(crate) fn finish(self, answer: Answer) -> Answer {
        answer.with_cookies(self.set.into_inner().unwrap_or_default())
    }
}
