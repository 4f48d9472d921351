//! Builds the content of an email from the request's HTML, a template or a draft, and from a theme.

use api::http::Route;
use api::product::{Access, Server};
use errors::Error;
use jiff::Timestamp;
use model::document::theme::Theme;
use model::document::{DocumentKind, MailDocument};
use model::email::category::Category;
use model::outbox::{CreatedWith, NewEntry, Recipients, Source};
use serde_json::{Map, Value};
use uuid::Uuid;
use wire::id::DocumentId;
use wire::problem::Problems;

use crate::documents::found::documents;
use crate::sending::request::SendEmail;

/// The content of an email, which is the same for all recipients.
pub(crate) struct Content {
    pub(crate) source: Source,
    pub(crate) variables: Map<String, Value>,
    pub(crate) category: Category,
    pub(crate) created_with: CreatedWith,
}

/// The source of the content. A request names exactly one source.
enum Origin {
    Html(String),
    Template(DocumentId),
    Draft(DocumentId),
}

fn invalid(route: &Route, path: &str, message: &str) -> Error {
    route.schema_error(&Problems::one(path, message)).into()
}

impl Origin {
    fn parse(body: &SendEmail, route: &Route) -> Result<Self, Error> {
        match (&body.html, body.template_id, body.draft_id) {
            (Some(html), None, None) => Ok(Self::Html(html.0.clone())),
            (None, Some(id), None) => Ok(Self::Template(id)),
            (None, None, Some(id)) => Ok(Self::Draft(id)),
            _ => Err(invalid(route, "body", "must have exactly one of html, template_id and draft_id")),
        }
    }

    fn document(&self) -> Option<(DocumentKind, DocumentId)> {
        match self {
            Self::Html(_) => None,
            Self::Template(id) => Some((DocumentKind::Template, *id)),
            Self::Draft(id) => Some((DocumentKind::Draft, *id)),
        }
    }
}

impl Content {
    /// Reads the documents that the request names, in one round trip.
    pub(crate) async fn read(access: &Access<Server>, body: &SendEmail, route: &Route) -> Result<Self, Error> {
        let origin = Origin::parse(body, route)?;
        let theme = body.theme_id.and_then(Theme::id).map(|id| (DocumentKind::Theme, DocumentId::from(id)));
        let [document, theme] = documents(&access.app, &access.project.id, [origin.document(), theme]).await?;
        match (&origin, &document) {
            (Origin::Template(_), None) => return Err(invalid(route, "body.template_id", "must be the id of a template")),
            (Origin::Draft(_), None) => return Err(invalid(route, "body.draft_id", "must be the id of a draft")),
            _ if theme.is_none() && body.theme_id.and_then(Theme::id).is_some() => {
                return Err(invalid(route, "body.theme_id", "must be the id of a theme"));
            }
            _ => {}
        }
        Ok(Self::new(body, &origin, document, access.project.config.email.theme()))
    }

    /// Creates the email, which has no recipient yet.
    pub(crate) fn entry(self, body: &SendEmail) -> NewEntry {
        NewEntry {
            to: Recipients::CustomEmails { emails: Vec::new() },
            source: self.source,
            variables: self.variables,
            category: self.category,
            is_high_priority: body.is_high_priority.unwrap_or(false),
            created_with: self.created_with,
            scheduled_at: body.scheduled_at_millis.map(|time| time.0).filter(|time| *time != Timestamp::UNIX_EPOCH),
        }
    }

    fn new(body: &SendEmail, origin: &Origin, document: Option<MailDocument>, project_theme: Uuid) -> Self {
        let theme = body.theme_id.or_else(|| document.as_ref().and_then(|document| document.theme));
        let category = body.notification_category_name.or_else(|| document.as_ref().map(|document| document.category));
        let (template_id, draft_id, created_with) = match origin {
            Origin::Html(_) => (None, None, CreatedWith::ProgrammaticCall),
            Origin::Template(id) => (Some(id.uuid()), None, CreatedWith::ProgrammaticCall),
            Origin::Draft(id) => (None, Some(id.uuid()), CreatedWith::Draft),
        };
        let (subject, html, text) = match (origin, document) {
            (Origin::Html(html), _) => (None, html.clone(), None),
            (_, document) => document.map(|document| (Some(document.subject), document.html, document.text)).unwrap_or_default(),
        };
        let source = Source {
            builtin: None,
            subject: body.subject.clone().or(subject),
            html: Some(html),
            text,
            theme_id: theme.map_or(Some(project_theme), Theme::id),
            template_id,
            draft_id,
        };
        let variables = body.variables.as_ref().map(|variables| variables.0.clone()).unwrap_or_default();
        Self { source, variables, category: category.unwrap_or_default(), created_with }
    }
}
