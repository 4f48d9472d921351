//! Tests of templates and themes in a configuration.

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::tests::{object, project, with_documents};
use crate::document::DocumentKind;
use crate::document::builtin::Builtin;
use crate::document::theme::Theme;
use crate::email::category::Category;
use crate::project::config::documents::{DocumentChange, MailDocuments};
use crate::project::config::{Level, LevelChange, LevelDocuments, Levels};

const THEME: &str = "0d4f1f3a-5e0c-4a65-9f2f-6c1d2b3a4e5f";
const TEMPLATE: &str = "7b6a5c4d-3e2f-4a1b-8c9d-0e1f2a3b4c5d";

/// The changes to the environment's documents when `values` are merged, or the problems.
fn documents_after(old: &MailDocuments, values: Value) -> Result<Vec<DocumentChange>, String> {
    after(old, &LevelChange::Merge(object(values)))
}

fn after(old: &MailDocuments, change: &LevelChange) -> Result<Vec<DocumentChange>, String> {
    let documents = LevelDocuments { environment: old.clone(), ..LevelDocuments::default() };
    at(&documents, Level::Environment, change)
}

fn at(documents: &LevelDocuments, level: Level, change: &LevelChange) -> Result<Vec<DocumentChange>, String> {
    let project = project();
    with_documents(Levels::of(&project), (&project, documents), level, change).map(|changed| changed.documents)
}

/// The documents after these changes to a project without documents.
fn stored(changes: Vec<DocumentChange>) -> MailDocuments {
    let mut all = MailDocuments::default();
    for change in changes {
        match change {
            DocumentChange::Create(DocumentKind::Theme, document) => all.themes.push(document),
            DocumentChange::Create(_, document) => all.templates.push(document),
            other => panic!("{other:?}"),
        }
    }
    all
}

fn own_documents() -> MailDocuments {
    let sign_in = Builtin::SignIn.id();
    let values = json!({
        format!("emails.themes.{THEME}"): { "displayName": "Ours", "tsxSource": "<html>{{ content }}</html>" },
        format!("emails.templates.{TEMPLATE}"): { "displayName": "News", "themeId": THEME, "notificationCategoryName": "Marketing" },
        format!("emails.templates.{sign_in}"): { "subjectSource": "Come in", "htmlSource": "<p>{{ variables.otp }}</p>" },
    });
    stored(documents_after(&MailDocuments::default(), values).expect("valid"))
}

#[test]
fn new_templates_and_themes_have_their_defaults() {
    let own = own_documents();
    let [theme] = own.themes.as_slice() else { panic!("{own:?}") };
    assert_eq!((theme.display_name.as_str(), theme.html.as_str()), ("Ours", "<html>{{ content }}</html>"));
    let find = |id: Uuid| own.templates.iter().find(|template| template.id.uuid() == id).expect("a template");
    let news = find(TEMPLATE.parse().expect("an id"));
    assert_eq!((news.category, news.theme.and_then(Theme::id)), (Category::Marketing, Some(theme.id.uuid())));
    assert!(!news.html.is_empty() && !news.subject.is_empty() && news.created_at > Timestamp::UNIX_EPOCH);
    let sign_in = find(Builtin::SignIn.id());
    assert_eq!((sign_in.display_name.as_str(), sign_in.subject.as_str(), &sign_in.text), ("Sign-in code and link", "Come in", &None));
}

#[test]
fn documents_survive_serialisation() {
    for own in [MailDocuments::default(), own_documents()] {
        assert_eq!(documents_after(&own, json!({})), Ok(vec![]));
        // Reading a level's overrides and writing them back as the level's entire content changes
        // nothing.
        let documents = LevelDocuments { environment: own.clone(), ..LevelDocuments::default() };
        let overrides = object(json!({ "emails": documents.overrides(Level::Environment) }));
        assert_eq!(after(&own, &LevelChange::Replace(overrides)), Ok(vec![]));
    }
}

#[test]
fn a_document_of_the_environment_overrides_that_of_the_branch() {
    let branch = own_documents();
    let documents = LevelDocuments { branch: branch.clone(), ..LevelDocuments::default() };
    let subject = |subject: &str| LevelChange::Merge(object(json!({ format!("emails.templates.{TEMPLATE}.subjectSource"): subject })));
    let written = at(&documents, Level::Environment, &subject("Ours")).expect("valid");
    let [DocumentChange::Create(DocumentKind::Template, ours)] = written.as_slice() else { panic!("{written:?}") };
    assert_eq!((ours.display_name.as_str(), ours.subject.as_str()), ("News", "Ours"));
    let environment = MailDocuments { templates: vec![ours.clone()], themes: vec![] };
    let documents = LevelDocuments { branch, environment };
    assert!(documents.effective().templates.contains(ours) && documents.effective().templates.len() == 2);
    // A push replaces only the documents of the branch.
    let pushed = at(&documents, Level::Branch, &LevelChange::Replace(Map::new())).expect("valid");
    assert!(pushed.len() == 3 && pushed.iter().all(|change| matches!(change, DocumentChange::Delete(..))), "{pushed:?}");
    // A reset or an empty replacement deletes the override, whereas a merge replaces it.
    for change in [LevelChange::Reset(vec![format!("emails.templates.{TEMPLATE}")]), LevelChange::Replace(Map::new()), subject("Hello")] {
        let reset = at(&documents, Level::Environment, &change).expect("valid");
        let is_own = matches!(change, LevelChange::Merge(_));
        let expected = if is_own {
            matches!(reset.as_slice(), [DocumentChange::Replace(..)])
        } else {
            matches!(reset.as_slice(), [DocumentChange::Delete(..)])
        };
        assert!(expected, "{reset:?}");
    }
}

#[test]
fn a_removed_document_is_deleted_or_restored_to_the_default() {
    let own = own_documents();
    let sign_in = Builtin::SignIn.id();
    let kinds = |changes: &[DocumentChange]| changes.iter().filter(|change| matches!(change, DocumentChange::Delete(..))).count();
    let gone = documents_after(&own, json!({ format!("emails.templates.{sign_in}"): null, format!("emails.themes.{THEME}"): null }));
    let gone = gone.expect("valid");
    assert_eq!((gone.len(), kinds(&gone)), (2, 2), "{gone:?}");
    let all = documents_after(&own, json!({ "emails.templates": {}, "emails.themes": {} })).expect("valid");
    assert_eq!((all.len(), kinds(&all)), (3, 3), "{all:?}");
    let one = documents_after(&own, json!({ format!("emails.templates.{TEMPLATE}.tsxSource"): "<p>New</p>" })).expect("valid");
    assert!(
        matches!(one.as_slice(), [DocumentChange::Replace(DocumentKind::Template, document)] if document.html == "<p>New</p>"),
        "{one:?}"
    );
}

#[test]
fn an_invalid_document_is_reported_by_its_path() {
    let (theme, template) = (format!("emails.themes.{THEME}"), format!("emails.templates.{TEMPLATE}"));
    let unknown = Uuid::from_u128(7);
    for (values, path) in [
        (json!({ &template: { "htmlSource": "x" } }), &*format!("{template}.displayName is required")),
        (json!({ &template: { "displayName": "" } }), &*format!("{template}.displayName")),
        (json!({ &template: { "displayName": "x", "tsxSource": "import x from 'y'" } }), &*format!("{template}.tsxSource")),
        (json!({ &template: { "displayName": "x", "tsxSource": "x", "htmlSource": "x" } }), &*format!("{template}.tsxSource")),
        (json!({ &template: { "displayName": "x", "themeId": unknown } }), &*format!("{template}.themeId")),
        (json!({ &template: { "displayName": "x", "themeId": true } }), &*format!("{template}.themeId")),
        (json!({ &template: { "displayName": "x", "source": "x" } }), &*format!("{template}.source is not known")),
        (json!({ &theme: { "displayName": "x", "subjectSource": "x" } }), &*format!("{theme}.subjectSource is not known")),
        (json!({ "emails.themes.plain": { "displayName": "x" } }), "emails.themes.plain must have a UUID"),
        (json!({ "emails.selectedThemeId": unknown }), "emails.selectedThemeId"),
    ] {
        let refused = documents_after(&MailDocuments::default(), values).expect_err(path);
        assert!(refused.starts_with(path), "{path}: {refused}");
    }
}
