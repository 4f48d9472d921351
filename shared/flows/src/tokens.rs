//! Access tokens that this process has already verified, so that each signature is checked only
//! once (`infra/README.md`, "What a request costs in the gateway").
//!
//! Only the claims in the token are remembered. Every request checks the expiry again and reads the
//! session, the user and, unless its proof is remembered, the project.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crypto::digest::Digest;
use jiff::Timestamp;
use model::session::token::{Claims, Remember};

/// The maximum number of remembered tokens; each takes about a kilobyte.
const MAX_TOKENS: usize = 2000;

/// Claims of verified tokens, by the digest of the whole token.
#[derive(Default)]
pub(crate) struct Tokens(Mutex<HashMap<Digest, Claims>>);

impl Tokens {
    fn known(&self) -> MutexGuard<'_, HashMap<Digest, Claims>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Remember for Tokens {
    fn claims(&self, token: &str) -> Option<Claims> {
        let digest = Digest::of(token);
        self.known().get(&digest).cloned()
    }

    fn keep(&self, token: &str, claims: &Claims, now: Timestamp) {
        let mut known = self.known();
        if known.len() >= MAX_TOKENS {
            known.retain(|_, claims| claims.exp > now.as_second());
            // If too few tokens have expired, all are forgotten; otherwise, every new token might
            // cause another search for expired ones.
            if known.len() > MAX_TOKENS / 2 {
                known.clear();
            }
        }
        known.insert(Digest::of(token), claims.clone());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use model::session::token::{Signer, Subject};
    use wire::entropy::Entropy;
    use wire::id::{ProjectId, SessionId, UserId};

    fn claims() -> Claims {
        let (signer, entropy) =
            (Signer::new(&"a deployment secret of some length".to_owned().into(), "http://api.test"), Entropy::system());
        let subject = Subject {
            user: UserId::from(entropy.uuid()),
            project: ProjectId::internal(),
            session: SessionId::from(entropy.uuid()),
            name: None,
            email: None,
            email_verified: false,
            selected_team: None,
            signed_up_at: Timestamp::UNIX_EPOCH,
            restricted: None,
            requires_totp: false,
        };
        let token = signer.sign(&subject, Timestamp::UNIX_EPOCH, Duration::from_secs(60));
        signer.verify(&token, Timestamp::UNIX_EPOCH).unwrap()
    }

    #[test]
    fn only_the_very_same_token_is_remembered() {
        let (tokens, claims) = (Tokens::default(), claims());
        tokens.keep("token", &claims, Timestamp::UNIX_EPOCH);
        assert_eq!(tokens.claims("token").unwrap().sub, claims.sub);
        assert!(["", "tokeN", "token ", "toke"].iter().all(|other| tokens.claims(other).is_none()));
    }

    #[test]
    fn a_flood_of_tokens_does_not_fill_the_memory_and_expired_ones_go_first() {
        let (tokens, claims) = (Tokens::default(), claims());
        let later = Timestamp::from_second(60).unwrap();
        for number in 0..MAX_TOKENS {
            tokens.keep(&number.to_string(), &claims, Timestamp::UNIX_EPOCH);
        }
        let fresh = Claims { exp: 120, ..claims.clone() };
        tokens.keep("fresh", &fresh, later);
        assert!(tokens.claims("fresh").is_some());
        assert_eq!(tokens.known().len(), 1);
        for number in 0..3 * MAX_TOKENS {
            tokens.keep(&number.to_string(), &fresh, later);
            assert!(tokens.known().len() <= MAX_TOKENS);
        }
    }
}
