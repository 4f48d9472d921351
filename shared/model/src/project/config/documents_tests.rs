//! Templates and themes as parts of a configuration.

use crypto::deployment_secret::DeploymentSecret;
use crypto::seal::Sealer;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;
use wire::entropy::Entropy;

use super::tests::{object, project};
use crate::document::DocumentKind;
use crate::document::theme::Theme;
use crate::email::category::Category;
use crate::outbox::Builtin;
use crate::project::config::documents::{DocumentChange, MailDocuments};
use crate::project::config::level::Level;
use crate::project::config::read::read;
use crate::project::config::settings::Config;
use crate::project::senders::Senders;
use crate::project::setting::Deployment;

const THEME: &str = "0d4f1f3a-5e0c-4a65-9f2f-6c1d2b3a4e5f";
const TEMPLATE: &str = "7b6a5c4d-3e2f-4a1b-8c9d-0e1f2a3b4c5d";

/// What a merge makes of the documents, or what is wrong with it.
fn documents_after(old: &MailDocuments, values: Value) -> Result<Vec<DocumentChange>, String> {
    let mut config = Config::of(&project(), old);
    config.merge(Level::Branch, object(values)).map_err(|problems| problems.to_string())?;
    changes(&config, old)
}

fn changes(config: &Config, old: &MailDocuments) -> Result<Vec<DocumentChange>, String> {
    let sealer = Sealer::new(&DeploymentSecret::new("a deployment secret for tests alone".to_owned().into()));
    let senders = Senders::new(String::new(), "*").expect("a list");
    let deployment = Deployment { sealer: &sealer, entropy: &Entropy::system(), senders: &senders };
    let changed = read(config, project(), old, &deployment, Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1));
    changed.map(|changed| changed.documents).map_err(|problems| problems.to_string())
}

/// The documents after some changes of none.
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
fn templates_and_themes_are_made_with_the_beginnings_that_new_ones_have() {
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
fn documents_that_are_written_down_and_read_again_are_the_same() {
    for own in [MailDocuments::default(), own_documents()] {
        assert_eq!(changes(&Config::of(&project(), &own), &own), Ok(vec![]));
        // What a level says brings the same back, when it is all that is said.
        let config = Config::of(&project(), &own);
        let mut replaced = config.clone();
        replaced.clear(Level::Branch);
        replaced.merge(Level::Branch, object(config.overrides(Level::Branch))).expect("valid");
        assert_eq!(changes(&replaced, &own), Ok(vec![]));
    }
    let overrides = Config::of(&project(), &MailDocuments::default()).overrides(Level::Branch);
    assert_eq!(overrides["emails"], Value::Null);
}

#[test]
fn a_document_that_is_taken_out_is_gone_and_one_of_ours_is_back() {
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
fn what_is_wrong_with_a_document_is_named_by_its_path() {
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
