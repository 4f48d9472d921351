//! Hosted pages, as seen by a browser without scripts.

mod account;
mod attacks;
mod pages;
mod sign_in;
mod way_back;

use std::cell::RefCell;
use std::collections::BTreeMap;

use support::{Answer, TestApp};
use url::form_urlencoded;

/// A browser that visits the pages of one project.
pub(crate) struct Browser<'a> {
    app: &'a TestApp,
    cookies: RefCell<BTreeMap<String, String>>,
}

impl<'a> Browser<'a> {
    pub(crate) fn new(app: &'a TestApp) -> Self {
        Self { app, cookies: RefCell::default() }
    }

    /// The path of a page of the project, with a query.
    pub(crate) fn path(&self, page: &str, query: &[(&str, &str)]) -> String {
        let project = [("project_id", self.app.project_id().as_str())];
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(query.iter().chain(&project)).finish();
        format!("/handler/{page}?{query}")
    }

    pub(crate) async fn open(&self, page: &str, query: &[(&str, &str)]) -> Answer {
        self.get(&self.path(page, query)).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.keep(self.app.anonymous().request("GET", path).header("cookie", &self.cookie()).send().await)
    }

    /// Opens a page, and sends a form of the page with its form token.
    pub(crate) async fn submit(&self, page: &str, query: &[(&str, &str)], fields: &[(&str, &str)]) -> Answer {
        let path = self.path(page, query);
        let token = form_token(&self.get(&path).await);
        self.post(&path, &[&[("form_token", token.as_str())], fields].concat()).await
    }

    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.keep(self.app.anonymous().request("POST", path).header("cookie", &self.cookie()).form(fields).send().await)
    }

    /// An access token of the signed-in user.
    pub(crate) async fn access_token_of(&self) -> String {
        let token = self.cookie_of("session").unwrap();
        let caller = self.app.client().with("x-service-refresh-token", &token);
        let answer = caller.post("/api/v1/auth/sessions/current/refresh", serde_json::json!({})).await;
        answer.json()["access_token"].as_str().unwrap().to_owned()
    }

    /// The value of the browser's cookie with this name for the project. `name` is the part of the
    /// cookie's name before the project.
    pub(crate) fn cookie_of(&self, name: &str) -> Option<String> {
        self.cookies.borrow().get(&format!("gatelet-{name}-{}", self.app.project_id())).cloned()
    }

    pub(crate) fn set_cookie(&self, name: &str, value: &str) {
        self.cookies.borrow_mut().insert(format!("gatelet-{name}-{}", self.app.project_id()), value.to_owned());
    }

    /// The number of flows that the browser has a cookie for.
    pub(crate) fn flows(&self) -> usize {
        self.cookies.borrow().keys().filter(|name| name.starts_with("gatelet-flow-")).count()
    }

    fn cookie(&self) -> String {
        self.cookies.borrow().iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
    }

    fn keep(&self, answer: Answer) -> Answer {
        for cookie in answer.headers("set-cookie") {
            let (pair, attributes) = cookie.split_once(';').unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            assert!(attributes.contains("Path=/") && attributes.contains("HttpOnly") && attributes.contains("SameSite=Lax"), "{cookie}");
            let mut cookies = self.cookies.borrow_mut();
            if attributes.contains("Max-Age=0") {
                cookies.remove(name);
            } else {
                cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        answer
    }
}

/// The form token of a page.
pub(crate) fn form_token(page: &Answer) -> String {
    hidden(page, "form_token").unwrap_or_default()
}

/// The value of a hidden field.
pub(crate) fn hidden(page: &Answer, name: &str) -> Option<String> {
    let rest = page.text().split_once(&format!("name=\"{name}\" value=\""))?.1;
    Some(rest.split_once('"')?.0.to_owned())
}

/// Creates an account on the pages.
pub(crate) async fn sign_up(browser: &Browser<'_>, email: &str) {
    let fields = [("email", email), ("password", "correct horse battery"), ("action", "password")];
    let answer = browser.submit("sign-up", &[], &fields).await;
    assert_eq!(answer.status(), 303, "{}", answer.text());
}

/// The query of a URL.
pub(crate) fn query_of(url: &str) -> BTreeMap<String, String> {
    let query = url.split_once('?').map(|(_, query)| query).unwrap_or_default();
    form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}
