//! The initial projects of a gateway and their keys. The initial projects are a project for
//! development and `internal`, whose users own projects. Keys come from the environment or are
//! generated at the first start. The keys are saved in `keys.env`, together with the page key.

mod start;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use api::product::access::NO_KEY;
use jiff::Timestamp;
use model::project::key_set::NewKeys;
use model::project::{KeyKind, Project, ProjectConfig};
use secrecy::{ExposeSecret as _, SecretString};
use store::Store;
use store::deletions::DeletionTarget;
use store::project::deletion::Purge;
use tokio::time::Instant;
use wire::entropy::Entropy;
use wire::environment::variable;
use wire::id::ProjectId;

use crate::saved_keys::{SavedKeys, quoted};

/// The id of a project and one key of each kind, in plain text.
#[derive(Clone)]
pub struct Keys {
    pub project_id: ProjectId,
    pub client: SecretString,
    pub server: SecretString,
    pub admin: SecretString,
}

pub(crate) const PROJECT_ID: &str = "GATELET_PROJECT_ID";
/// The time limit of one pass over a deleted project's data.
const PURGE: Duration = Duration::from_secs(60);

/// A project whose keys are saved. The role determines the names of the project's variables in the
/// environment and in `keys.env`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    First,
    Internal,
}

impl Role {
    pub(crate) fn names(self) -> [&'static str; 3] {
        match self {
            Self::First => ["GATELET_PUBLISHABLE_CLIENT_KEY", "GATELET_SECRET_SERVER_KEY", "GATELET_SUPER_SECRET_ADMIN_KEY"],
            Self::Internal => ["GATELET_INTERNAL_CLIENT_KEY", "GATELET_INTERNAL_SERVER_KEY", "GATELET_INTERNAL_ADMIN_KEY"],
        }
    }
}

/// Creates a random key with the prefix of its kind.
fn new_key(entropy: &Entropy, kind: KeyKind) -> SecretString {
    format!("{}{}", kind.prefix(), entropy.code().expose_secret()).into()
}

impl Keys {
    pub fn generate(entropy: &Entropy, project_id: ProjectId) -> Self {
        let [client, server, admin] = KeyKind::ALL.map(|kind| new_key(entropy, kind));
        Self { project_id, client, server, admin }
    }

    /// Chooses the keys of the first project: those in the environment, those of an earlier start,
    /// or new ones.
    pub fn choose(saved: &SavedKeys, entropy: &Entropy) -> anyhow::Result<Self> {
        let parsed =
            |text: String| ProjectId::parse(&text).with_context(|| format!("{PROJECT_ID} must be a UUID or internal, not {text:?}"));
        let set = variable(PROJECT_ID).map(parsed).transpose()?;
        let known = saved.value(PROJECT_ID).map(parsed).transpose()?;
        let project_id = match (set, known) {
            (Some(set), Some(known)) if set != known => bail!(
                "{PROJECT_ID} is {set}, but the project of this data folder is {known}: the shell has probably loaded the keys.env of \
                 another folder, so unset {PROJECT_ID} and the keys, or use a new shell. To change the project, move keys.env away"
            ),
            (Some(id), _) | (None, Some(id)) => id,
            (None, None) => ProjectId::from(entropy.uuid()),
        };
        Self::chosen(Role::First, project_id, saved, entropy)
    }

    /// Chooses the keys of the project `internal` in the same way as [`Self::choose`].
    pub fn choose_internal(saved: &SavedKeys, entropy: &Entropy) -> anyhow::Result<Self> {
        Self::chosen(Role::Internal, ProjectId::internal(), saved, entropy)
    }

    fn chosen(role: Role, project_id: ProjectId, saved: &SavedKeys, entropy: &Entropy) -> anyhow::Result<Self> {
        let mut secrets = Vec::with_capacity(KeyKind::ALL.len());
        for (name, kind) in role.names().into_iter().zip(KeyKind::ALL) {
            let text = variable(name).or_else(|| saved.value(name));
            if text.as_deref().is_some_and(|text| !is_key(text)) {
                bail!("{name} is not a valid key: it must consist of visible ASCII characters and must not be {NO_KEY}");
            }
            secrets.push(text.map_or_else(|| new_key(entropy, kind), SecretString::from));
        }
        let [client, server, admin] = <[SecretString; 3]>::try_from(secrets).map_err(|_| anyhow!("there are three keys"))?;
        let keys = Self { project_id, client, server, admin };
        let texts: BTreeSet<String> = keys.pairs().iter().map(|(_, secret)| secret.expose_secret().to_owned()).collect();
        if texts.len() < KeyKind::ALL.len() {
            bail!("{} must differ from each other", role.names().join(", "));
        }
        Ok(keys)
    }

    fn pairs(&self) -> [(KeyKind, SecretString); 3] {
        [
            (KeyKind::PublishableClient, self.client.clone()),
            (KeyKind::SecretServer, self.server.clone()),
            (KeyKind::SuperSecretAdmin, self.admin.clone()),
        ]
    }

    /// The keys as a key set, which can be listed and revoked like any key set.
    pub fn set(&self, entropy: &Entropy, description: &str, now: Timestamp) -> NewKeys {
        NewKeys::from_secrets(entropy, self.pairs().into(), description.to_owned(), now)
    }

    /// The lines of `keys.env` that contain these keys: `NAME=value`, without `export`.
    pub fn lines(&self, role: Role) -> String {
        let mut text = String::new();
        if role == Role::First {
            let _ = writeln!(text, "{PROJECT_ID}={}", self.project_id);
        }
        for (name, (_, secret)) in role.names().into_iter().zip(self.pairs()) {
            let _ = writeln!(text, "{name}={}", quoted(secret.expose_secret()));
        }
        text
    }
}

/// Completes the deletion of the project with the given id, if a deletion is pending.
async fn finish_deletion(store: &Store, id: &ProjectId, now: Timestamp) -> anyhow::Result<()> {
    let Some(ending) = store.project_ending(id).await? else { return Ok(()) };
    if let DeletionTarget::Project { since } = ending.what {
        while store.purge_project(id, since, now, Instant::now() + PURGE).await? != Purge::Nothing {}
    }
    Ok(store.forget_ending(&ending).await?)
}

/// Warns if the data contains projects other than `new`, because the file with their keys is gone.
pub(crate) async fn warn_of_others(store: &Store, new: &ProjectId) -> anyhow::Result<()> {
    let projects = store.projects().await?;
    let others: Vec<String> =
        projects.into_iter().filter(|line| line.id != *new && !line.id.is_internal()).map(|line| line.id.to_string()).collect();
    if !others.is_empty() {
        tracing::warn!(
            "the data folder has no keys.env, so {new} is a new project with new keys. To use another project instead, delete keys.env and \
             set {PROJECT_ID}; to create keys for that project, run `gateway project keys ID`. The other projects: {}",
            others.join(", ")
        );
    }
    Ok(())
}

/// Whether a string can be sent as a key and can be saved on one line.
fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic()) && text != NO_KEY
}

/// The initial settings of the project. The development project allows passwords, magic links,
/// sign-up, and callback URLs at localhost.
fn first_project(id: &ProjectId, now: Timestamp) -> Project {
    if id.is_internal() {
        return closed_internal(now);
    }
    let config = ProjectConfig { magic_link_enabled: true, ..ProjectConfig::default() };
    Project { config, ..Project::new(id.clone(), "Development", now) }
}

/// The initial settings of the project `internal`, both here and on AWS. All users of `internal`
/// can create projects, so sign-up is closed until the operator opens it.
pub(crate) fn closed_internal(now: Timestamp) -> Project {
    let mut project = Project::internal(now);
    project.config.sign_up_enabled = false;
    project
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page_key::PageKey;
    use crate::saved_keys::EXPORT;

    #[test]
    fn a_file_of_an_older_version_is_read_and_rewritten() {
        let file = std::env::temp_dir().join(format!("gatelet-keys-{}.env", Entropy::system().uuid()));
        let entropy = Entropy::system();
        let (first, internal) = (Keys::generate(&entropy, entropy.uuid().into()), Keys::generate(&entropy, ProjectId::internal()));
        let old = format!("{}{}", first.lines(Role::First), internal.lines(Role::Internal));
        std::fs::write(&file, &old).unwrap();
        let saved = SavedKeys::read(Some(&file)).unwrap();
        assert_eq!(Keys::choose(&saved, &entropy).unwrap().lines(Role::First), first.lines(Role::First));
        let page_key = PageKey::choose(&saved, &entropy).unwrap();
        saved.write(&file, &[first.lines(Role::First), internal.lines(Role::Internal), page_key.line()]).unwrap();
        let new = std::fs::read_to_string(&file).unwrap();
        assert!(new.lines().all(|line| line.starts_with("export GATELET_")), "{new}");
        assert_eq!(new.replace(EXPORT, ""), old + &page_key.line());
        assert_eq!(PageKey::choose(&SavedKeys::read(Some(&file)).unwrap(), &entropy).unwrap().line(), page_key.line());
        assert_eq!(Keys::choose(&SavedKeys::read(Some(&file)).unwrap(), &entropy).unwrap().lines(Role::First), first.lines(Role::First));
        std::fs::remove_file(file).unwrap();
    }
}
