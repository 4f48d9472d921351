//! The parts of the service built at a cold start and shared by all requests of the instance.

use std::sync::{Arc, OnceLock};

use crypto::challenge_key::ChallengeKey;
use crypto::deployment_secret::DeploymentSecret;
use crypto::password::hash::Hasher;
use crypto::seal::Sealer;
use jiff::SignedDuration;
use model::session::token::Signer;
use model::setting::Deployment;
use settings::Settings;
use store::Store;
use store::content::images::Shelf;
use wire::clock::Clock;
use wire::entropy::Entropy;
use wire::environment;

use crate::catalogue::CatalogueCache;
use crate::memory::Memory;
use crate::proofs::Proofs;
use crate::sign_up_rules::SignUpRules;
use crate::tokens::Tokens;

/// The state shared by all handlers. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// The parts of an [`App`].
pub struct Parts {
    /// The settings of the deployment.
    pub settings: Settings,
    /// The table.
    pub store: Store,
    /// The source of time.
    pub clock: Clock,
    /// The source of randomness.
    pub entropy: Entropy,
    /// Hashes and checks passwords.
    pub hasher: Hasher,
    /// Signs and verifies access tokens.
    pub signer: Signer,
    /// Seals and opens secrets that must be read again, and cursors.
    pub sealer: Sealer,
    /// Facts remembered between requests.
    pub memory: Memory,
    /// Proofs of access levels, remembered if the operator permits it.
    pub proofs: Proofs,
    /// Evaluates the sign-up rules of projects.
    pub sign_up_rules: SignUpRules,
    /// Signs and verifies proof-of-work challenges.
    pub challenge_key: ChallengeKey,
    /// The public content, kept between requests.
    pub catalogue: CatalogueCache,
    /// The place where the content's images are stored; set on first use.
    shelf: OnceLock<Shelf>,
}

impl App {
    /// Derives keys from the deployment secret and assembles the app.
    pub fn new(settings: Settings, store: Store, clock: Clock, entropy: Entropy, hasher: Hasher) -> Self {
        let signer = Signer::new(&settings.secret, &settings.api_url).remembering_in(Tokens::default());
        let sealer = Sealer::new(&settings.secret);
        let challenge_key = ChallengeKey::new(&settings.secret);
        let proofs = Proofs::new(SignedDuration::from_secs(settings.project_cache_seconds.into()));
        let (memory, sign_up_rules, catalogue, shelf) =
            (Memory::default(), SignUpRules::default(), CatalogueCache::default(), OnceLock::new());
        let parts = Parts {
            settings,
            store,
            clock,
            entropy,
            hasher,
            signer,
            sealer,
            memory,
            proofs,
            sign_up_rules,
            challenge_key,
            catalogue,
            shelf,
        };
        Self(Arc::new(parts))
    }

    /// Builds the app of a Lambda function from its environment.
    pub fn from_env() -> Result<Self, environment::Error> {
        Self::assemble(Settings::from_env(settings::secret_from_env()?)?, settings::hasher()?)
    }

    /// Builds the app of a function that does not need keys derived from the deployment secret. The
    /// template does not give the secret to such a function; a secret in the function's environment
    /// is ignored.
    pub fn without_secret() -> Result<Self, environment::Error> {
        let settings = Settings::from_env(DeploymentSecret::absent())?.with_security_contact()?;
        // A function without the secret does not hash passwords.
        Self::assemble(settings, Hasher::default())
    }

    /// The parts of the app that are needed to validate and seal project settings.
    pub fn deployment(&self) -> Deployment<'_> {
        Deployment { sealer: &self.sealer, entropy: &self.entropy, senders: &self.settings.senders, shared: &self.settings.shared_clients }
    }

    /// The place where the content's images are stored: the configured bucket, or the table. Fails
    /// if there is a bucket, but an AWS setting is missing or the file named by `SSL_CERT_FILE`
    /// cannot be read or parsed.
    pub fn shelf(&self) -> Result<&Shelf, environment::Error> {
        if let Some(shelf) = self.shelf.get() {
            return Ok(shelf);
        }
        let shelf = match &self.settings.images_bucket {
            Some(bucket) => Shelf::bucket_from_env(bucket, &self.entropy)?,
            None => Shelf::Table(self.store.clone()),
        };
        Ok(self.shelf.get_or_init(|| shelf))
    }

    fn assemble(settings: Settings, hasher: Hasher) -> Result<Self, environment::Error> {
        let store = Store::from_env()?;
        Ok(Self::new(settings, store, Clock::system(), Entropy::system(), hasher))
    }
}

impl std::ops::Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}
