//! The deployment secret in its generations, so that it can be replaced while people are signed in.
//!
//! Whatever is made (a signature, a sealed value) is made with the current one; what is read may be of the previous one too. An operator
//! names both for as long as anything of the previous one is about: an access token lives minutes, sealed values until they are written
//! anew.
//!
//! A function whose operation derives no key has no secret at all ([`DeploymentSecret::absent`]): it believes no token, opens nothing
//! and refuses to seal.

use secrecy::{ExposeSecret as _, SecretString};

/// The secret that everything of a deployment is derived from, with the one before it while that is being replaced.
#[derive(Clone)]
pub struct DeploymentSecret {
    current: Option<SecretString>,
    previous: Option<SecretString>,
}

impl DeploymentSecret {
    pub fn new(current: SecretString) -> Self {
        Self { current: Some(current), previous: None }
    }

    /// For functions that derive no keys.
    pub fn absent() -> Self {
        Self { current: None, previous: None }
    }

    /// Also reads what was made with `previous`.
    pub fn with_previous(self, previous: SecretString) -> Self {
        let is_another = self.current.as_ref().is_none_or(|current| previous.expose_secret() != current.expose_secret());
        Self { previous: is_another.then_some(previous), ..self }
    }

    pub fn current(&self) -> Option<&SecretString> {
        self.current.as_ref()
    }

    pub fn previous(&self) -> Option<&SecretString> {
        self.previous.as_ref()
    }

    /// The current one first.
    pub fn generations(&self) -> impl Iterator<Item = &SecretString> {
        self.current.iter().chain(&self.previous)
    }
}

impl From<String> for DeploymentSecret {
    fn from(current: String) -> Self {
        Self::new(current.into())
    }
}
