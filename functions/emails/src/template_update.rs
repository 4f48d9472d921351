//! `PATCH /api/v1/internal/email-templates/{id}`: updates an email template. Updating a default
//! template creates the project's version of the template.
//!
//! The template is stored only if it can be rendered. The template of a built-in email is rendered
//! with sample values. Any other template is rendered with placeholders for its variables.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::input::Nothing;
use api::product::precondition::IfMatch;
use api::product::{Access, Admin, Input};
use email::render::Sources;
use errors::{Error, ErrorCode, KnownError};
use model::document::theme::Theme;
use model::document::{DocumentKind, DocumentPatch, MailDocument};
use serde::Serialize;
use store::optimistic;
use utoipa::ToSchema;
use wire::problem::Problems;

use crate::documents::changes::{ChangeTarget, DocumentPath};
use crate::documents::preview::{ThemeRefusal, Values, examples, rendered, theme};

pub const ROUTE: Route = Route::patch("emails-template-update", "/api/v1/internal/email-templates/{id}")
    .summary("Updates an email template, unless it cannot be rendered")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::Document(DocumentKind::Template)])
    .errors(&[ErrorCode::EmailTemplateNotFound, ErrorCode::EmailRenderingError]);

#[derive(Serialize, ToSchema)]
pub struct UpdatedTemplate {
    /// The rendered HTML, with sample values or placeholders for the variables.
    rendered_html: String,
}

pub async fn handle(
    access: Access<Admin>,
    if_match: IfMatch,
    Input { body, path, .. }: Input<DocumentPatch, Nothing, DocumentPath>,
) -> Result<Json<UpdatedTemplate>, Error> {
    let changing = ChangeTarget { kind: DocumentKind::Template, id: path.id, if_match };
    optimistic!(|attempt| {
        let row = changing.row(&access, attempt).await?;
        let template = body.clone().apply_to_template(row.document.clone(), access.app.clock.now());
        let template = template.map_err(|problems| ROUTE.schema_error(&problems))?;
        let rendered_html = html_of(&access, body.theme(), &template).await?;
        changing.write(&access, row, template).await?;
        Ok(Json(UpdatedTemplate { rendered_html }))
    })
}

/// Renders the HTML of a changed template. `named` is the theme that the request names.
async fn html_of(access: &Access<Admin>, named: Option<Theme>, template: &MailDocument) -> Result<String, Error> {
    let examples = examples(template.id);
    let theme = theme(access, named, template.theme, examples.is_some()).await?;
    let theme = theme.map_err(|missing| ROUTE.schema_error(&Problems::one("body.theme_id", without_theme(missing))))?;
    if template.subject.trim().is_empty() {
        return Err(KnownError::EmailRenderingError { error: "subject: is empty".to_owned() }.into());
    }
    let sources = Sources { subject: template.subject.clone(), html: template.html.clone(), text: template.text.clone(), theme };
    let values = Values { category: template.category, has_placeholders: examples.is_none(), variables: examples.unwrap_or_default() };
    let (_, html, _) = rendered(access, sources, values).await?;
    Ok(html.unwrap_or_default())
}

fn without_theme(missing: ThemeRefusal) -> &'static str {
    match missing {
        ThemeRefusal::Named => "must be the id of a theme",
        ThemeRefusal::OfTemplate => "must name another theme: the template's theme was deleted",
    }
}
