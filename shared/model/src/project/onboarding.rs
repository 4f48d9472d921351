//! The progress of a project's set-up in a dashboard. The progress is stored for dashboards and
//! does not affect the service.

use deserr::Deserr;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The next step of a project's set-up in a dashboard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "snake_case")]
#[deserr(rename_all = lowercase)]
pub enum OnboardingStatus {
    /// Whether to start with new settings or with those of a repository.
    #[deserr(rename = "config_choice")]
    ConfigChoice,
    /// The features that the project uses.
    #[deserr(rename = "apps_selection")]
    AppsSelection,
    /// The ways to sign in.
    #[deserr(rename = "auth_setup")]
    AuthSetup,
    /// The trusted domains.
    #[deserr(rename = "domain_setup")]
    DomainSetup,
    /// The theme of emails.
    #[deserr(rename = "email_theme_setup")]
    EmailThemeSetup,
    /// Payments.
    #[deserr(rename = "payments_setup")]
    PaymentsSetup,
    /// The last page of the set-up.
    Welcome,
    /// The set-up is complete. Also the status of projects that were stored without a status.
    #[default]
    Completed,
}

impl OnboardingStatus {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) fn is_completed(&self) -> bool {
        *self == Self::Completed
    }
}
