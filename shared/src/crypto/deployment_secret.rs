//! The deployment secret in its generations, so that it can be replaced while people are signed in.
//!
//! Whatever is made (a signature, a sealed value) is made with the current one; what is read may be of the previous one too. An operator
//! names both for as long as anything of the previous one is about: an access token lives minutes, sealed values until they are written
//! anew.

use secrecy::{ExposeSecret as _, SecretString};

/// The secret that everything of a deployment is derived from, with the one before it while that is being replaced.
#[derive(Clone)]
pub struct DeploymentSecret {
    current: SecretString,
    previous: Option<SecretString>,
}

impl DeploymentSecret {
    pub fn new(current: SecretString) -> Self {
        Self { current, previous: None }
    }

    /// Also reads what was made with `previous`.
    pub fn with_previous(self, previous: SecretString) -> Self {
        let is_another = previous.expose_secret() != self.current.expose_secret();
        Self { previous: is_another.then_some(previous), ..self }
    }

    pub fn current(&self) -> &SecretString {
        &self.current
    }

    pub fn previous(&self) -> Option<&SecretString> {
        self.previous.as_ref()
    }

    /// The current one first.
    pub fn generations(&self) -> impl Iterator<Item = &SecretString> {
        std::iter::once(&self.current).chain(&self.previous)
    }
}

impl From<String> for DeploymentSecret {
    fn from(current: String) -> Self {
        Self::new(current.into())
    }
}
