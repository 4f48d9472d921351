//! Validation of project settings.

pub mod senders;

use std::borrow::Cow;

use crypto::seal::Sealer;
use url::Url;
use wire::change::Change;
use wire::entropy::Entropy;

use crate::provider::shared::SharedClients;
use crate::setting::senders::Senders;

/// An invalid setting with its path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} {message}")]
pub struct SettingRefusal {
    /// The path of the setting, as in `config.domains[0].domain`.
    pub path: String,
    /// What is wrong with the value, or which values are expected, as the end of a sentence that
    /// begins with the path.
    pub message: Cow<'static, str>,
}

pub(crate) fn invalid(path: impl Into<String>, message: impl Into<Cow<'static, str>>) -> SettingRefusal {
    SettingRefusal { path: path.into(), message: message.into() }
}

/// The placeholder for a stored secret, where published SDKs expect a value. In a request, the
/// placeholder means "unchanged".
pub const HIDDEN_SECRET: &str = "********";

/// The parts of the deployment that are needed to validate project settings and to seal secrets.
pub struct Deployment<'a> {
    /// Seals secrets.
    pub sealer: &'a Sealer,
    /// The source of nonces.
    pub entropy: &'a Entropy,
    /// The permitted sender addresses.
    pub senders: &'a Senders,
    /// The deployment's clients at OAuth providers.
    pub shared: &'a SharedClients,
}

pub(crate) fn set<T>(new: Option<T>, field: &mut T) {
    if let Some(new) = new {
        *field = new;
    }
}

pub(crate) fn set_url(path: &str, new: Change<String>, field: &mut Option<String>) -> Result<(), SettingRefusal> {
    if let Change::Set(text) = &new {
        check_url(path, text)?;
    }
    new.apply(field);
    Ok(())
}

pub(crate) fn check_url(path: &str, text: &str) -> Result<(), SettingRefusal> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && text.len() <= 2048);
    url.map(drop).ok_or_else(|| invalid(path, "must be an http or https URL of at most 2048 bytes"))
}

/// A deployment for tests, which permits every sender and does not share clients.
#[cfg(test)]
pub(crate) mod testing {
    use crypto::deployment_secret::DeploymentSecret;

    use super::{Deployment, Entropy, Sealer, Senders, SharedClients};

    pub(crate) fn sealer() -> Sealer {
        Sealer::new(&DeploymentSecret::new("a deployment secret for tests alone".to_owned().into()))
    }

    pub(crate) fn in_deployment<T>(act: impl FnOnce(&Deployment<'_>) -> T) -> T {
        act(&Deployment {
            sealer: &sealer(),
            entropy: &Entropy::system(),
            senders: &Senders::new(String::new(), "*").expect("a list"),
            shared: &SharedClients::default(),
        })
    }
}
