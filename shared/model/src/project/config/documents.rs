//! Templates and themes of mails as keys of a configuration: views of the documents of their own operations. Ours are there as well until
//! they are written over, and are back when what was written over them is taken out.

use std::collections::BTreeMap;

use deserr::Deserr;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use uuid::Uuid;
use wire::id::DocumentId;
use wire::problem::Problems;

use crate::document::theme::{DEFAULT_THEME, Theme};
use crate::document::{DocumentKind, FIRST_HTML, FIRST_SUBJECT, FIRST_THEME, HtmlSource, MailDocument, Name, builtin};
use crate::email::category::Category;
use crate::project::config::parts::Entries;
use crate::text::line;

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
pub(crate) struct TemplateInput {
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
pub(crate) struct ThemeInput {
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
    pub(crate) fn templates(&self) -> Map<String, Value> {
        with_ours(DocumentKind::Template, &self.templates).map(|document| (document.id.to_string(), of_template(document))).collect()
    }

    pub(crate) fn themes(&self) -> Map<String, Value> {
        with_ours(DocumentKind::Theme, &self.themes).map(|document| (document.id.to_string(), of_theme(document))).collect()
    }
}

fn with_ours(kind: DocumentKind, own: &[MailDocument]) -> impl Iterator<Item = MailDocument> {
    let mut all: BTreeMap<Uuid, MailDocument> = builtin::documents(kind).into_iter().map(|ours| (ours.id.uuid(), ours)).collect();
    all.extend(own.iter().map(|own| (own.id.uuid(), own.clone())));
    all.into_values()
}

fn of_theme(document: MailDocument) -> Value {
    json!({ "displayName": line::stripped(&document.display_name), "htmlSource": document.html })
}

fn of_template(document: MailDocument) -> Value {
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

/// The path of the document that a key is of, with a dot at its end.
pub(crate) fn document_of(path: &str) -> Option<&str> {
    let parent = [TEMPLATES, THEMES].into_iter().find(|parent| path.strip_prefix(parent).is_some_and(|rest| rest.starts_with('.')))?;
    let id = path[parent.len() + 1..].find('.')?;
    Some(&path[..=parent.len() + 1 + id])
}

/// The path that a source has beside one of published SDKs: who writes by that name replaces it.
pub(crate) fn other_name(path: &str) -> Option<String> {
    document_of(path).filter(|document| path[document.len()..] == *"tsxSource").map(|document| format!("{document}htmlSource"))
}

/// The templates and themes of a configuration, as it was read.
pub(crate) struct Written {
    templates: Entries<TemplateInput>,
    themes: Entries<ThemeInput>,
}

impl Written {
    pub(crate) fn new(templates: Entries<TemplateInput>, themes: Entries<ThemeInput>) -> Self {
        Self { templates, themes }
    }

    /// What has to happen to the documents of a project, or what is wrong, by its path.
    ///
    /// `selected` is the theme that is newly selected for the project.
    pub(crate) fn changes(self, old: &MailDocuments, selected: Option<Uuid>, now: Timestamp) -> Result<Vec<DocumentChange>, Problems> {
        let theme = |input: ThemeInput, base: MailDocument, path: &str| {
            let display_name = named(input.display_name, &base, path)?;
            Ok(MailDocument { display_name, html: source(input.html_source, input.tsx_source, path)?.unwrap_or(base.html.clone()), ..base })
        };
        let Changes { mut changes, documents: themes } = changed(DocumentKind::Theme, THEMES, self.themes, &old.themes, now, theme)?;
        let exists = |id: Uuid| id == DEFAULT_THEME || themes.contains(&id);
        if selected.is_some_and(|id| !exists(id)) {
            return Err(Problems::one("emails.selectedThemeId", "must be the id of a theme"));
        }
        let template = |input: TemplateInput, base: MailDocument, path: &str| {
            let had = old.templates.iter().find(|old| old.id == base.id).and_then(|old| old.theme);
            // One that is deleted later gives way to the project's.
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
        changes.extend(changed(DocumentKind::Template, TEMPLATES, self.templates, &old.templates, now, template)?.changes);
        Ok(changes)
    }
}

/// What happens to the documents of a kind, and which ids there are then.
struct Changes {
    changes: Vec<DocumentChange>,
    documents: Vec<Uuid>,
}

fn changed<T>(
    kind: DocumentKind,
    parent: &str,
    written: Entries<T>,
    own: &[MailDocument],
    now: Timestamp,
    apply: impl Fn(T, MailDocument, &str) -> Result<MailDocument, Problems>,
) -> Result<Changes, Problems> {
    let (mut changes, mut documents) = (Vec::new(), Vec::new());
    for (id, input) in written.0 {
        let path = format!("{parent}.{id}");
        let id = id.parse::<Uuid>().map(DocumentId::from).map_err(|_| Problems::one(&path, "must have a UUID as its key"))?;
        if documents.contains(&id.uuid()) {
            return Err(Problems::one(&path, "is named twice"));
        }
        documents.push(id.uuid());
        let (ours, old) = (builtin::document(kind, id), own.iter().find(|own| own.id == id));
        let base = ours.clone().unwrap_or_else(|| first(kind, id));
        let times = old.unwrap_or(&base);
        let wanted = MailDocument { created_at: times.created_at, updated_at: times.updated_at, ..apply(input, base.clone(), &path)? };
        let created = |document| MailDocument { created_at: now, updated_at: now, ..document };
        match old {
            Some(old) if *old == wanted => {}
            _ if ours.as_ref() == Some(&MailDocument { created_at: base.created_at, updated_at: base.updated_at, ..wanted.clone() }) => {
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

/// What a new document has where nothing else is said.
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

/// The name that is written, or that of ours.
fn named(name: Option<Name>, base: &MailDocument, path: &str) -> Result<String, Problems> {
    match name {
        Some(name) => Ok(name.0),
        None if base.display_name.is_empty() => Err(Problems::one(&format!("{path}.displayName"), "is required")),
        None => Ok(base.display_name.clone()),
    }
}

fn source(html: Option<HtmlSource>, tsx: Option<HtmlSource>, path: &str) -> Result<Option<String>, Problems> {
    if html.is_some() && tsx.is_some() {
        return Err(Problems::one(&format!("{path}.tsxSource"), "is another name of htmlSource: only one of them can be given"));
    }
    Ok(html.or(tsx).map(|source| source.0))
}
