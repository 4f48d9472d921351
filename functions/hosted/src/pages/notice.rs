//! Pages that only show a message or ask a question.

use http::StatusCode;
use minijinja::{Value, context};
use model::bot_challenge::GuardedOperation;

use crate::answer::Answer;
use crate::pages::ways;
use crate::visit::Visit;
use crate::visit::call::Reply;
use crate::visit::fields::Fields;

/// A page with a title, texts, buttons and links.
pub(crate) struct Notice<'a> {
    visit: &'a Visit,
    title: String,
    texts: Vec<String>,
    shown_code: Option<String>,
    problem: Option<String>,
    hidden: Vec<(&'static str, String)>,
    buttons: Vec<Value>,
    links: Vec<Value>,
    challenge: Option<Value>,
    /// The query of the URL to which the form is posted.
    query: Fields,
    status: StatusCode,
}

impl<'a> Notice<'a> {
    pub(crate) fn new(visit: &'a Visit, title: impl Into<String>) -> Self {
        let problem = visit.problem.clone();
        Self {
            visit,
            title: title.into(),
            texts: Vec::new(),
            shown_code: None,
            problem,
            hidden: Vec::new(),
            buttons: Vec::new(),
            links: Vec::new(),
            challenge: None,
            query: visit.way_back(),
            status: StatusCode::OK,
        }
    }

    pub(crate) fn text(mut self, text: impl Into<String>) -> Self {
        self.texts.push(text.into());
        self
    }

    pub(crate) fn code(self, code: &str) -> Self {
        Self { shown_code: Some(code.to_owned()), ..self }
    }

    /// Shows why an operation failed.
    pub(crate) fn refused(self, reply: &Reply) -> Self {
        let challenge = ways::challenge(self.visit, GuardedOperation::Email, Some(reply));
        Self { problem: Some(self.visit.error_text(reply)), status: reply.status, challenge, ..self }
    }

    /// Makes the form post to this page with the given query.
    pub(crate) fn keeping(self, query: Fields) -> Self {
        Self { query, ..self }
    }

    pub(crate) fn hidden(mut self, name: &'static str, value: &str) -> Self {
        self.hidden.push((name, value.to_owned()));
        self
    }

    /// A button that posts `action`.
    pub(crate) fn button(mut self, action: &'static str, text: impl Into<String>) -> Self {
        self.buttons.push(context! { value => action, text => text.into() });
        self
    }

    pub(crate) fn link(mut self, page: &str, text: impl Into<String>) -> Self {
        let href = self.visit.place.path(page, &self.visit.way_back());
        self.links.push(context! { href => href, text => text.into() });
        self
    }

    pub(crate) fn answer(self) -> Answer {
        let action = self.visit.place.path(&self.visit.page, &self.query);
        let values = context! {
            title => self.title,
            texts => self.texts,
            shown_code => self.shown_code,
            problem => self.problem,
            hidden => self.hidden,
            buttons => self.buttons,
            links => self.links,
            challenge => self.challenge,
            action => action,
        };
        self.visit.document("notice", values).status(self.status).answer()
    }
}
