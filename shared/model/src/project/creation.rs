//! New projects, created by users of the project `internal`.

use deserr::Deserr;
use jiff::Timestamp;
use utoipa::ToSchema;
use wire::change::Change;
use wire::id::{ProjectId, TeamId};

use crate::project::Project;
use crate::project::config::Levels;
use crate::project::config_patch::ConfigPatch;
use crate::project::onboarding::OnboardingStatus;
use crate::project::patch::ProjectPatch;
use crate::setting::{Deployment, SettingRefusal};

/// The body of a request that creates a project.
#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct NewProject {
    /// The name that users see, one line of 1 to 256 characters.
    pub display_name: String,
    /// The team that owns the project. The user must be a member of this team.
    pub owner_team_id: TeamId,
    /// The purpose of the project, in at most 4096 characters; `null` counts as empty.
    pub description: Change<String>,
    /// The http or https URL of a square logo.
    pub logo_url: Change<String>,
    /// The http or https URL of a wide logo.
    pub logo_full_url: Change<String>,
    /// The http or https URL of a square logo for dark backgrounds.
    pub logo_dark_mode_url: Change<String>,
    /// The http or https URL of a wide logo for dark backgrounds.
    pub logo_full_dark_mode_url: Change<String>,
    /// Stored for compatibility with published SDKs, but has no effect.
    pub is_production_mode: Option<bool>,
    /// The progress of the set-up in a dashboard; the service ignores it. Default: `completed`.
    pub onboarding_status: Option<OnboardingStatus>,
    /// Accepted for compatibility with published SDKs, but ignored. In responses, the field
    /// indicates whether the public URL of the API uses plain HTTP.
    pub is_development_environment: Option<bool>,
    /// The settings that differ from the defaults.
    pub config: Option<ConfigPatch>,
}

impl NewProject {
    /// The new project and the levels of its configuration, or the first invalid setting. Settings
    /// in the request are stored in the levels even if they equal the default values, so that a
    /// push to the branch does not change them.
    pub fn create(self, id: ProjectId, deployment: &Deployment<'_>, now: Timestamp) -> Result<(Project, Levels), SettingRefusal> {
        let project = Project { owner_team_id: Some(self.owner_team_id.to_string()), ..Project::new(id, "", now) };
        let patch = ProjectPatch {
            display_name: Some(self.display_name),
            description: self.description,
            logo_url: self.logo_url,
            logo_full_url: self.logo_full_url,
            logo_dark_mode_url: self.logo_dark_mode_url,
            logo_full_dark_mode_url: self.logo_full_dark_mode_url,
            is_production_mode: self.is_production_mode,
            onboarding_status: self.onboarding_status,
            access_token_algorithm: None,
            config: self.config,
        };
        let keys = patch.keys();
        let project = patch.apply(project, deployment)?;
        let levels = Levels::of(&project).noted(&project, &keys);
        Ok((project, levels))
    }
}
