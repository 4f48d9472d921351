//! The documents of a visit, which are rendered from a template with the project's brand, the
//! visitor's language and the form token.

use http::StatusCode;
use minijinja::{Value, context};

use crate::answer::Answer;
use crate::render::{TURNSTILE, failure, origin, policy, script_name, templates};
use crate::visit::Visit;
use crate::visit::fields::Fields;
use crate::visit::way_back::WayBack;

/// A document that is about to be rendered.
pub(crate) struct Document<'a> {
    visit: &'a Visit,
    template: &'static str,
    values: Value,
    status: StatusCode,
    /// The URL of an image that the document shows in addition to the project's logos.
    image: Option<&'a str>,
    /// The URLs to which a form of the document may lead, in addition to these pages and the app.
    target: Option<String>,
}

impl<'a> Document<'a> {
    fn new(visit: &'a Visit, template: &'static str, values: Value) -> Self {
        Self { visit, template, values, status: StatusCode::OK, image: None, target: None }
    }

    pub(crate) fn status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// Permits the document to show this image.
    pub(crate) fn image(self, image: Option<&'a str>) -> Self {
        Self { image, ..self }
    }

    /// Permits the forms of the document to lead to this source.
    pub(crate) fn leads_to(self, target: Option<String>) -> Self {
        Self { target, ..self }
    }

    pub(crate) fn answer(self) -> Answer {
        let Self { visit, template, values, status, image, target } = self;
        let project = &visit.project;
        let place = visit.place.clone();
        let query = visit.way_back();
        let link = {
            let (place, query) = (place.clone(), query.clone());
            move |page: String| place.path(&page, &query)
        };
        let logo = project.logo_url.as_deref().or(project.logo_full_url.as_deref());
        let dark_logo = project.logo_dark_mode_url.as_deref().or(project.logo_full_dark_mode_url.as_deref()).filter(|_| logo.is_some());
        let frame = context! {
            t => visit.language.texts(),
            lang => visit.language.tag(),
            dir => visit.language.direction(),
            project => context! { id => project.id.as_str(), name => project.display_name.as_str(), logo => logo, dark_logo => dark_logo },
            form_token => visit.form_token(),
            link => Value::from_function(link),
            script => place.path(&script_name(), &Fields::default()),
            page => visit.page.as_str(),
        };
        let images = [logo, dark_logo, image].into_iter().flatten().filter_map(origin).collect::<Vec<_>>().join(" ");
        let has_turnstile = values
            .get_attr("challenge")
            .and_then(|challenge| challenge.get_attr("provider"))
            .is_ok_and(|name| name.as_str() == Some("turnstile"));
        let widgets = if has_turnstile { TURNSTILE } else { "" };
        let targets = target.into_iter().chain(WayBack::of(visit).form_target(visit)).collect::<Vec<_>>().join(" ");
        let policy = policy(&images, &targets, widgets);
        let all = context! { ..values, ..frame };
        match templates::render(template, all) {
            Ok(html) => Answer::document(status, html, &policy),
            Err(error) => {
                tracing::error!(error = format!("{error:#}"), template, "a page cannot be rendered");
                failure(visit.language, StatusCode::INTERNAL_SERVER_ERROR, "other")
            }
        }
    }
}

impl Visit {
    /// A document that is rendered from a template with the form token, the texts and the brand.
    pub(crate) fn document(&self, template: &'static str, values: Value) -> Document<'_> {
        Document::new(self, template, values)
    }
}
