//! Renders an email without sending it, for a fictitious recipient.

use api::product::{Access, Admin};
use email::render::{Context, Job, ProjectContext, Sources, UserContext};
use email::sandbox;
use errors::{Error, KnownError};
use model::document::DocumentKind;
use model::document::builtin::{self, Builtin};
use model::document::theme::Theme;
use model::email::category::Category;
use model::outbox::work::Rendering;
use serde_json::{Map, Value};
use wire::id::DocumentId;

use crate::documents::found::documents;

/// The values with which an unsent email is rendered.
pub(crate) struct Values {
    pub(crate) category: Category,
    pub(crate) variables: Map<String, Value>,
    /// Whether variables without a value are filled with placeholders instead of making the
    /// rendering fail.
    pub(crate) has_placeholders: bool,
}

/// The reason why the theme of an email does not exist.
pub(crate) enum ThemeRefusal {
    /// The request names a theme that does not exist.
    Named,
    /// The template names a theme that was deleted.
    OfTemplate,
}

/// Renders the subject, the HTML and the text. Fails with `EMAIL_RENDERING_ERROR`.
pub(crate) async fn rendered(
    access: &Access<Admin>,
    sources: Sources,
    values: Values,
) -> Result<(String, Option<String>, Option<String>), Error> {
    let rendering: Rendering = sandbox::preview(Job { sources, context: context(access, values) }).await;
    rendering.map_err(|error| KnownError::EmailRenderingError { error }.into())
}

/// The source of the theme that the request names or otherwise of the template's theme or, if the
/// template does not name one, of the project's theme. `None` for no theme. If the project's theme,
/// or the theme of a built-in email's template, was deleted, the preview uses the default theme, as
/// sent emails do.
pub(crate) async fn theme(
    access: &Access<Admin>,
    named: Option<Theme>,
    of_template: Option<Theme>,
    is_builtin: bool,
) -> Result<Result<Option<String>, ThemeRefusal>, Error> {
    let project = &access.project;
    let own = project.config.email.theme();
    let Some(id) = named.or(of_template).map_or(Some(own), Theme::id) else { return Ok(Ok(None)) };
    let [found] = documents(&access.app, &project.id, [Some((DocumentKind::Theme, id.into()))]).await?;
    Ok(match found {
        Some(found) => Ok(Some(found.html)),
        None if named.is_some() => Err(ThemeRefusal::Named),
        None if is_builtin || id == own => Ok(Some(builtin::THEME.to_owned())),
        None => Err(ThemeRefusal::OfTemplate),
    })
}

/// Sample values for the variables in the template of a built-in email. `None` for other templates.
pub(crate) fn examples(template: DocumentId) -> Option<Map<String, Value>> {
    Builtin::of(template).map(|mail| mail.sample_variables().as_object().cloned().unwrap_or_default())
}

/// The values for templates, with a fictitious recipient.
fn context(access: &Access<Admin>, Values { category, variables, has_placeholders }: Values) -> Context {
    let project = &access.project;
    let link = format!("{}/api/v1/emails/unsubscribe-link?code={}", access.app.settings.api_url, "0".repeat(45));
    Context {
        project: ProjectContext {
            id: project.id.to_string(),
            display_name: project.display_name.clone(),
            logo_url: project.logo_url.clone(),
        },
        user: Some(UserContext {
            id: uuid::Uuid::nil().to_string(),
            display_name: Some("Ada Lovelace".to_owned()),
            primary_email: Some("ada@example.com".to_owned()),
        }),
        variables,
        unsubscribe_link: category.can_be_refused().then_some(link),
        has_placeholders,
    }
}
