//! The first project of a gateway and its keys: made at the first start, or fixed by the environment.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use shared::clock::Clock;
use shared::entropy::Entropy;
use shared::model::id::ProjectId;
use shared::model::key_set::NewKeys;
use shared::model::project::{KeyKind, Project, ProjectConfig};
use shared::settings::variable;
use shared::store::{Store, key_sets};

use crate::data::write_private;

/// A project and a key of each kind, in clear.
#[derive(Clone)]
pub struct Keys {
    pub project_id: ProjectId,
    pub client: SecretString,
    pub server: SecretString,
    pub admin: SecretString,
}

const PROJECT_ID: &str = "GATELET_PROJECT_ID";
const CLIENT: &str = "GATELET_PUBLISHABLE_CLIENT_KEY";
const SERVER: &str = "GATELET_SECRET_SERVER_KEY";
const ADMIN: &str = "GATELET_SUPER_SECRET_ADMIN_KEY";

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

    /// What the environment fixes, else what `keys.env` has, else new ones.
    pub fn choose(file: Option<&Path>, entropy: &Entropy) -> anyhow::Result<Self> {
        let saved = file.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
        let value = |name: &str| {
            let saved = || saved.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=').map(str::to_owned));
            variable(name).or_else(saved)
        };
        let project_id = match value(PROJECT_ID) {
            Some(text) => ProjectId::parse(&text).with_context(|| format!("{PROJECT_ID} must be a UUID or internal, not {text:?}"))?,
            None => ProjectId::from(entropy.uuid()),
        };
        let key = |name: &str, kind| value(name).map_or_else(|| new_key(entropy, kind), SecretString::from);
        Ok(Self {
            project_id,
            client: key(CLIENT, KeyKind::PublishableClient),
            server: key(SERVER, KeyKind::SecretServer),
            admin: key(ADMIN, KeyKind::SuperSecretAdmin),
        })
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
        if store.project(&self.project_id).await?.is_none() {
            let keys = self.set(entropy, "Made with the project", now);
            store.create_project(&development_project(self.project_id.clone(), clock), &keys).await?;
            return Ok(true);
        }
        let mut missing = Vec::new();
        for (kind, secret) in self.pairs() {
            if store.api_key(&self.project_id, &secret).await?.is_none() {
                missing.push((kind, secret));
            }
        }
        if !missing.is_empty() {
            let keys = NewKeys::of(entropy, missing, "Added by the command line".to_owned(), now);
            store.transact(key_sets::create(&self.project_id, &keys)?).await?;
        }
        Ok(false)
    }

    /// The lines of `keys.env`.
    pub fn lines(&self) -> String {
        let mut text = String::new();
        let values = [(CLIENT, &self.client), (SERVER, &self.server), (ADMIN, &self.admin)];
        let _ = writeln!(text, "{PROJECT_ID}={}", self.project_id);
        for (name, secret) in values {
            let _ = writeln!(text, "{name}={}", secret.expose_secret());
        }
        text
    }

    /// Writes `keys.env` when it does not say the same already.
    pub fn save(&self, file: &Path) -> anyhow::Result<()> {
        if std::fs::read_to_string(file).is_ok_and(|text| text == self.lines()) {
            return Ok(());
        }
        write_private(file, &self.lines())
    }
}

/// A project to develop with: password and magic link on, sign-up on, localhost allowed.
fn development_project(id: ProjectId, clock: &Clock) -> Project {
    let config = ProjectConfig { magic_link_enabled: true, ..ProjectConfig::default() };
    Project { config, ..Project::new(id, "Development", clock.now()) }
}
