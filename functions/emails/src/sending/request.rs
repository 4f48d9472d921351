//! What a request for an email brings.

use deserr::Deserr;
use flows::literal::True;
use model::document::theme::Theme;
use model::email::category::Category;
use model::outbox::patch::{AtMillis, Variables};
use utoipa::ToSchema;
use wire::id::{DocumentId, UserId};

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct SendEmail {
    /// The recipients; either these or `all_users`.
    #[deserr(default)]
    pub(crate) user_ids: Option<Vec<UserId>>,
    /// All users of the project, anonymous and restricted ones too.
    #[schema(value_type = Option<bool>)]
    #[deserr(default)]
    pub(crate) all_users: Option<True>,
    /// MiniJinja source of the subject, in place of the template's or draft's.
    #[deserr(default)]
    pub(crate) subject: Option<String>,
    /// MiniJinja source of the HTML body, or of MJML when its first element is `<mjml>`; either this, `template_id` or `draft_id`.
    #[deserr(default)]
    pub(crate) html: Option<String>,
    #[deserr(default)]
    pub(crate) template_id: Option<DocumentId>,
    #[deserr(default)]
    pub(crate) draft_id: Option<DocumentId>,
    /// What the sources may speak of as `variables`.
    #[schema(value_type = Option<Object>)]
    #[deserr(default)]
    pub(crate) variables: Option<Variables>,
    /// `Transactional` or `Marketing`; by default the template's or draft's, or `Transactional`.
    #[deserr(default)]
    pub(crate) notification_category_name: Option<Category>,
    /// `false` for no theme; absent or `null` for the template's or draft's, or the project's.
    #[deserr(default)]
    pub(crate) theme_id: Option<Theme>,
    #[deserr(default)]
    pub(crate) is_high_priority: Option<bool>,
    /// Milliseconds since the epoch; absent or 0 for now.
    #[schema(value_type = Option<i64>)]
    #[deserr(default)]
    pub(crate) scheduled_at_millis: Option<AtMillis>,
}
