//! The deployment secret of a gateway. A gateway can use its data only with the secret that sealed
//! the data's values and authenticated its audit trails.

use anyhow::{Context as _, bail};
use crypto::deployment_secret::DeploymentSecret;
use crypto::trail_keys::TrailKeys;
use settings::deployment_secret;
use store::{Error, Store};
use wire::entropy::Entropy;
use wire::environment::variable;

use crate::data::Data;

const NAME: &str = "GATELET_SECRET";

/// The deployment secret from the environment or, if it is not set there, from the data folder;
/// `None` if neither contains one.
pub(super) fn given(data: Option<&Data>) -> anyhow::Result<Option<DeploymentSecret>> {
    match (variable(NAME), data) {
        (Some(secret), _) => Ok(Some(deployment_secret(secret)?)),
        (None, Some(data)) => data.secret(),
        (None, None) => Ok(None),
    }
}

/// The deployment secret of a data folder: the given secret or, if the data has never had one, a
/// new secret.
pub(super) async fn folder_secret(data: &Data, store: &Store, entropy: &Entropy) -> anyhow::Result<DeploymentSecret> {
    if let Some(secret) = given(Some(data))? {
        return Ok(secret);
    }
    let missing = || format!("the deployment secret for this data is missing: {}", advice(data));
    check(store, &DeploymentSecret::absent()).await.with_context(missing)?;
    data.new_secret(entropy)
}

/// Like [`folder_secret`], but fails if the secret does not belong to the data, unless the data's
/// original secret `is_lost`.
pub(super) async fn checked(data: &Data, store: &Store, entropy: &Entropy, is_lost: bool) -> anyhow::Result<DeploymentSecret> {
    // An existing secret is never replaced, even if it cannot be read or used.
    let is_set = variable(NAME).is_some();
    let is_missing = !is_set && !data.secret_file().exists();
    let secret = match folder_secret(data, store, entropy).await {
        Err(error) if is_lost && is_missing => {
            tracing::warn!("{error:#}: starting with a new secret");
            data.new_secret(entropy)?
        }
        secret => secret?,
    };
    let source = if is_set { NAME.to_owned() } else { data.secret_file().display().to_string() };
    let wrong = || format!("the deployment secret in {source} does not belong to this data: {}", advice(data));
    match check(store, &secret).await.with_context(wrong) {
        Err(error) if is_lost => tracing::warn!("{error:#}"),
        checked => checked?,
    }
    Ok(secret)
}

/// Whether the given secret belongs to the data; `true` if there is no secret yet, or no data to
/// compare it with.
pub(super) async fn fits(data: &Data, store: &Store) -> anyhow::Result<bool> {
    let secret = given(Some(data))?.unwrap_or_else(DeploymentSecret::absent);
    Ok(check(store, &secret).await.is_ok())
}

fn advice(data: &Data) -> String {
    let file = data.secret_file();
    let file = file.display();
    format!(
        "copy the file `secret` from the data's original folder to {file}, or set GATELET_SECRET to the secret; if you are \
         replacing the secret, set GATELET_SECRET_PREVIOUS to the previous one. If the secret is lost, start with --secret-lost: \
         authenticator apps and providers' secrets then remain unreadable, and audit logs can no longer be verified"
    )
}

/// Fails if there are audit trails, but the secret authenticates none of them. A forged trail can
/// therefore not keep the gateway from starting if another project has a genuine trail.
/// `gateway audit verify` reports forged trails.
async fn check(store: &Store, secret: &DeploymentSecret) -> anyhow::Result<()> {
    let keys = TrailKeys::new(secret);
    let mut refused = None;
    for project in store.projects().await? {
        match store.authentic_head(&project.id, &keys).await {
            Ok(Some(_)) => return Ok(()),
            Ok(None) => {}
            Err(Error::Refused(reason)) => refused = Some(reason),
            Err(error) => return Err(error.into()),
        }
    }
    match refused {
        Some(reason) => bail!(reason),
        None => Ok(()),
    }
}
