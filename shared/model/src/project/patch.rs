//! Changes to a project in requests of administrators. A single invalid field rejects the entire
//! change.

use deserr::Deserr;
use utoipa::ToSchema;
use wire::change::Change;

use crate::project::Project;
use crate::project::config_patch::ConfigPatch;
use crate::project::onboarding::OnboardingStatus;
use crate::project::signing_key::TokenAlgorithm;
use crate::setting::{Deployment, SettingRefusal, invalid, set, set_url};
use crate::text::line;

/// The body of an update; absent fields keep their values.
#[wire::optional]
#[derive(Default, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ProjectPatch {
    /// The name that users see, one line of 1 to 256 characters.
    pub display_name: Option<String>,
    /// The purpose of the project, in at most 4096 characters; `null` counts as empty.
    pub description: Change<String>,
    /// The http or https URL of a square logo; `null` for no logo.
    pub logo_url: Change<String>,
    /// The http or https URL of a wide logo; `null` for no logo.
    pub logo_full_url: Change<String>,
    /// The http or https URL of a square logo for dark backgrounds; `null` for no logo.
    pub logo_dark_mode_url: Change<String>,
    /// The http or https URL of a wide logo for dark backgrounds; `null` for no logo.
    pub logo_full_dark_mode_url: Change<String>,
    /// Stored for compatibility with published SDKs, but has no effect.
    pub is_production_mode: Option<bool>,
    /// The progress of the set-up in a dashboard; the service ignores it.
    pub onboarding_status: Option<OnboardingStatus>,
    /// The algorithm that signs access tokens of users without restrictions: `ES256` or, for
    /// verifiers that accept nothing else, `RS256`. For `RS256`, the project must have an RSA key.
    pub access_token_algorithm: Option<TokenAlgorithm>,
    /// The settings to change.
    pub config: Option<ConfigPatch>,
}

/// The maximum length of a description, in characters, which is limited because requests read the
/// entire project.
const MAX_DESCRIPTION: usize = 4096;

impl ProjectPatch {
    /// The configuration keys of the values in the patch.
    pub fn keys(&self) -> Vec<&'static str> {
        self.config.as_ref().map(ConfigPatch::keys).unwrap_or_default()
    }

    /// The project with these changes, or the first invalid setting.
    pub fn apply(self, mut project: Project, deployment: &Deployment<'_>) -> Result<Project, SettingRefusal> {
        if let Some(name) = self.display_name {
            line::check(&name, line::NAME).map_err(|error| invalid("display_name", error.to_string()))?;
            project.display_name = name;
        }
        match self.description {
            Change::Keep => {}
            Change::Clear => project.description.clear(),
            Change::Set(text) if text.chars().count() > MAX_DESCRIPTION => {
                return Err(invalid("description", "must be at most 4096 characters long"));
            }
            Change::Set(text) => project.description = text,
        }
        set_url("logo_url", self.logo_url, &mut project.logo_url)?;
        set_url("logo_full_url", self.logo_full_url, &mut project.logo_full_url)?;
        set_url("logo_dark_mode_url", self.logo_dark_mode_url, &mut project.logo_dark_mode_url)?;
        set_url("logo_full_dark_mode_url", self.logo_full_dark_mode_url, &mut project.logo_full_dark_mode_url)?;
        set(self.is_production_mode, &mut project.is_production_mode);
        set(self.onboarding_status, &mut project.onboarding_status);
        set(self.access_token_algorithm, &mut project.access_token_algorithm);
        if let Some(patch) = self.config {
            let owner = project.id.to_string();
            patch.apply(&mut project.config, &owner, deployment)?;
        }
        Ok(project)
    }
}
