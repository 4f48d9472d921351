//! The deployment secret and, while it is being replaced, the previous secret, which keeps users
//! signed in.
//!
//! New signatures and sealed values are made with the current secret; existing ones may have been
//! made with the previous secret. The operator keeps both secrets configured as long as anything
//! made with the previous one is in use. Access tokens expire within an hour. Sealed values and the
//! codes that authenticate the audit trails remain in use until `gateway reseal` replaces them.
//!
//! Lambda functions whose operations do not derive keys run without a secret
//! ([`DeploymentSecret::absent`]): they reject all tokens, and can neither open nor seal values.

use secrecy::{ExposeSecret as _, SecretString};

/// The secret that a deployment's keys are derived from and, during a rotation, the previous
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

    /// The secret for new signatures and sealed values; `None` if the function does not have one.
    pub fn current(&self) -> Option<&SecretString> {
        self.current.as_ref()
    }

    /// The previous secret, which is still accepted; `None` unless a rotation is under way.
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
