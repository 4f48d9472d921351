//! The projects that a gateway begins with and their keys, made at the first start or fixed by the environment: one to develop with, and
//! the project `internal`, whose users own projects. `keys.env` has them, and the page key.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Context as _, anyhow, bail};
use api::product::access::NO_KEY;
use jiff::Timestamp;
use model::project::key_set::NewKeys;
use model::project::{KeyKind, Project, ProjectConfig};
use secrecy::{ExposeSecret as _, SecretString};
use store::project::{ProjectRow, key_set};
use store::{Store, record};
use wire::clock::Clock;
use wire::entropy::Entropy;
use wire::environment::variable;
use wire::id::ProjectId;

use crate::saved_keys::{Saved, quoted};

/// A project and a key of each kind, in clear.
#[derive(Clone)]
pub struct Keys {
    pub project_id: ProjectId,
    pub client: SecretString,
    pub server: SecretString,
    pub admin: SecretString,
}

const PROJECT_ID: &str = "GATELET_PROJECT_ID";
/// Which of the projects keys are for: how they are called in the environment and in `keys.env`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    First,
    Internal,
}

impl Role {
    fn names(self) -> [&'static str; 3] {
        match self {
            Self::First => ["GATELET_PUBLISHABLE_CLIENT_KEY", "GATELET_SECRET_SERVER_KEY", "GATELET_SUPER_SECRET_ADMIN_KEY"],
            Self::Internal => ["GATELET_INTERNAL_CLIENT_KEY", "GATELET_INTERNAL_SERVER_KEY", "GATELET_INTERNAL_ADMIN_KEY"],
        }
    }
}

/// A random key with the prefix of its kind.
fn new_key(entropy: &Entropy, kind: KeyKind) -> SecretString {
    format!("{}{}", kind.prefix(), entropy.code().expose_secret()).into()
}

impl Keys {
    /// New keys for a project.
    pub fn generate(entropy: &Entropy, project_id: ProjectId) -> Self {
        let [client, server, admin] = KeyKind::ALL.map(|kind| new_key(entropy, kind));
        Self { project_id, client, server, admin }
    }

    /// Keys of the first project: what the environment fixes, else what was saved, else new ones.
    pub fn choose(saved: &Saved, entropy: &Entropy) -> anyhow::Result<Self> {
        let project_id = match variable(PROJECT_ID).or_else(|| saved.value(PROJECT_ID)) {
            Some(text) => ProjectId::parse(&text).with_context(|| format!("{PROJECT_ID} must be a UUID or internal, not {text:?}"))?,
            None => ProjectId::from(entropy.uuid()),
        };
        Self::chosen(Role::First, project_id, saved, entropy)
    }

    /// Keys of the project `internal`, chosen in the same way.
    pub fn choose_internal(saved: &Saved, entropy: &Entropy) -> anyhow::Result<Self> {
        Self::chosen(Role::Internal, ProjectId::internal(), saved, entropy)
    }

    fn chosen(role: Role, project_id: ProjectId, saved: &Saved, entropy: &Entropy) -> anyhow::Result<Self> {
        let mut secrets = Vec::with_capacity(KeyKind::ALL.len());
        for (name, kind) in role.names().into_iter().zip(KeyKind::ALL) {
            let text = variable(name).or_else(|| saved.value(name));
            if let Some(text) = text.as_deref().filter(|text| !is_key(text)) {
                bail!("{name} must be visible ASCII and stand for a key, unlike {text:?}");
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

    /// Ends the keys that were saved and are other ones now.
    pub async fn replace_saved(&self, role: Role, saved: &Saved, store: &Store, clock: &Clock, entropy: &Entropy) -> anyhow::Result<()> {
        let Some(ProjectRow { project, .. }) = store.project(&self.project_id).await? else { return Ok(()) };
        for (name, (_, new)) in role.names().into_iter().zip(self.pairs()) {
            let old = saved.value(name).filter(|old| old != new.expose_secret()).map(SecretString::from);
            if let Some(old) = old {
                let replace = store.replace_key(&self.project_id, &old, &new);
                let replaced = record::by_system("gateway-key-replace", &project, Vec::new(), clock, entropy, replace).await;
                replaced.with_context(|| format!("{name} is a key of the project already"))?;
            }
        }
        Ok(())
    }

    fn pairs(&self) -> [(KeyKind, SecretString); 3] {
        [
            (KeyKind::PublishableClient, self.client.clone()),
            (KeyKind::SecretServer, self.server.clone()),
            (KeyKind::SuperSecretAdmin, self.admin.clone()),
        ]
    }

    /// As a set that can be listed and revoked.
    pub fn set(&self, entropy: &Entropy, description: &str, now: Timestamp) -> NewKeys {
        NewKeys::of(entropy, self.pairs().into(), description.to_owned(), now)
    }

    /// Creates the project, or gives the one that is there the keys it lacks. Says whether the project is new.
    pub async fn install(&self, store: &Store, clock: &Clock, entropy: &Entropy) -> anyhow::Result<bool> {
        let now = clock.now();
        let Some(ProjectRow { project, .. }) = store.project(&self.project_id).await? else {
            let keys = self.set(entropy, "Made with the project", now);
            store.create_project(&first_project(&self.project_id, now), &keys).await?;
            return Ok(true);
        };
        let mut missing = Vec::new();
        for (kind, secret) in self.pairs() {
            if store.api_key(&self.project_id, &secret).await?.is_none() {
                missing.push((kind, secret));
            }
        }
        if !missing.is_empty() {
            let keys = NewKeys::of(entropy, missing, "Added by the command line".to_owned(), now);
            let add = store.transact(key_set::create(&self.project_id, &keys)?);
            record::by_system("gateway-key-add", &project, Vec::new(), clock, entropy, add).await?;
        }
        Ok(false)
    }

    /// Their lines: `NAME=value`.
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

/// Whether a text can be sent as a key, and saved in a line.
fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic()) && text != NO_KEY
}

/// The project whose users own projects, or one to develop with: password and magic link on, sign-up on, localhost allowed.
fn first_project(id: &ProjectId, now: Timestamp) -> Project {
    if id.is_internal() {
        return closed_internal(now);
    }
    let config = ProjectConfig { magic_link_enabled: true, ..ProjectConfig::default() };
    Project { config, ..Project::new(id.clone(), "Development", now) }
}

/// The project `internal` as it begins, here and on AWS: whoever signs up may create projects, so that is for the operator to decide.
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
    fn a_file_of_an_older_version_is_read_and_written_anew() {
        let file = std::env::temp_dir().join(format!("gatelet-keys-{}.env", Entropy::system().uuid()));
        let entropy = Entropy::system();
        let (first, internal) = (Keys::generate(&entropy, entropy.uuid().into()), Keys::generate(&entropy, ProjectId::internal()));
        let old = format!("{}{}", first.lines(Role::First), internal.lines(Role::Internal));
        std::fs::write(&file, &old).unwrap();
        let saved = Saved::read(Some(&file));
        assert_eq!(Keys::choose(&saved, &entropy).unwrap().lines(Role::First), first.lines(Role::First));
        let page_key = PageKey::choose(&saved, &entropy).unwrap();
        saved.write(&file, &[first.lines(Role::First), internal.lines(Role::Internal), page_key.line()]).unwrap();
        let new = std::fs::read_to_string(&file).unwrap();
        assert!(new.lines().all(|line| line.starts_with("export GATELET_")), "{new}");
        assert_eq!(new.replace(EXPORT, ""), old + &page_key.line());
        assert_eq!(PageKey::choose(&Saved::read(Some(&file)), &entropy).unwrap().line(), page_key.line());
        assert_eq!(Keys::choose(&Saved::read(Some(&file)), &entropy).unwrap().lines(Role::First), first.lines(Role::First));
        std::fs::remove_file(file).unwrap();
    }
}
