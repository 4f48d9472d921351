//! Changes of a project's settings, as an administrator sends them. Everything is checked before anything is changed.

use deserr::Deserr;
use jiff::Timestamp;
use utoipa::ToSchema;
use wire::change::Change;
use wire::id::{ProjectId, TeamId};

use crate::project::Project;
use crate::project::config_patch::ConfigPatch;
use crate::project::setting::{Deployment, InvalidSetting, invalid, set, set_url};
use crate::text::line;

/// The body of a project's update; absent fields stay as they are.
#[derive(Default, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ProjectPatch {
    #[deserr(default)]
    pub display_name: Option<String>,
    #[deserr(default)]
    pub description: Option<String>,
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    pub logo_url: Change<String>,
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    pub logo_full_url: Change<String>,
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    pub logo_dark_mode_url: Change<String>,
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    pub logo_full_dark_mode_url: Change<String>,
    #[deserr(default)]
    pub is_production_mode: Option<bool>,
    #[deserr(default)]
    pub config: Option<ConfigPatch>,
}

/// The body of a project's creation.
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct NewProject {
    /// One line of 1 to 256 characters.
    pub display_name: String,
    /// A team of the user, which owns the project from then on.
    pub owner_team_id: TeamId,
    #[deserr(default)]
    pub description: Option<String>,
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    pub logo_url: Change<String>,
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    pub logo_full_url: Change<String>,
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    pub logo_dark_mode_url: Change<String>,
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    pub logo_full_dark_mode_url: Change<String>,
    #[deserr(default)]
    pub is_production_mode: Option<bool>,
    #[deserr(default)]
    pub config: Option<ConfigPatch>,
}

impl NewProject {
    /// The project, or the first setting that is wrong.
    pub fn create(self, id: ProjectId, deployment: &Deployment<'_>, now: Timestamp) -> Result<Project, InvalidSetting> {
        let project = Project { owner_team_id: Some(self.owner_team_id.to_string()), ..Project::new(id, "", now) };
        let patch = ProjectPatch {
            display_name: Some(self.display_name),
            description: self.description,
            logo_url: self.logo_url,
            logo_full_url: self.logo_full_url,
            logo_dark_mode_url: self.logo_dark_mode_url,
            logo_full_dark_mode_url: self.logo_full_dark_mode_url,
            is_production_mode: self.is_production_mode,
            config: self.config,
        };
        patch.apply(project, deployment)
    }
}

/// In characters: every request reads the project.
const MAX_DESCRIPTION: usize = 4096;

impl ProjectPatch {
    /// The project with these changes, or the first setting that is wrong.
    pub fn apply(self, mut project: Project, deployment: &Deployment<'_>) -> Result<Project, InvalidSetting> {
        if let Some(name) = self.display_name {
            line::check(&name, line::NAME).map_err(|error| invalid("display_name", error.to_string()))?;
            project.display_name = name;
        }
        if let Some(text) = self.description {
            if text.chars().count() > MAX_DESCRIPTION {
                return Err(invalid("description", "must have at most 4096 characters"));
            }
            project.description = text;
        }
        set_url("logo_url", self.logo_url, &mut project.logo_url)?;
        set_url("logo_full_url", self.logo_full_url, &mut project.logo_full_url)?;
        set_url("logo_dark_mode_url", self.logo_dark_mode_url, &mut project.logo_dark_mode_url)?;
        set_url("logo_full_dark_mode_url", self.logo_full_dark_mode_url, &mut project.logo_full_dark_mode_url)?;
        set(self.is_production_mode, &mut project.is_production_mode);
        if let Some(patch) = self.config {
            let owner = project.id.to_string();
            patch.apply(&mut project.config, &owner, deployment)?;
        }
        Ok(project)
    }
}
