//! Templates and themes of mails as keys of a configuration: views of the documents of their own operations. Ours are there as well until
//! they are written over, and are back when what was written over them is taken out.

use std::collections::BTreeMap;

use deserr::Deserr;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::document::Entries;
use crate::mail::builtin;
use crate::model::id::DocumentId;
use crate::model::mail_document::{DocumentKind, FIRST_HTML, FIRST_SUBJECT, FIRST_THEME, HtmlSource, MailDocument, Name};
use crate::model::outbox::{Category, DEFAULT_THEME};
use crate::model::theme::Theme;
use crate::product_api::input::Problems;

const TEMPLATES: &str = "emails.templates";
const THEMES: &str = "emails.themes";

/// The templates and themes that a project has, without ours.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MailDocuments {
    pub templates: Vec<MailDocument>,
    pub themes: Vec<MailDocument>,
}

/// What a changed configuration does to a document.
#[derive(Debug, Clone, PartialEq)]
pub enum DocumentChange {
    /// A new one, or one in place of ours.
    Create(DocumentKind, MailDocument),
    Replace(DocumentKind, MailDocument),
    Delete(DocumentKind, DocumentId),
}

#[derive(Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(super) struct TemplateInput {
    #[deserr(default)]
    display_name: Option<Name>,
    #[deserr(default)]
    subject_source: Option<String>,
    #[deserr(default)]
    html_source: Option<HtmlSource>,
    /// Another name of `htmlSource`.
    #[deserr(default)]
    tsx_source: Option<HtmlSource>,
    #[deserr(default)]
    text_source: Option<String>,
    #[deserr(default)]
    theme_id: Option<Theme>,
    #[deserr(default)]
    notification_category_name: Option<Category>,
}

#[derive(Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(super) struct ThemeInput {
    #[deserr(default)]
    display_name: Option<Name>,
    #[deserr(default)]
    html_source: Option<HtmlSource>,
    /// Another name of `htmlSource`.
    #[deserr(default)]
    tsx_source: Option<HtmlSource>,
}

impl MailDocuments {
    /// What a configuration shows, by ids.
    pub(super) fn templates(&self) -> Map<String, Value> {
        with_ours(DocumentKind::Template, &self.templates).map(|document| (document.id.to_string(), of_template(document))).collect()
    }

    pub(super) fn themes(&self) -> Map<String, Value> {
        with_ours(DocumentKind::Theme, &self.themes).map(|document| (document.id.to_string(), of_theme(document))).collect()
    }
}

fn with_ours(kind: DocumentKind, own: &[MailDocument]) -> impl Iterator<Item = MailDocument> {
    let mut all: BTreeMap<Uuid, MailDocument> = builtin::documents(kind).into_iter().map(|ours| (ours.id.uuid(), ours)).collect();
    all.extend(own.iter().map(|own| (own.id.uuid(), own.clone())));
    all.into_values()
}

fn of_theme(document: MailDocument) -> Value {
    json!({ "displayName": document.display_name, "htmlSource": document.html })
}

fn of_template(document: MailDocument) -> Value {
    let mut value = json!({
        "displayName": document.display_name,
        "subjectSource": document.subject,
        "htmlSource": document.html,
        "notificationCategoryName": document.category,
    });
    if let Some(text) = document.text {
        value["textSource"] = json!(text);
    }
    if let Some(theme) = document.theme {
        value["themeId"] = json!(theme);
    }
    value
}

/// The path that a source has beside one of published SDKs: who writes by that name replaces it.
pub(super) fn other_name(path: &str) -> Option<String> {
    let is_document = [TEMPLATES, THEMES].iter().any(|parent| path.strip_prefix(parent).is_some_and(|rest| rest.starts_with('.')));
    path.strip_suffix(".tsxSource").filter(|_| is_document).map(|document| format!("{document}.htmlSource"))
}

/// The templates and themes of a configuration, as it was read.
pub(super) struct Written {
    templates: Entries<TemplateInput>,
    themes: Entries<ThemeInput>,
}

impl Written {
    pub(super) fn new(templates: Entries<TemplateInput>, themes: Entries<ThemeInput>) -> Self {
        Self { templates, themes }
    }

    /// What has to happen to the documents of a project, or what is wrong, by its path.
    pub(super) fn changes(self, old: &MailDocuments, selected: Option<Uuid>, now: Timestamp) -> Result<Vec<DocumentChange>, Problems> {
        let theme = |input: ThemeInput, base: MailDocument, path: &str| {
            let display_name = named(input.display_name, &base, path)?;
            Ok(MailDocument { display_name, html: source(input.html_source, input.tsx_source, path)?.unwrap_or(base.html.clone()), ..base })
        };
        let mut all = changes(DocumentKind::Theme, THEMES, self.themes, &old.themes, now, theme)?;
        let themes = all.documents;
        let exists = |id: Uuid| id == DEFAULT_THEME || themes.contains(&id);
        if selected.is_some_and(|id| !exists(id)) {
            return Err(Problems::one("emails.selectedThemeId", "must be the id of a theme"));
        }
        let template = |input: TemplateInput, base: MailDocument, path: &str| {
            if input.theme_id.and_then(Theme::id).is_some_and(|id| base.theme.and_then(Theme::id) != Some(id) && !exists(id)) {
                return Err(Problems::one(&format!("{path}.themeId"), "must be the id of a theme"));
            }
            Ok(MailDocument {
                display_name: named(input.display_name, &base, path)?,
                subject: input.subject_source.unwrap_or(base.subject.clone()),
                html: source(input.html_source, input.tsx_source, path)?.unwrap_or(base.html.clone()),
                text: input.text_source,
                theme: input.theme_id,
                category: input.notification_category_name.unwrap_or_default(),
                ..base
            })
        };
        all.changes.extend(changes(DocumentKind::Template, TEMPLATES, self.templates, &old.templates, now, template)?.changes);
        Ok(all.changes)
    }
}

/// What happens to the documents of a kind, and which ids there are then.
struct Changes {
    changes: Vec<DocumentChange>,
    documents: Vec<Uuid>,
}
