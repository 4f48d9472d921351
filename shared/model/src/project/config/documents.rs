//! Email templates and themes as keys of a configuration. Templates and themes can be changed in
//! the configuration or through separate operations. A built-in document applies unless a level
//! contains a document with the same id.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use uuid::Uuid;
use wire::id::DocumentId;
use wire::problem::Problems;

use crate::document::theme::{DEFAULT_THEME, Theme};
use crate::document::{DocumentKind, FIRST_HTML, FIRST_SUBJECT, FIRST_THEME, HtmlSource, MailDocument, Name, builtin};
use crate::email::category::Category;
use crate::project::config::flat::{Flat, flatten};
use crate::project::config::parts::{Entries, parts};
use crate::text::line;

pub(crate) const TEMPLATES: &str = "emails.templates";
pub(crate) const THEMES: &str = "emails.themes";

/// The templates and themes of a project or of one of its levels, without the built-in ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MailDocuments {
    /// The templates.
    pub templates: Vec<MailDocument>,
    /// The themes.
    pub themes: Vec<MailDocument>,
}

/// The effect of a change to a level on the level's documents.
#[derive(Debug, Clone, PartialEq)]
pub enum DocumentChange {
    /// Creates a document. The new document may override a built-in document or a document of the
    /// level below.
    Create(DocumentKind, MailDocument),
    /// Replaces a document of the level.
    Replace(DocumentKind, MailDocument),
    /// Deletes a document of the level.
    Delete(DocumentKind, DocumentId),
}

parts! {
    TemplateInput {
        display_name: Option<Name>,
        subject_source: Option<String>,
        html_source: Option<HtmlSource>,
        /// An alias of `htmlSource`.
        tsx_source: Option<HtmlSource>,
        text_source: Option<String>,
        theme_id: Option<Theme>,
        notification_category_name: Option<Category>,
    }

    ThemeInput {
        display_name: Option<Name>,
        html_source: Option<HtmlSource>,
        /// An alias of `htmlSource`.
        tsx_source: Option<HtmlSource>,
    }
}

impl MailDocuments {
    /// The documents, and the built-in documents that they do not override, by path.
    pub(crate) fn flat(&self) -> Flat {
        let mut all = Flat::new();
        flatten("emails".to_owned(), json!({ "templates": self.templates(), "themes": self.themes() }), &mut all);
        all
    }

    /// The templates as values of a configuration, by id.
    pub(crate) fn templates(&self) -> Map<String, Value> {
        with_ours(DocumentKind::Template, &self.templates).map(|document| (document.id.to_string(), template_value(document))).collect()
    }

    pub(crate) fn themes(&self) -> Map<String, Value> {
        with_ours(DocumentKind::Theme, &self.themes).map(|document| (document.id.to_string(), theme_value(document))).collect()
    }
}

fn with_ours(kind: DocumentKind, own: &[MailDocument]) -> impl Iterator<Item = MailDocument> {
    let mut all: BTreeMap<Uuid, MailDocument> = builtin::documents(kind).into_iter().map(|ours| (ours.id.uuid(), ours)).collect();
    all.extend(own.iter().map(|own| (own.id.uuid(), own.clone())));
    all.into_values()
}

pub(crate) fn theme_value(document: MailDocument) -> Value {
    json!({ "displayName": line::stripped(&document.display_name), "htmlSource": document.html })
}

pub(crate) fn template_value(document: MailDocument) -> Value {
    let mut value = json!({
        "displayName": line::stripped(&document.display_name),
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

/// The path of the document that contains the key at `path`, with a trailing dot; `None` if the key
/// is not in a document.
pub(crate) fn document_of(path: &str) -> Option<&str> {
    let parent = [TEMPLATES, THEMES].into_iter().find(|parent| path.strip_prefix(parent).is_some_and(|rest| rest.starts_with('.')))?;
    let id = path[parent.len() + 1..].find('.')?;
    Some(&path[..=parent.len() + 1 + id])
}

/// The path of a document's `htmlSource`, if `path` is its alias `tsxSource`; otherwise `None`.
/// Writing the alias replaces `htmlSource`.
pub(crate) fn other_name(path: &str) -> Option<String> {
    document_of(path).filter(|document| path[document.len()..] == *"tsxSource").map(|document| format!("{document}htmlSource"))
}

/// The documents before a change to a level.
pub(crate) struct StartingDocuments {
    /// The level's own documents.
    pub(crate) own: MailDocuments,
    /// The documents of the level below.
    pub(crate) below: MailDocuments,
    /// The ids of the themes in the level above; empty for the environment.
    pub(crate) other_themes: Vec<Uuid>,
}

/// The templates and themes of a configuration after parsing.
pub(crate) struct ParsedDocuments {
    templates: Entries<TemplateInput>,
    themes: Entries<ThemeInput>,
}

impl ParsedDocuments {
    pub(crate) fn new(templates: Entries<TemplateInput>, themes: Entries<ThemeInput>) -> Self {
        Self { templates, themes }
    }

    /// The changes to the documents of a level, or the problems, by path.
    ///
    /// `selected` is the theme that this change selects for the project; `None` if the project
    /// keeps its current theme.
    pub(crate) fn changes(
        self,
        StartingDocuments { own: old, below, other_themes }: &StartingDocuments,
        selected: Option<Uuid>,
        now: Timestamp,
    ) -> Result<Vec<DocumentChange>, Problems> {
        let theme = |input: ThemeInput, base: MailDocument, path: &str| {
            let display_name = named(input.display_name, &base, path)?;
            Ok(MailDocument { display_name, html: source(input.html_source, input.tsx_source, path)?.unwrap_or(base.html.clone()), ..base })
        };
        let Changes { mut changes, documents: themes } =
            DocumentsOfKind { kind: DocumentKind::Theme, parent: THEMES, own: &old.themes, below: &below.themes }.changed(
                self.themes,
                now,
                theme,
            )?;
        let exists = |id: Uuid| id == DEFAULT_THEME || themes.contains(&id) || other_themes.contains(&id);
        if selected.is_some_and(|id| !exists(id)) {
            return Err(Problems::one("emails.selectedThemeId", "must be the id of a theme"));
        }
        let template = |input: TemplateInput, base: MailDocument, path: &str| {
            let had = old.templates.iter().find(|old| old.id == base.id).and_then(|old| old.theme);
            // A template may keep the id of a deleted theme, so that the deletion does not block
            // later changes.
            if input.theme_id != had && input.theme_id.and_then(Theme::id).is_some_and(|id| !exists(id)) {
                return Err(Problems::one(&format!("{path}.themeId"), "must be the id of a theme"));
            }
            Ok(MailDocument {
                display_name: named(input.display_name, &base, path)?,
                subject: input.subject_source.unwrap_or(base.subject.clone()),
                html: source(input.html_source, input.tsx_source, path)?.unwrap_or(base.html.clone()),
                text: input.text_source,
                theme: input.theme_id,
                category: input.notification_category_name.unwrap_or(base.category),
                ..base
            })
        };
        changes.extend(
            DocumentsOfKind { kind: DocumentKind::Template, parent: TEMPLATES, own: &old.templates, below: &below.templates }
                .changed(self.templates, now, template)?
                .changes,
        );
        Ok(changes)
    }
}

/// The changes to the documents of one kind, and the ids of these documents in the configuration.
struct Changes {
    changes: Vec<DocumentChange>,
    documents: Vec<Uuid>,
}

/// A level's documents of one kind, with their path in the configuration.
struct DocumentsOfKind<'a> {
    kind: DocumentKind,
    parent: &'static str,
    own: &'a [MailDocument],
    /// The documents of the level below.
    below: &'a [MailDocument],
}

impl DocumentsOfKind<'_> {
    fn changed<T>(
        &self,
        written: Entries<T>,
        now: Timestamp,
        apply: impl Fn(T, MailDocument, &str) -> Result<MailDocument, Problems>,
    ) -> Result<Changes, Problems> {
        let Self { kind, parent, own, below } = *self;
        let (mut changes, mut documents) = (Vec::new(), Vec::new());
        for (id, input) in written.0 {
            let path = format!("{parent}.{id}");
            let id = id.parse::<Uuid>().map(DocumentId::from).map_err(|_| Problems::one(&path, "must have a UUID as its key"))?;
            if documents.contains(&id.uuid()) {
                return Err(Problems::one(&path, "occurs twice"));
            }
            documents.push(id.uuid());
            let below = below.iter().find(|below| below.id == id).cloned();
            let (ours, old) = (below.or_else(|| builtin::document(kind, id)), own.iter().find(|own| own.id == id));
            let base = ours.clone().unwrap_or_else(|| first(kind, id));
            let times = old.unwrap_or(&base);
            let wanted = MailDocument { created_at: times.created_at, updated_at: times.updated_at, ..apply(input, base.clone(), &path)? };
            let created = |document| MailDocument { created_at: now, updated_at: now, ..document };
            match old {
                Some(old) if *old == wanted => {}
                _ if ours.as_ref()
                    == Some(&MailDocument { created_at: base.created_at, updated_at: base.updated_at, ..wanted.clone() }) =>
                {
                    changes.extend(old.map(|_| DocumentChange::Delete(kind, id)));
                }
                Some(_) => changes.push(DocumentChange::Replace(kind, MailDocument { updated_at: now, ..wanted })),
                None => changes.push(DocumentChange::Create(kind, created(wanted))),
            }
        }
        let gone = own.iter().filter(|own| !documents.contains(&own.id.uuid()));
        changes.extend(gone.map(|own| DocumentChange::Delete(kind, own.id)));
        Ok(Changes { changes, documents })
    }
}

/// A new document with default values.
fn first(kind: DocumentKind, id: DocumentId) -> MailDocument {
    let (subject, html) = if kind == DocumentKind::Theme { ("", FIRST_THEME) } else { (FIRST_SUBJECT, FIRST_HTML) };
    MailDocument {
        id,
        display_name: String::new(),
        subject: subject.to_owned(),
        html: html.to_owned(),
        text: None,
        theme: None,
        category: Category::default(),
        created_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
        sent_at: None,
    }
}

/// The name in the configuration or, if absent, the name of `base`, the overridden document. Fails
/// if neither exists.
fn named(name: Option<Name>, base: &MailDocument, path: &str) -> Result<String, Problems> {
    match name {
        Some(name) => Ok(name.0),
        None if base.display_name.is_empty() => Err(Problems::one(&format!("{path}.displayName"), "is required")),
        None => Ok(base.display_name.clone()),
    }
}

fn source(html: Option<HtmlSource>, tsx: Option<HtmlSource>, path: &str) -> Result<Option<String>, Problems> {
    if html.is_some() && tsx.is_some() {
        return Err(Problems::one(&format!("{path}.tsxSource"), "is an alias of htmlSource: set only one of them"));
    }
    Ok(html.or(tsx).map(|source| source.0))
}
