//! The deployment secret and, during a rotation, the previous one, so that users stay signed in.
//!
//! New signatures and sealed values use the current secret; existing ones may also use the previous
//! secret. An operator sets both secrets until nothing made with the previous one is in use any
//! more: access tokens expire within an hour at most; sealed values and the codes that authenticate
//! the audit trails remain in use until `gateway reseal` replaces them.
//!
//! A Lambda function whose operation does not derive keys does not have a secret at all
//! ([`DeploymentSecret::absent`]): it rejects all tokens, and can neither open nor seal values.

use secrecy::{ExposeSecret as _, SecretString};

/// The secret behind a deployment's own keys and, during a rotation, the previous secret.
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

    /// No secret, for functions that do not derive keys.
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

    /// The previous secret, still accepted; `None` unless a rotation is under way.
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
