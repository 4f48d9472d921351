//! Email documents of a project: templates, themes and drafts.
//!
//! The emails that the service itself sends are templates with fixed ids, and the default theme has
//! a fixed id too. A project overrides a built-in document by writing its own document with the
//! same id. Deleting the project's document restores the default.

pub mod builtin;
pub mod theme;
pub mod tsx;

use deserr::Deserr;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;
use wire::change::Change;
use wire::id::DocumentId;
use wire::problem::Problems;

use crate::document::theme::Theme;
use crate::email::category::Category;
use crate::text::line;

/// The maximum number of templates in a project; the same maximum applies to themes and to drafts.
/// Documents that override a built-in document do not count.
pub const MAX_DOCUMENTS: usize = 200;

/// The kind of a document. Ids are unique within a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DocumentKind {
    /// The sources of an email that is sent repeatedly.
    Template,
    /// The layout around emails.
    Theme,
    /// An email that is still being written.
    Draft,
}

/// A template, a theme or a draft.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MailDocument {
    /// The id, unique among documents of the same kind in a project.
    pub id: DocumentId,
    /// The name, one line of 1 to 256 characters.
    pub display_name: String,
    /// MiniJinja source of the subject; empty for a theme.
    #[serde(default)]
    pub subject: String,
    /// MiniJinja source, in HTML or MJML, of the body of an email or of the layout of a theme.
    pub html: String,
    /// MiniJinja source of the text body; derived from the HTML if absent.
    pub text: Option<String>,
    /// The theme around the email; if absent, the project's theme.
    pub theme: Option<Theme>,
    /// The category of the emails.
    #[serde(default)]
    pub category: Category,
    /// When the document was created.
    pub created_at: Timestamp,
    /// When the document was last changed.
    pub updated_at: Timestamp,
    /// When the draft was last sent; absent for templates, themes and unsent drafts.
    pub sent_at: Option<Timestamp>,
}

/// A document in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DocumentLine {
    /// The id, unique among documents of the same kind in a project.
    pub id: DocumentId,
    /// The name, one line of 1 to 256 characters.
    pub display_name: String,
    /// The theme around the email; if absent, the project's theme.
    #[serde(default)]
    pub theme: Option<Theme>,
    /// When the draft was last sent; absent for templates, themes and unsent drafts.
    #[serde(default, with = "jiff::fmt::serde::timestamp::millisecond::optional")]
    pub sent_at: Option<Timestamp>,
    /// MiniJinja source, in HTML or MJML, of the body of an email. Absent for a project's own
    /// themes.
    #[serde(default)]
    pub html: Option<String>,
}

/// The default subject of a new template or draft.
pub(crate) const FIRST_SUBJECT: &str = "News from {{ project.display_name }}";
/// The default HTML of a new template or draft.
pub(crate) const FIRST_HTML: &str = "<h1>Hello</h1>\n<p>This email has no text yet.</p>\n";
/// The default source of a new theme.
pub(crate) const FIRST_THEME: &str =
    "<!doctype html>\n<html lang=\"en\">\n<body style=\"font-family: sans-serif\">\n{{ content }}\n</body>\n</html>\n";

/// The name of a document: one line of 1 to 256 characters.
#[derive(Debug, Clone, ToSchema)]
#[schema(value_type = String, min_length = 1, max_length = 256)]
pub struct Name(pub(crate) String);

wire::deserr_from!(Name, String, |text| line::check(&text, line::NAME).map(|()| Self(text)));

/// MiniJinja source in HTML or, if its first element is `<mjml>`, in MJML.
#[derive(Debug, Clone, ToSchema)]
#[schema(value_type = String)]
pub struct HtmlSource(pub String);

wire::deserr_from!(HtmlSource, String, |text| { if tsx::is_module(&text) { Err(tsx::PROBLEM) } else { Ok(Self(text)) } });

/// The body of a request that creates a template or draft. The subject and the HTML have defaults.
#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct NewDocument {
    display_name: Name,
    /// MiniJinja source of the subject.
    subject_source: Option<String>,
    html_source: Option<HtmlSource>,
    /// An alias of `html_source`, used by published SDKs.
    tsx_source: Option<HtmlSource>,
    /// MiniJinja source of the text body; derived from the HTML if absent.
    text_source: Option<String>,
    /// `false` for no theme; absent or `null` for the project's theme.
    theme_id: Option<Theme>,
    /// `Transactional` (the default) or `Marketing`.
    notification_category_name: Option<Category>,
}

/// The body of a request that creates a theme.
#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct NewTheme {
    display_name: Name,
    /// MiniJinja source, in which `{{ content }}` stands for the body of the email.
    html_source: Option<HtmlSource>,
    /// An alias of `html_source`, used by published SDKs.
    tsx_source: Option<HtmlSource>,
}

/// A change to a template or draft; absent fields keep their values.
#[wire::optional]
#[derive(Clone, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct DocumentPatch {
    display_name: Option<Name>,
    subject_source: Option<String>,
    html_source: Option<HtmlSource>,
    /// An alias of `html_source`, used by published SDKs.
    tsx_source: Option<HtmlSource>,
    /// `null` derives the text from the HTML.
    text_source: Change<String>,
    /// `false` for no theme; `null` for the project's theme.
    theme_id: Change<Theme>,
    notification_category_name: Option<Category>,
}

/// A change to a theme; absent fields keep their values.
#[wire::optional]
#[derive(Clone, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ThemePatch {
    display_name: Option<Name>,
    html_source: Option<HtmlSource>,
    /// An alias of `html_source`, used by published SDKs.
    tsx_source: Option<HtmlSource>,
}

/// The HTML source, sent as `html_source` or as `tsx_source`, but not both.
pub fn html_of(html: Option<HtmlSource>, tsx: Option<HtmlSource>) -> Result<Option<String>, Problems> {
    match (html, tsx) {
        (Some(_), Some(_)) => Err(Problems::one("body.tsx_source", "is an alias of html_source: send only one of them")),
        (html, tsx) => Ok(html.or(tsx).map(|source| source.0)),
    }
}

impl NewDocument {
    /// The new template or draft; fails if the HTML source is given twice.
    pub fn into_document(self, id: DocumentId, now: Timestamp) -> Result<MailDocument, Problems> {
        Ok(MailDocument {
            subject: self.subject_source.unwrap_or_else(|| FIRST_SUBJECT.to_owned()),
            text: self.text_source,
            theme: self.theme_id,
            category: self.notification_category_name.unwrap_or_default(),
            ..MailDocument::new(id, self.display_name, html_of(self.html_source, self.tsx_source)?.as_deref().unwrap_or(FIRST_HTML), now)
        })
    }

    /// The id of the theme in the request, if any; the caller must check that the theme exists.
    pub fn theme_id(&self) -> Option<Uuid> {
        self.theme_id.and_then(Theme::id)
    }
}

impl NewTheme {
    /// The new theme; fails if the HTML source is given twice.
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

    /// A template that is not stored, for a preview of its source.
    pub fn from_source(html: String, now: Timestamp) -> Self {
        let name = Name("Preview".to_owned());
        Self { subject: FIRST_SUBJECT.to_owned(), ..Self::new(DocumentId::from(Uuid::nil()), name, &html, now) }
    }

    /// The document as shown in a list.
    pub fn line(&self) -> DocumentLine {
        DocumentLine {
            id: self.id,
            display_name: self.display_name.clone(),
            theme: self.theme,
            sent_at: self.sent_at,
            html: Some(self.html.clone()),
        }
    }
}

impl DocumentPatch {
    /// The template or draft with the change applied; fails if the HTML source is given twice.
    pub fn apply(self, document: MailDocument, now: Timestamp) -> Result<MailDocument, Problems> {
        let html = html_of(self.html_source, self.tsx_source)?;
        let mut document = changed(document, self.display_name, html, now);
        document.subject = self.subject_source.unwrap_or(document.subject);
        self.text_source.apply(&mut document.text);
        self.theme_id.apply(&mut document.theme);
        document.category = self.notification_category_name.unwrap_or(document.category);
        Ok(document)
    }

    /// The theme in the change, if any; the caller must check that the theme exists.
    pub fn theme(&self) -> Option<Theme> {
        match self.theme_id {
            Change::Set(theme) => Some(theme),
            Change::Keep | Change::Clear => None,
        }
    }
}

impl ThemePatch {
    /// The theme with the change applied; fails if the HTML source is given twice.
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
