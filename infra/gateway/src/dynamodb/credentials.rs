//! The credentials for `--dynamodb-port`.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::bail;
use secrecy::{ExposeSecret as _, SecretString};
use wire::entropy::Entropy;
use wire::environment::variable;

use crate::data::write_private;
use crate::engine::TABLE;
use crate::saved_keys::{EXPORT, SavedKeys, quoted};

const ID: &str = "GATELET_DYNAMODB_ACCESS_KEY_ID";
const SECRET: &str = "GATELET_DYNAMODB_SECRET_ACCESS_KEY";

/// An access key id and a secret access key, in the format that AWS uses.
#[derive(Clone)]
pub(crate) struct Credentials {
    pub(crate) id: String,
    pub(crate) secret: SecretString,
}

impl Credentials {
    /// Chooses the credentials: those in the environment, those of an earlier start, or new ones.
    pub(crate) fn choose(file: Option<&Path>, entropy: &Entropy) -> anyhow::Result<Self> {
        let saved = SavedKeys::read(file)?;
        let chosen = match (variable(ID), variable(SECRET)) {
            (Some(id), Some(secret)) => (id, secret.into()),
            (None, None) => match (saved.value("AWS_ACCESS_KEY_ID"), saved.value("AWS_SECRET_ACCESS_KEY")) {
                (Some(id), Some(secret)) => (id, secret.into()),
                _ => (format!("gatelet-{}", entropy.request_id()), entropy.code()),
            },
            _ => bail!("set both {ID} and {SECRET}, or neither"),
        };
        let (id, secret): (String, SecretString) = chosen;
        // The id must be valid on a line of the file, and in `Credential=` of a header, where a
        // slash would end the id.
        if !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
            bail!("{ID} may only contain letters, digits, '-', '_' and '.', unlike {id:?}");
        }
        if !secret.expose_secret().bytes().all(|byte| byte.is_ascii_graphic()) {
            bail!("{SECRET} may only contain visible ASCII characters");
        }
        Ok(Self { id, secret })
    }

    /// Writes the variables that other processes need to reach the table, in a file that a shell
    /// can source.
    pub(crate) fn write(&self, file: &Path, endpoint: &str) -> anyhow::Result<()> {
        let lines = [
            ("GATELET_TABLE", TABLE),
            ("AWS_ENDPOINT_URL_DYNAMODB", endpoint),
            ("AWS_REGION", "local"),
            ("AWS_ACCESS_KEY_ID", &self.id),
            ("AWS_SECRET_ACCESS_KEY", self.secret.expose_secret()),
        ];
        let mut text = String::new();
        for (name, value) in lines {
            let _ = writeln!(text, "{EXPORT}{name}={}", quoted(value));
        }
        write_private(file, &text)
    }
}
