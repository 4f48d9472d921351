//! What settings of projects are checked with, and what is wrong with one.

use std::borrow::Cow;

use crypto::seal::Sealer;
use url::Url;
use wire::change::Change;
use wire::entropy::Entropy;

use crate::project::senders::Senders;

/// What is wrong with a setting, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} {message}")]
pub struct InvalidSetting {
    pub path: String,
    pub message: Cow<'static, str>,
}

pub(crate) fn invalid(path: impl Into<String>, message: impl Into<Cow<'static, str>>) -> InvalidSetting {
    InvalidSetting { path: path.into(), message: message.into() }
}

/// What settings are checked and sealed with.
pub struct Deployment<'a> {
    pub sealer: &'a Sealer,
    pub entropy: &'a Entropy,
    pub senders: &'a Senders,
}

pub(crate) fn set<T>(new: Option<T>, field: &mut T) {
    if let Some(new) = new {
        *field = new;
    }
}

pub(crate) fn set_url(path: &str, new: Change<String>, field: &mut Option<String>) -> Result<(), InvalidSetting> {
    if let Change::Set(text) = &new {
        check_url(path, text)?;
    }
    new.apply(field);
    Ok(())
}

pub(crate) fn check_url(path: &str, text: &str) -> Result<(), InvalidSetting> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && text.len() <= 2048);
    url.map(drop).ok_or_else(|| invalid(path, "must be an http or https URL"))
}
