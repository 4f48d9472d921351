//! What a project's mails are made from: templates, themes and drafts.
//!
//! The mails that the service itself sends are templates with fixed ids, and so is the theme that every project begins with. A project
//! changes one by writing its own under that id, and gets ours back by deleting it.

pub mod builtin;
pub mod theme;

use deserr::Deserr;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;
use wire::change::Change;
use wire::id::DocumentId;
use wire::problem::{Problems, rejected};

use crate::document::theme::Theme;
use crate::email::category::Category;
use crate::text::line;

/// How many templates a project may have, and as many themes and drafts; those in place of ours are not counted.
pub const MAX_DOCUMENTS: usize = 200;

/// Which of the three a document is; each has ids of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DocumentKind {
    Template,
    Theme,
    Draft,
}

/// A template, a theme or a draft.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MailDocument {
    pub id: DocumentId,
    pub display_name: String,
    /// MiniJinja; a theme has none.
    #[serde(default)]
    pub subject: String,
    /// MiniJinja in HTML or MJML.
    pub html: String,
    /// MiniJinja; derived from the HTML when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Absent: the project's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme: Option<Theme>,
    #[serde(default)]
    pub category: Category,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub created_at: Timestamp,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub updated_at: Timestamp,
    /// When a draft was sent last.
    #[serde(default, with = "jiff::fmt::serde::timestamp::millisecond::optional", skip_serializing_if = "Option::is_none")]
    pub sent_at: Option<Timestamp>,
}

/// A document as lists have it: without its sources.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DocumentLine {
    pub id: DocumentId,
    pub display_name: String,
    #[serde(default)]
    pub theme: Option<Theme>,
    #[serde(default, with = "jiff::fmt::serde::timestamp::millisecond::optional")]
    pub sent_at: Option<Timestamp>,
}

/// What a new template or draft begins with where the request says nothing.
pub(crate) const FIRST_SUBJECT: &str = "News from {{ project.display_name }}";
pub(crate) const FIRST_HTML: &str = "<h1>Hello</h1>\n<p>This mail has no text yet.</p>\n";
pub(crate) const FIRST_THEME: &str =
    "<!doctype html>\n<html lang=\"en\">\n<body style=\"font-family: sans-serif\">\n{{ content }}\n</body>\n</html>\n";

/// The name of a document: one line of 1 to 256 characters.
#[derive(Debug, Clone, ToSchema)]
#[schema(value_type = String, min_length = 1, max_length = 256)]
pub struct Name(pub(crate) String);

impl<E: deserr::DeserializeError> Deserr<E> for Name {
    fn deserialize_from_value<V: deserr::IntoValue>(value: deserr::Value<V>, location: deserr::ValuePointerRef<'_>) -> Result<Self, E> {
        let text = String::deserialize_from_value(value, location)?;
        line::check(&text, line::NAME).map_err(|error| rejected(&error, location))?;
        Ok(Self(text))
    }
}

/// MiniJinja in HTML, or in MJML when its first element is `<mjml>`.
#[derive(Debug, Clone, ToSchema)]
#[schema(value_type = String)]
pub struct HtmlSource(pub String);

impl<E: deserr::DeserializeError> Deserr<E> for HtmlSource {
    fn deserialize_from_value<V: deserr::IntoValue>(value: deserr::Value<V>, location: deserr::ValuePointerRef<'_>) -> Result<Self, E> {
        let text = String::deserialize_from_value(value, location)?;
        let is_module = text.lines().any(|line| line.starts_with("import ") || line.starts_with("export "));
        if is_module {
            return Err(rejected("is a TSX module: mails are made from MiniJinja in HTML or MJML here (html_source)", location));
        }
        Ok(Self(text))
    }
}

/// The body of a new template or draft. Both sources have a beginning to go on from.
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct NewDocument {
    display_name: Name,
    /// MiniJinja.
    #[deserr(default)]
    subject_source: Option<String>,
    #[deserr(default)]
    html_source: Option<HtmlSource>,
    /// Another name of `html_source`, which published SDKs use.
    #[deserr(default)]
    tsx_source: Option<HtmlSource>,
    /// MiniJinja; derived from the HTML when absent.
    #[deserr(default)]
    text_source: Option<String>,
    /// `false` for no theme; absent or `null` for the project's.
    #[deserr(default)]
    theme_id: Option<Theme>,
    /// `Transactional`, the default, or `Marketing`.
    #[deserr(default)]
    notification_category_name: Option<Category>,
}

/// The body of a new theme.
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct NewTheme {
    display_name: Name,
    /// Shows the body of a mail by `{{ content }}`.
    #[deserr(default)]
    html_source: Option<HtmlSource>,
    /// Another name of `html_source`, which published SDKs use.
    #[deserr(default)]
    tsx_source: Option<HtmlSource>,
}

/// A change of a template or draft; absent fields stay.
#[derive(Clone, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct DocumentPatch {
    #[deserr(default)]
    display_name: Option<Name>,
    #[deserr(default)]
    subject_source: Option<String>,
    #[deserr(default)]
    html_source: Option<HtmlSource>,
    /// Another name of `html_source`, which published SDKs use.
    #[deserr(default)]
    tsx_source: Option<HtmlSource>,
    /// `null` derives the text from the HTML.
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    text_source: Change<String>,
    /// `false` for no theme, `null` for the project's.
    #[deserr(default)]
    #[schema(value_type = Option<Theme>)]
    theme_id: Change<Theme>,
    #[deserr(default)]
    notification_category_name: Option<Category>,
}

/// A change of a theme; absent fields stay.
#[derive(Clone, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ThemePatch {
    #[deserr(default)]
    display_name: Option<Name>,
    #[deserr(default)]
    html_source: Option<HtmlSource>,
    /// Another name of `html_source`, which published SDKs use.
    #[deserr(default)]
    tsx_source: Option<HtmlSource>,
}

/// The one source that a request gives under two names.
pub fn html_of(html: Option<HtmlSource>, tsx: Option<HtmlSource>) -> Result<Option<String>, Problems> {
    match (html, tsx) {
        (Some(_), Some(_)) => Err(Problems::one("body.tsx_source", "is another name of html_source: only one of them can be given")),
        (html, tsx) => Ok(html.or(tsx).map(|source| source.0)),
    }
}

impl NewDocument {
    pub fn into_document(self, id: DocumentId, now: Timestamp) -> Result<MailDocument, Problems> {
        Ok(MailDocument {
            subject: self.subject_source.unwrap_or_else(|| FIRST_SUBJECT.to_owned()),
            text: self.text_source,
            theme: self.theme_id,
            category: self.notification_category_name.unwrap_or_default(),
            ..MailDocument::new(id, self.display_name, html_of(self.html_source, self.tsx_source)?.as_deref().unwrap_or(FIRST_HTML), now)
        })
    }

    pub fn theme_id(&self) -> Option<Uuid> {
        self.theme_id.and_then(Theme::id)
    }
}

impl NewTheme {
    pub fn into_document(self, id: DocumentId, now: Timestamp) -> Result<MailDocument, Problems> {
        let html = html_of(self.html_source, self.tsx_source)?;
        Ok(MailDocument::new(id, self.display_name, html.as_deref().unwrap_or(FIRST_THEME), now))
    }
}

impl MailDocument {
    fn new(id: DocumentId, name: Name, html: &str, now: Timestamp) -> Self {
        Self {
            id,
            display_name: name.0,
            subject: String::new(),
            html: html.to_owned(),
            text: None,
            theme: None,
            category: Category::default(),
            created_at: now,
            updated_at: now,
            sent_at: None,
        }
    }

    /// A template that is only looked at.
    pub fn of_source(html: String, now: Timestamp) -> Self {
        let name = Name("Preview".to_owned());
        Self { subject: FIRST_SUBJECT.to_owned(), ..Self::new(DocumentId::from(Uuid::nil()), name, &html, now) }
    }

    pub fn line(&self) -> DocumentLine {
        DocumentLine { id: self.id, display_name: self.display_name.clone(), theme: self.theme, sent_at: self.sent_at }
    }
}

impl DocumentPatch {
    pub fn apply(self, document: MailDocument, now: Timestamp) -> Result<MailDocument, Problems> {
        let html = html_of(self.html_source, self.tsx_source)?;
        let mut document = changed(document, self.display_name, html, now);
        document.subject = self.subject_source.unwrap_or(document.subject);
        self.text_source.apply(&mut document.text);
        self.theme_id.apply(&mut document.theme);
        document.category = self.notification_category_name.unwrap_or(document.category);
        Ok(document)
    }

    pub fn theme_id(&self) -> Option<Uuid> {
        match &self.theme_id {
            Change::Set(theme) => theme.id(),
            Change::Keep | Change::Clear => None,
        }
    }
}

impl ThemePatch {
    pub fn apply(self, document: MailDocument, now: Timestamp) -> Result<MailDocument, Problems> {
        Ok(changed(document, self.display_name, html_of(self.html_source, self.tsx_source)?, now))
    }
}

fn changed(document: MailDocument, name: Option<Name>, html: Option<String>, now: Timestamp) -> MailDocument {
    MailDocument {
        display_name: name.map_or(document.display_name, |name| name.0),
        html: html.unwrap_or(document.html),
        updated_at: now,
        ..document
    }
}
