//! The HMAC-SHA-256 key that signs proof-of-work challenges. The key is derived from the deployment
//! secret, so it need not be stored, and every instance has the same key. During a rotation of the
//! secret, challenges signed with the previous key are still accepted.

use ring::hmac;

use crate::deployment_secret::DeploymentSecret;

/// Signs challenges, and verifies their signatures.
pub struct ChallengeKey {
    /// The key of each generation of the secret, starting with the current generation.
    generations: Vec<hmac::Key>,
}

impl ChallengeKey {
    /// Derives the keys of all generations of the secret.
    pub fn new(secret: &DeploymentSecret) -> Self {
        let key = |secret| hmac::Key::new(hmac::HMAC_SHA256, &crate::derive(secret, &[b"challenge"]));
        Self { generations: secret.generations().map(key).collect() }
    }

    /// Signs a text; `None` if the function does not have a deployment secret.
    pub fn sign(&self, text: &str) -> Option<Vec<u8>> {
        self.generations.first().map(|key| hmac::sign(key, text.as_bytes()).as_ref().to_vec())
    }

    /// Whether a text was signed with the current or the previous key. A check takes the same time
    /// no matter which bytes of a wrong signature differ.
    pub fn verifies(&self, text: &str, signature: &[u8]) -> bool {
        self.generations.iter().any(|key| hmac::verify(key, text.as_bytes(), signature).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> DeploymentSecret {
        DeploymentSecret::from(text.to_owned())
    }

    #[test]
    fn a_challenge_stays_valid_while_the_deployment_secret_is_replaced() {
        let before = ChallengeKey::new(&secret("the deployment secret before"));
        let signature = before.sign("challenge").expect("a secret");
        let during =
            ChallengeKey::new(&secret("the deployment secret after").with_previous("the deployment secret before".to_owned().into()));
        assert!(during.verifies("challenge", &signature) && !during.verifies("challenges", &signature));
        let after = ChallengeKey::new(&secret("the deployment secret after"));
        assert!(!after.verifies("challenge", &signature));
        assert_eq!(during.sign("challenge"), after.sign("challenge"));
    }

    #[test]
    fn without_a_secret_no_challenge_is_signed_or_accepted() {
        let none = ChallengeKey::new(&DeploymentSecret::absent());
        assert!(none.sign("challenge").is_none() && !none.verifies("challenge", &[0; 32]));
    }
}
