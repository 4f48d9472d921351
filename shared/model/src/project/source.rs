//! The source of a configuration's branch level, which shows people and tools where to change that
//! level.

use deserr::Deserr;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The maximum length of each field of a source, in bytes; the fields include file paths.
const MAX_FIELD: usize = 1024;

/// The source of a pushed configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[deserr(tag = "type", deny_unknown_fields)]
pub enum ConfigSource {
    /// A file in a GitHub repository.
    #[deserr(rename = "pushed-from-github")]
    PushedFromGithub {
        /// The owner of the repository.
        owner: String,
        /// The name of the repository.
        repo: String,
        /// The branch.
        branch: String,
        /// The commit that was pushed.
        commit_hash: String,
        /// The path of the file in the repository.
        config_file_path: String,
        /// The path of the workflow that pushed the file.
        #[deserr(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workflow_path: Option<String>,
    },
    /// An unknown source, such as the command line.
    #[deserr(rename = "pushed-from-unknown")]
    PushedFromUnknown,
    /// No source: the configuration is changed only in Gatelet.
    #[default]
    #[deserr(rename = "unlinked")]
    Unlinked,
}

impl ConfigSource {
    /// Whether every field is at most 1024 bytes long.
    pub fn is_short(&self) -> bool {
        match self {
            Self::PushedFromGithub { owner, repo, branch, commit_hash, config_file_path, workflow_path } => {
                let fields = [owner, repo, branch, commit_hash, config_file_path].into_iter().chain(workflow_path);
                fields.into_iter().all(|field| field.len() <= MAX_FIELD)
            }
            Self::PushedFromUnknown | Self::Unlinked => true,
        }
    }

    /// Whether the source is [`ConfigSource::Unlinked`], which is not stored.
    pub(crate) fn is_unlinked(&self) -> bool {
        *self == Self::Unlinked
    }
}
