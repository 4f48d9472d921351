//! `POST /api/v1/emails/render-email`: renders a template without sending an email. Although the
//! operation stores only its request count, the rate limit for writes applies, because rendering
//! takes time.

use api::http::TableAction::{BatchGetItem, UpdateItem};
use api::http::{Json, Route};
use api::product::{Access, Admin, Input};
use axum::extract::State;
use deserr::Deserr;
use email::render::Sources;
use errors::{Error, ErrorCode};
use flows::App;
use model::document::builtin::Builtin;
use model::document::theme::Theme;
use model::document::{DocumentKind, HtmlSource, MailDocument, html_of};
use model::email::category::Category;
use model::limit::Limit;
use model::outbox::patch::Variables;
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::DocumentId;
use wire::problem::Problems;

use crate::documents::found::documents;
use crate::documents::preview::{ThemeRefusal, Values, examples, rendered, theme};

pub const ROUTE: Route = Route::post("emails-render", "/api/v1/emails/render-email")
    .summary("Renders a template without sending an email")
    .writes_nothing()
    .limit(Limit::Write)
    .table(&[BatchGetItem, UpdateItem])
    .errors(&[ErrorCode::EmailRenderingError]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct RenderEmail {
    /// The field is required unless the request contains a source.
    template_id: Option<DocumentId>,
    template_html_source: Option<HtmlSource>,
    /// An alias of `template_html_source` for published SDKs.
    template_tsx_source: Option<HtmlSource>,
    /// Replaces the template's subject.
    template_subject_source: Option<String>,
    /// `false` for no theme. If the field is omitted or `null`, the template's theme applies or, if
    /// the template does not name one, the project's theme.
    theme_id: Option<Theme>,
    /// The MiniJinja source of a theme, which is used instead of `theme_id`.
    theme_html_source: Option<HtmlSource>,
    /// An alias of `theme_html_source` for published SDKs.
    theme_tsx_source: Option<HtmlSource>,
    /// Values for the template's `variables`. Built-in templates have sample values.
    variables: Option<Variables>,
    /// The value must be `false`, because editor markers are not supported.
    editable_markers: Option<bool>,
    /// The field is ignored, because editor markers are not supported.
    #[deserr(rename = "editable_source")]
    _editable_source: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct Preview {
    html: Option<String>,
    text: Option<String>,
    subject: String,
    notification_category: Category,
}

fn invalid(path: &str, message: &str) -> Error {
    ROUTE.schema_error(&Problems::one(path, message)).into()
}

pub async fn handle(State(app): State<App>, access: Access<Admin>, Input { body, .. }: Input<RenderEmail>) -> Result<Json<Preview>, Error> {
    if body.editable_markers == Some(true) {
        return Err(invalid("body.editable_markers", "must be false: editor markers are not supported"));
    }
    let own = |problems: Problems| Error::from(ROUTE.schema_error(&problems));
    let html = html_of(body.template_html_source, body.template_tsx_source).map_err(own)?;
    let own_theme = html_of(body.theme_html_source, body.theme_tsx_source).map_err(own)?;
    let variables = body.variables.map(|variables| variables.0).or_else(|| examples(body.template_id?));
    let template = match (body.template_id, html) {
        (Some(id), None) => template(&access, id).await?,
        (None, Some(html)) => MailDocument::from_source(html, app.clock.now()),
        _ => return Err(invalid("body", "must have either template_id or template_html_source")),
    };
    let theme = match own_theme {
        Some(theme) => Some(theme),
        None => {
            let is_builtin = body.template_id.and_then(Builtin::of).is_some();
            theme(&access, body.theme_id, template.theme, is_builtin).await?.map_err(without_theme)?
        }
    };
    let subject = body.template_subject_source.unwrap_or(template.subject);
    let sources = Sources { subject, html: template.html, text: template.text, theme };
    let values = Values { category: template.category, variables: variables.unwrap_or_default(), has_placeholders: false };
    let (subject, html, text) = rendered(&access, sources, values).await?;
    Ok(Json(Preview { html, text, subject, notification_category: template.category }))
}

async fn template(access: &Access<Admin>, id: DocumentId) -> Result<MailDocument, Error> {
    let [found] = documents(&access.app, &access.project.id, [Some((DocumentKind::Template, id))]).await?;
    found.ok_or_else(|| invalid("body.template_id", "must be the id of a template"))
}

fn without_theme(missing: ThemeRefusal) -> Error {
    match missing {
        ThemeRefusal::Named => invalid("body.theme_id", "must be the id of a theme"),
        ThemeRefusal::OfTemplate => {
            invalid("body.template_id", "is a template whose theme was deleted: choose another theme for it, or set theme_id")
        }
    }
}
