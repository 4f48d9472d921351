//! The key that proof-of-work challenges are signed with (HMAC-SHA-256), derived from the deployment secret: there is nothing to store,
//! and every instance has the same. While the secret is being replaced, challenges of the previous one are believed.

use ring::hmac;

use crate::deployment_secret::DeploymentSecret;

/// Signs challenges, and knows its own.
pub struct ChallengeKey {
    /// The current one first.
    generations: Vec<hmac::Key>,
}

impl ChallengeKey {
    pub fn new(secret: &DeploymentSecret) -> Self {
        let key = |secret| hmac::Key::new(hmac::HMAC_SHA256, &crate::derive(secret, &[b"challenge"]));
        Self { generations: secret.generations().map(key).collect() }
    }

    /// The signature of a text; none where the function has no deployment secret.
    pub fn sign(&self, text: &str) -> Option<Vec<u8>> {
        self.generations.first().map(|key| hmac::sign(key, text.as_bytes()).as_ref().to_vec())
    }

    /// Whether a text was signed with this key, or with the one before. Takes as long for every wrong signature.
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
    fn a_challenge_outlives_the_replacement_of_the_deployment_secret_and_not_its_end() {
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
    fn without_a_secret_nothing_is_signed_or_believed() {
        let none = ChallengeKey::new(&DeploymentSecret::absent());
        assert!(none.sign("challenge").is_none() && !none.verifies("challenge", &[0; 32]));
    }
}
