//! The response type of the operations on notification preferences.

use model::email::category::Category;
use model::user::User;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// Whether a user wants emails of a category.
#[derive(Serialize, ToSchema)]
pub struct Preference {
    notification_category_id: Uuid,
    notification_category_name: Category,
    enabled: bool,
    /// Whether the user may disable the category.
    can_disable: bool,
}

impl Preference {
    pub(crate) fn new(category: Category, enabled: bool) -> Self {
        Self {
            notification_category_id: category.id(),
            notification_category_name: category,
            enabled,
            can_disable: category.can_be_refused(),
        }
    }

    pub(crate) fn of(user: &User, category: Category) -> Self {
        Self::new(category, !user.refuses(category))
    }
}
