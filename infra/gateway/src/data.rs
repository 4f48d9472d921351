//! The data folder of a gateway: database, mails, the deployment secret, and the keys of the first project.
//!
//! Everything in it is for its owner alone. The folder is the whole state: copy it, and the gateway is elsewhere.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use secrecy::ExposeSecret as _;
use shared::crypto::deployment_secret::DeploymentSecret;
use shared::entropy::Entropy;
use shared::settings::deployment_secret;

/// The folder of a gateway's data.
#[derive(Debug, Clone)]
pub struct Data(PathBuf);

impl Data {
    /// The folder, created when it is not there.
    pub fn create(folder: &Path) -> anyhow::Result<Self> {
        let created = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        created.with_context(|| format!("the data folder {} cannot be created", folder.display()))?;
        let data = Self(folder.to_owned());
        // Found out now, by a line that says it, and not by the first request.
        let probe = data.0.join(".write-probe");
        std::fs::write(&probe, b"").with_context(|| format!("the data folder {} cannot be written", folder.display()))?;
        std::fs::remove_file(&probe).with_context(|| format!("the data folder {} cannot be written", folder.display()))?;
        Ok(data)
    }

    /// The folder of a gateway that has run.
    pub fn existing(folder: &Path) -> anyhow::Result<Self> {
        let data = Self(folder.to_owned());
        if !data.database().is_file() {
            bail!("there is no gateway data in {}: start the gateway once, or name its folder with --data", folder.display());
        }
        Ok(data)
    }

    pub fn database(&self) -> PathBuf {
        self.0.join("gatelet.db")
    }

    pub fn mails(&self) -> PathBuf {
        self.0.join("mails")
    }

    pub fn keys_file(&self) -> PathBuf {
        self.0.join("keys.env")
    }

    /// The deployment secret, made at the first start.
    pub fn secret(&self, entropy: &Entropy) -> anyhow::Result<DeploymentSecret> {
        let path = self.0.join("secret");
        match std::fs::read_to_string(&path) {
            Ok(text) => deployment_secret(text.trim().to_owned()).with_context(|| format!("{} is damaged", path.display())),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let secret = entropy.code();
                write_private(&path, secret.expose_secret())?;
                Ok(DeploymentSecret::new(secret))
            }
            Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
        }
    }
}

/// Writes a file that its owner alone may read, whole or not at all.
pub(crate) fn write_private(path: &Path, text: &str) -> anyhow::Result<()> {
    let written = || {
        let draft = path.with_extension("new");
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&draft, path)
    };
    written().with_context(|| format!("{} cannot be written", path.display()))
}
