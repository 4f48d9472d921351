//! `/handler/account-settings`, as used by a browser without scripts.

mod belongings;
mod confirm;
mod page;
mod sign_in;

use std::collections::BTreeMap;

use serde_json::Value;
use support::{Answer, RequestBuilder, SignedInUser, TestApp};

/// A browser that has the cookies of one project's pages.
pub(super) struct Browser<'a> {
    app: &'a TestApp,
    path: String,
    cookies: BTreeMap<String, String>,
}

impl<'a> Browser<'a> {
    /// A browser without a session.
    pub(super) fn new(app: &'a TestApp) -> Self {
        let path = format!("/handler/account-settings?project_id={}", app.project_id());
        Self { app, path, cookies: BTreeMap::new() }
    }

    /// A browser where this user has signed in.
    pub(super) fn of(app: &'a TestApp, user: &SignedInUser) -> Self {
        let mut browser = Self::new(app);
        browser.cookies.insert(format!("gatelet-session-{}", app.project_id()), user.refresh_token.clone());
        browser
    }

    /// Sends a request with the browser's cookies, and stores the cookies from the response.
    pub(super) async fn send(&mut self, request: RequestBuilder) -> Answer {
        let cookies = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ");
        let response = self.app.answer(request.header("cookie", &cookies).build()).await;
        for cookie in response.headers().get_all("set-cookie") {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            if value.is_empty() {
                self.cookies.remove(name)
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned())
            };
        }
        Answer::read(response).await
    }

    pub(super) async fn get(&mut self, path: &str) -> Answer {
        let request = self.app.anonymous().request("GET", path);
        self.send(request).await
    }

    /// Opens the page.
    pub(super) async fn open(&mut self) -> String {
        let answer = self.get(&self.path.clone()).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        answer.text().to_owned()
    }

    pub(super) fn request(&self, method: &str) -> RequestBuilder {
        self.app.anonymous().request(method, &self.path)
    }

    /// Sends a form of the page with the page's form token.
    pub(super) async fn post(&mut self, fields: &[(&str, &str)]) -> Answer {
        let token = value(&self.open().await, "form_token");
        let fields: Vec<_> = [("form_token", token.as_str())].into_iter().chain(fields.iter().copied()).collect();
        let request = self.request("POST").form(&fields);
        self.send(request).await
    }

    /// Sends a form that makes a change, and opens the page again, which must show `text`.
    pub(super) async fn change(&mut self, fields: &[(&str, &str)], text: &str) -> String {
        let answer = self.post(fields).await;
        assert_eq!(answer.status(), 303, "{}", answer.text());
        let location = answer.header("location").unwrap().to_owned();
        let path = location.strip_prefix(support::API_URL).unwrap();
        assert!(path.starts_with("/handler/account-settings?"), "{location}");
        let page = self.get(path.split('#').next().unwrap()).await.text().to_owned();
        assert_has(&page, text);
        page
    }

    /// Presses a button that sends no additional fields.
    pub(super) async fn press(&mut self, action: &str, text: &str) -> String {
        self.change(&[("action", action)], text).await
    }

    /// Sends a form that must be refused with this text.
    pub(super) async fn refused(&mut self, fields: &[(&str, &str)], text: &str) -> Answer {
        let answer = self.post(fields).await;
        assert!(answer.status() >= 400, "{} {}", answer.status(), answer.text());
        assert_has(answer.text(), text);
        answer
    }
}

/// The value of the first hidden field with this name.
pub(super) fn value(page: &str, name: &str) -> String {
    let (_, rest) = page.split_once(&format!("name=\"{name}\" value=\"")).unwrap_or_else(|| panic!("no {name} in {page}"));
    rest.split('"').next().unwrap().replace("&amp;", "&").replace("&#x2f;", "/")
}

#[track_caller]
pub(super) fn assert_has(page: &str, text: &str) {
    assert!(page.contains(text), "{text:?} is missing: {}", page.split("</style>").last().unwrap());
}

#[track_caller]
pub(super) fn assert_lacks(page: &str, text: &str) {
    assert!(!page.contains(text), "{text:?} should not be there: {}", page.split("</style>").last().unwrap());
}

/// The items that an operation lists for the user.
pub(super) async fn items(app: &TestApp, user: &SignedInUser, path: &str) -> Vec<Value> {
    let answer = app.signed_in(user).get(path).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()["items"].as_array().unwrap().clone()
}

pub(super) fn id(item: &Value) -> &str {
    item["id"].as_str().unwrap()
}
