//! The body of a request to send an email.

use deserr::Deserr;
use flows::literal::True;
use model::document::HtmlSource;
use model::document::theme::Theme;
use model::email::category::Category;
use model::outbox::patch::{AtMillis, Variables};
use utoipa::ToSchema;
use wire::id::{DocumentId, UserId};

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct SendEmail {
    /// The recipients. The field is required unless `all_users` is set.
    pub(crate) user_ids: Option<Vec<UserId>>,
    /// All users of the project, including anonymous and restricted users.
    #[schema(value_type = Option<bool>)]
    pub(crate) all_users: Option<True>,
    /// MiniJinja source of the subject. The source replaces the subject of the template or draft.
    pub(crate) subject: Option<String>,
    /// MiniJinja source of the HTML body. The body is MJML if the first element is `<mjml>`.
    /// Exactly one of `html`, `template_id` and `draft_id` is required.
    pub(crate) html: Option<HtmlSource>,
    pub(crate) template_id: Option<DocumentId>,
    pub(crate) draft_id: Option<DocumentId>,
    /// Values for the `variables` in the sources.
    pub(crate) variables: Option<Variables>,
    /// `Transactional` or `Marketing`. The default is the category of the template or draft, or
    /// `Transactional` if there is none.
    pub(crate) notification_category_name: Option<Category>,
    /// `false` for no theme. If the field is omitted or `null`, the theme of the template or draft
    /// applies or, if there is none, the project's theme.
    pub(crate) theme_id: Option<Theme>,
    pub(crate) is_high_priority: Option<bool>,
    /// When to send the email, in milliseconds since the epoch. If the field is omitted or 0, the
    /// email is sent immediately.
    pub(crate) scheduled_at_millis: Option<AtMillis>,
}
