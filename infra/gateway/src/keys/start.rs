//! Decides at the gateway's start which keys from the environment and `keys.env` a project uses,
//! and adds them to the project.

use std::collections::HashMap;

use anyhow::Context as _;
use crypto::digest::Digest;
use jiff::Timestamp;
use model::project::key_set::NewKeys;
use model::project::{ApiKey, KeyKind, Project};
use secrecy::{ExposeSecret as _, SecretString};
use store::Store;
use store::project::{ProjectRow, key_set};
use store::record::SystemWork;
use wire::clock::Clock;
use wire::entropy::Entropy;
use wire::environment::variable;

use super::{Keys, Role, finish_deletion, first_project, new_key};
use crate::saved_keys::SavedKeys;

/// The given keys that belong to a project, whether the project accepts them or not.
struct KnownKeys(HashMap<Digest, ApiKey>);

impl KnownKeys {
    async fn read(store: &Store, project: &Project, secrets: &[SecretString]) -> anyhow::Result<Self> {
        Ok(Self(store.api_keys(&project.id, secrets).await?))
    }

    fn get(&self, secret: &SecretString) -> Option<&ApiKey> {
        self.0.get(&Digest::of(secret.expose_secret()))
    }

    /// Whether the project accepts the secret as a key of the given kind.
    fn opens(&self, secret: &SecretString, kind: KeyKind, now: Timestamp) -> bool {
        self.get(secret).is_some_and(|key| key.opens(kind, now))
    }

    /// Whether the key belongs to the project, but the project does not accept it as a key of the
    /// given kind.
    fn refuses(&self, secret: &SecretString, kind: KeyKind, now: Timestamp) -> bool {
        self.get(secret).is_some_and(|key| !key.opens(kind, now))
    }
}

impl Keys {
    /// Creates the project with these keys, or makes an existing project accept them. Returns
    /// whether the project is new. The keys were chosen from the environment or, if it contains
    /// none, from the saved keys:
    ///
    /// - A key that is revoked, expired or of another kind is replaced by the saved key or, if the
    ///   project does not accept that key, by a new key. A shell with the variables of an older
    ///   `keys.env` therefore does not bring revoked keys back, and the gateway's pages always have
    ///   working keys.
    /// - A key that does not belong to the project replaces the saved key, which stops working.
    ///
    /// Data left by a deleted project with the same id is deleted first. Until the data is deleted,
    /// nothing else may write to the table.
    pub async fn start(&mut self, role: Role, saved: &SavedKeys, store: &Store, clock: &Clock, entropy: &Entropy) -> anyhow::Result<bool> {
        let Some(ProjectRow { project, .. }) = store.project(&self.project_id).await? else {
            self.create(store, clock.now(), entropy).await?;
            return Ok(true);
        };
        let old = role.names().map(|name| saved.value(name).map(SecretString::from));
        let secrets: Vec<SecretString> = self.secrets().into_iter().chain(old.iter().flatten().cloned()).collect();
        let known = KnownKeys::read(store, &project, &secrets).await?;
        self.renew(role, &old, &known, clock.now(), entropy);
        let mut missing = Vec::new();
        for ((name, old), (kind, new)) in role.names().into_iter().zip(old).zip(self.pairs()) {
            let old = old.filter(|old| old.expose_secret() != new.expose_secret() && known.opens(old, kind, clock.now()));
            match (old, known.get(&new)) {
                (Some(_), Some(_)) => tracing::warn!(
                    "the new {name} was already a key of the project, so the previous one stays valid: revoke it if necessary"
                ),
                (Some(old), None) => {
                    let replace = store.replace_key(&project.id, &old, &new);
                    let by_system = SystemWork { operation: "gateway-key-replace", fields: Vec::new(), clock, entropy };
                    if !by_system.run(&project, replace).await.with_context(|| format!("cannot replace the saved {name}"))? {
                        missing.push((kind, new));
                    }
                }
                (None, None) => missing.push((kind, new)),
                (None, Some(_)) => {}
            }
        }
        add(&project, missing, store, clock, entropy).await?;
        Ok(false)
    }

    /// Replaces keys that belong to the project but are not accepted.
    fn renew(&mut self, role: Role, old: &[Option<SecretString>; 3], known: &KnownKeys, now: Timestamp, entropy: &Entropy) {
        let id = &self.project_id;
        let secrets = [&mut self.client, &mut self.server, &mut self.admin];
        for (((name, old), kind), secret) in role.names().into_iter().zip(old).zip(KeyKind::ALL).zip(secrets) {
            if !known.refuses(secret, kind, now) {
                continue;
            }
            let valid = old.as_ref().filter(|old| known.opens(old, kind, now)).cloned();
            let kept = if valid.is_some() { "the gateway uses the one in keys.env" } else { "keys.env has a new one" };
            if variable(name).is_some() {
                tracing::warn!(
                    "{name} in the environment is revoked, expired or of another kind, so project {id} does not accept it: {kept}. Load \
                     keys.env again in your shell, or unset the variable"
                );
            } else {
                tracing::warn!("the saved {name} of project {id} was revoked or has expired: {kept}");
            }
            *secret = valid.unwrap_or_else(|| new_key(entropy, kind));
        }
    }

    /// Creates the project with these keys, or adds missing keys to an existing project. Returns
    /// whether the project is new. Data left by a deleted project with the same id is deleted
    /// first. Until the data is deleted, nothing else may write to the table.
    pub async fn install(&self, store: &Store, clock: &Clock, entropy: &Entropy) -> anyhow::Result<bool> {
        let Some(ProjectRow { project, .. }) = store.project(&self.project_id).await? else {
            self.create(store, clock.now(), entropy).await?;
            return Ok(true);
        };
        let known = KnownKeys::read(store, &project, &self.secrets()).await?;
        let missing = self.pairs().into_iter().filter(|(_, secret)| known.get(secret).is_none()).collect();
        add(&project, missing, store, clock, entropy).await?;
        Ok(false)
    }

    async fn create(&self, store: &Store, now: Timestamp, entropy: &Entropy) -> anyhow::Result<()> {
        finish_deletion(store, &self.project_id, now).await?;
        let keys = self.set(entropy, "Made with the project", now);
        Ok(store.create_project(&first_project(&self.project_id, now), &keys).await?)
    }

    fn secrets(&self) -> Vec<SecretString> {
        self.pairs().into_iter().map(|(_, secret)| secret).collect()
    }
}

/// Adds keys to a project as a new set.
async fn add(
    project: &Project,
    missing: Vec<(KeyKind, SecretString)>,
    store: &Store,
    clock: &Clock,
    entropy: &Entropy,
) -> anyhow::Result<()> {
    if missing.is_empty() {
        return Ok(());
    }
    let keys = NewKeys::from_secrets(entropy, missing, "Created on the command line".to_owned(), clock.now());
    let add = store.transact(key_set::create(&project.id, &keys)?);
    Ok(SystemWork { operation: "gateway-key-add", fields: Vec::new(), clock, entropy }.run(project, add).await?)
}
