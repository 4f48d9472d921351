//! Signatures of JWTs (RFC 7515, RFC 7518). Our own tokens are signed with ES256 or RS256, by ring
//! behind jsonwebtoken's interface: jsonwebtoken's own backends would add a second crypto stack.
//! Other issuers may sign their tokens with any of the standard asymmetric algorithms
//! ([`Algorithm`]), some of which jsonwebtoken does not support. HMAC is excluded, so that a public
//! key cannot be passed off as a shared secret.

use std::sync::Once;

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error as JwtError, ErrorKind};
use jsonwebtoken::{DecodingKey, DecodingKeyKind};
use p521::ecdsa::signature::hazmat::PrehashVerifier as _;
use ring::digest::{SHA512, digest};
use ring::rand::SystemRandom;
use ring::signature as ring_signature;
use ring::signature::{EcdsaKeyPair, RsaKeyPair, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm};

/// An asymmetric algorithm of RFC 7518 §3.1 or RFC 8037 §3.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the standards")]
pub enum Algorithm {
    Es256,
    Es384,
    Es512,
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Ps384,
    Ps512,
    /// With the curve Ed25519.
    EdDsa,
}

/// A public key of another issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublicKey {
    /// An uncompressed point (SEC 1 §2.3.3) or, for Ed25519, the encoded key.
    Point(Vec<u8>),
    /// The modulus and the exponent of an RSA key.
    Rsa {
        /// The modulus.
        n: Vec<u8>,
        /// The exponent.
        e: Vec<u8>,
    },
}

impl Algorithm {
    /// The algorithm with this name; `None` if it is not supported.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "ES256" => Self::Es256,
            "ES384" => Self::Es384,
            "ES512" => Self::Es512,
            "RS256" => Self::Rs256,
            "RS384" => Self::Rs384,
            "RS512" => Self::Rs512,
            "PS256" => Self::Ps256,
            "PS384" => Self::Ps384,
            "PS512" => Self::Ps512,
            // RFC 9864 §2.2 names the algorithm after its curve; RFC 8037 named it `EdDSA`.
            "EdDSA" | "Ed25519" => Self::EdDsa,
            _ => return None,
        })
    }

    /// Whether the message was signed with this key; `false` if the key is for another algorithm.
    pub fn verify(self, key: &PublicKey, message: &[u8], signature: &[u8]) -> bool {
        let by_point = |algorithm: &'static dyn VerificationAlgorithm| match key {
            PublicKey::Point(point) => UnparsedPublicKey::new(algorithm, point).verify(message, signature).is_ok(),
            PublicKey::Rsa { .. } => false,
        };
        let by_rsa = |parameters: &RsaParameters| match key {
            PublicKey::Rsa { n, e } => RsaPublicKeyComponents { n, e }.verify(parameters, message, signature).is_ok(),
            PublicKey::Point(_) => false,
        };
        match self {
            Self::Es256 => by_point(&ring_signature::ECDSA_P256_SHA256_FIXED),
            Self::Es384 => by_point(&ring_signature::ECDSA_P384_SHA384_FIXED),
            Self::Es512 => matches!(key, PublicKey::Point(point) if verify_p521(point, message, signature).is_some()),
            Self::EdDsa => by_point(&ring_signature::ED25519),
            Self::Rs256 => by_rsa(&ring_signature::RSA_PKCS1_2048_8192_SHA256),
            Self::Rs384 => by_rsa(&ring_signature::RSA_PKCS1_2048_8192_SHA384),
            Self::Rs512 => by_rsa(&ring_signature::RSA_PKCS1_2048_8192_SHA512),
            Self::Ps256 => by_rsa(&ring_signature::RSA_PSS_2048_8192_SHA256),
            Self::Ps384 => by_rsa(&ring_signature::RSA_PSS_2048_8192_SHA384),
            Self::Ps512 => by_rsa(&ring_signature::RSA_PSS_2048_8192_SHA512),
        }
    }
}

/// Verifies an ECDSA signature on the curve P-521, which ring does not support; `None` if the
/// signature is not valid.
fn verify_p521(point: &[u8], message: &[u8], signature: &[u8]) -> Option<()> {
    let key = p521::ecdsa::VerifyingKey::from_sec1_bytes(point).ok()?;
    let signature = p521::ecdsa::Signature::from_slice(signature).ok()?;
    key.verify_prehash(digest(&SHA512, message).as_ref(), &signature).ok()
}

/// Signs with ES256. The field holds the private scalar, followed by the uncompressed public point.
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
    fn algorithm(&self) -> jsonwebtoken::Algorithm {
        jsonwebtoken::Algorithm::ES256
    }
}

/// Verifies signatures with ES256.
struct Es256Verifier(DecodingKey);

impl signature::Verifier<Vec<u8>> for Es256Verifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let DecodingKeyKind::SecretOrDer(key) = self.0.kind() else { return Err(signature::Error::new()) };
        let verified = UnparsedPublicKey::new(&ring_signature::ECDSA_P256_SHA256_FIXED, key).verify(message, signature);
        verified.map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for Es256Verifier {
    fn algorithm(&self) -> jsonwebtoken::Algorithm {
        jsonwebtoken::Algorithm::ES256
    }
}

/// Signs with RS256. The field holds the private key in PKCS #8.
struct Rs256(Vec<u8>);

impl signature::Signer<Vec<u8>> for Rs256 {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, signature::Error> {
        let pair = RsaKeyPair::from_pkcs8(&self.0).map_err(|_| signature::Error::new())?;
        let mut signature = vec![0; pair.public().modulus_len()];
        let signed = pair.sign(&ring_signature::RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature);
        signed.map_err(|_| signature::Error::new())?;
        Ok(signature)
    }
}

impl JwtSigner for Rs256 {
    fn algorithm(&self) -> jsonwebtoken::Algorithm {
        jsonwebtoken::Algorithm::RS256
    }
}

/// Verifies signatures with RS256.
struct Rs256Verifier(DecodingKey);

impl signature::Verifier<Vec<u8>> for Rs256Verifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let DecodingKeyKind::RsaModulusExponent { n, e } = self.0.kind() else { return Err(signature::Error::new()) };
        let key = PublicKey::Rsa { n: n.clone(), e: e.clone() };
        if Algorithm::Rs256.verify(&key, message, signature) { Ok(()) } else { Err(signature::Error::new()) }
    }
}

impl JwtVerifier for Rs256Verifier {
    fn algorithm(&self) -> jsonwebtoken::Algorithm {
        jsonwebtoken::Algorithm::RS256
    }
}

/// Makes jsonwebtoken sign and verify our tokens with ring. May be called repeatedly.
pub fn install() {
    static PROVIDER: CryptoProvider = CryptoProvider {
        signer_factory: |algorithm, key| match algorithm {
            jsonwebtoken::Algorithm::ES256 => Ok(Box::new(Es256(key.as_bytes().to_vec()))),
            jsonwebtoken::Algorithm::RS256 => Ok(Box::new(Rs256(key.as_bytes().to_vec()))),
            _ => Err(JwtError::from(ErrorKind::InvalidAlgorithm)),
        },
        verifier_factory: |algorithm, key| match algorithm {
            jsonwebtoken::Algorithm::ES256 => Ok(Box::new(Es256Verifier(key.clone()))),
            jsonwebtoken::Algorithm::RS256 => Ok(Box::new(Rs256Verifier(key.clone()))),
            _ => Err(JwtError::from(ErrorKind::InvalidAlgorithm)),
        },
        key_utils: KeyUtils::new_unimplemented(),
    };
    static ONCE: Once = Once::new();
    // Fails only if another provider is already installed, which then stays in use.
    ONCE.call_once(|| {
        let _ = PROVIDER.install_default();
    });
}
