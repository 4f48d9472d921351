//! The deployment secret and, during a rotation, the previous one, so that users stay signed in.
//!
//! New signatures and sealed values use the current secret; existing ones may also use the previous
//! secret. An operator sets both for as long as anything made with the previous one is in use:
//! access tokens expire within an hour at most; sealed values and the codes that authenticate the
//! audit trails stay until `gateway reseal` replaces them.
//!
//! A Lambda function whose operation derives no key has no secret at all
//! ([`DeploymentSecret::absent`]): it accepts no token, opens no sealed value and refuses to seal.

use secrecy::{ExposeSecret as _, SecretString};

/// The secret that a deployment's own keys are derived from and, during a rotation, the previous
/// secret.
#[derive(Clone)]
pub struct DeploymentSecret {
    current: Option<SecretString>,
    previous: Option<SecretString>,
}

impl DeploymentSecret {
    /// A secret that is not being rotated.
    pub fn new(current: SecretString) -> Self {
        Self { current: Some(current), previous: None }
    }

    /// No secret, for functions that derive no keys.
    pub fn absent() -> Self {
        Self { current: None, previous: None }
    }

    /// Also accepts signatures and sealed values made with `previous`. Has no effect if `previous`
    /// is the current secret.
    pub fn with_previous(self, previous: SecretString) -> Self {
        let is_another = self.current.as_ref().is_none_or(|current| previous.expose_secret() != current.expose_secret());
        Self { previous: is_another.then_some(previous), ..self }
    }

    /// The secret for new signatures and sealed values; `None` if the function has no secret.
    pub fn current(&self) -> Option<&SecretString> {
        self.current.as_ref()
    }

    /// The secret that is accepted besides the current one; `None` unless a rotation is under way.
    pub fn previous(&self) -> Option<&SecretString> {
        self.previous.as_ref()
    }

    /// The current secret, then the previous one.
    pub fn generations(&self) -> impl Iterator<Item = &SecretString> {
        self.current.iter().chain(&self.previous)
    }
}

impl From<String> for DeploymentSecret {
    fn from(current: String) -> Self {
        Self::new(current.into())
    }
}
