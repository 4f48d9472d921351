//! Signatures of JWTs (RFC 7515, RFC 7518): ring behind jsonwebtoken's interface, because the
//! backends that jsonwebtoken ships would add a second crypto stack. We sign with ES256 and verify
//! other issuers' tokens with every asymmetric algorithm that ring supports. HMAC is excluded, so
//! that a public key cannot be passed off as a shared secret.

use std::sync::Once;

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error as JwtError, ErrorKind};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};
use ring::rand::SystemRandom;
use ring::signature as ring_signature;
use ring::signature::{EcdsaKeyPair, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm};

/// The algorithms accepted in tokens of other issuers.
pub const VERIFIED: [Algorithm; 9] = [
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::EdDSA,
];

/// How ring verifies signatures of an algorithm.
enum Verification {
    Bytes(&'static dyn VerificationAlgorithm),
    Rsa(&'static RsaParameters),
}

fn verification(algorithm: Algorithm) -> Option<Verification> {
    Some(match algorithm {
        Algorithm::ES256 => Verification::Bytes(&ring_signature::ECDSA_P256_SHA256_FIXED),
        Algorithm::ES384 => Verification::Bytes(&ring_signature::ECDSA_P384_SHA384_FIXED),
        Algorithm::EdDSA => Verification::Bytes(&ring_signature::ED25519),
        Algorithm::RS256 => Verification::Rsa(&ring_signature::RSA_PKCS1_2048_8192_SHA256),
        Algorithm::RS384 => Verification::Rsa(&ring_signature::RSA_PKCS1_2048_8192_SHA384),
        Algorithm::RS512 => Verification::Rsa(&ring_signature::RSA_PKCS1_2048_8192_SHA512),
        Algorithm::PS256 => Verification::Rsa(&ring_signature::RSA_PSS_2048_8192_SHA256),
        Algorithm::PS384 => Verification::Rsa(&ring_signature::RSA_PSS_2048_8192_SHA384),
        Algorithm::PS512 => Verification::Rsa(&ring_signature::RSA_PSS_2048_8192_SHA512),
        _ => return None,
    })
}

/// Signs with ES256. The field has the private scalar, followed by the uncompressed public point;
/// jsonwebtoken calls these bytes DER, but does not parse them.
struct Es256(Vec<u8>);

impl signature::Signer<Vec<u8>> for Es256 {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, signature::Error> {
        let (private, public) = self.0.split_at_checked(32).ok_or_else(signature::Error::new)?;
        let random = SystemRandom::new();
        let algorithm = &ring_signature::ECDSA_P256_SHA256_FIXED_SIGNING;
        let pair =
            EcdsaKeyPair::from_private_key_and_public_key(algorithm, private, public, &random).map_err(|_| signature::Error::new())?;
        Ok(pair.sign(&random, message).map_err(|_| signature::Error::new())?.as_ref().to_vec())
    }
}

impl JwtSigner for Es256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::ES256
    }
}

struct Verifier {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl signature::Verifier<Vec<u8>> for Verifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let verified = match (verification(self.algorithm), self.key.kind()) {
            (Some(Verification::Bytes(algorithm)), DecodingKeyKind::SecretOrDer(key)) => {
                UnparsedPublicKey::new(algorithm, key).verify(message, signature)
            }
            (Some(Verification::Rsa(parameters)), DecodingKeyKind::RsaModulusExponent { n, e }) => {
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            _ => return Err(signature::Error::new()),
        };
        verified.map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for Verifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

/// Registers ring as the provider that jsonwebtoken signs and verifies with. May be called
/// repeatedly.
pub fn install() {
    static PROVIDER: CryptoProvider = CryptoProvider {
        signer_factory: |algorithm, key| match algorithm {
            Algorithm::ES256 => Ok(Box::new(Es256(key.as_bytes().to_vec()))),
            _ => Err(JwtError::from(ErrorKind::InvalidAlgorithm)),
        },
        verifier_factory: |algorithm, key| match verification(*algorithm) {
            Some(_) => Ok(Box::new(Verifier { algorithm: *algorithm, key: key.clone() })),
            None => Err(JwtError::from(ErrorKind::InvalidAlgorithm)),
        },
        key_utils: KeyUtils::new_unimplemented(),
    };
    static ONCE: Once = Once::new();
    // This fails only if another provider is already installed, which then stays in use.
    ONCE.call_once(|| {
        let _ = PROVIDER.install_default();
    });
}
