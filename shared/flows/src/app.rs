//! What one cold start builds, and every request of that instance shares.

use std::sync::Arc;

use crypto::challenge_key::ChallengeKey;
use crypto::deployment_secret::DeploymentSecret;
use crypto::password::hash::Hasher;
use crypto::seal::Sealer;
use model::project::setting::Deployment;
use model::session::token::Signer;
use settings::Settings;
use store::Store;
use wire::clock::Clock;
use wire::entropy::Entropy;
use wire::environment;

use crate::memory::Memory;

/// The state of every handler. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// The parts of an [`App`].
pub struct Parts {
    pub settings: Settings,
    pub store: Store,
    pub clock: Clock,
    pub entropy: Entropy,
    pub hasher: Hasher,
    pub signer: Signer,
    pub sealer: Sealer,
    pub memory: Memory,
    pub challenge_key: ChallengeKey,
}

impl App {
    pub fn new(settings: Settings, store: Store, clock: Clock, entropy: Entropy, hasher: Hasher) -> Self {
        let signer = Signer::new(&settings.secret, &settings.api_url);
        let sealer = Sealer::new(&settings.secret);
        let challenge_key = ChallengeKey::new(&settings.secret);
        let memory = Memory::default();
        Self(Arc::new(Parts { settings, store, clock, entropy, hasher, signer, sealer, memory, challenge_key }))
    }

    /// Builds the app of a Lambda function from its environment.
    pub fn from_env() -> Result<Self, environment::Error> {
        Self::with_secret(settings::secret_from_env()?)
    }

    /// The same for a function that derives no keys: the template gives it no secret, and one that is there is not read.
    pub fn without_secret() -> Result<Self, environment::Error> {
        Self::with_secret(DeploymentSecret::absent())
    }

    /// What settings of projects are checked and sealed with.
    pub fn deployment(&self) -> Deployment<'_> {
        Deployment { sealer: &self.sealer, entropy: &self.entropy, senders: &self.settings.senders }
    }

    fn with_secret(secret: DeploymentSecret) -> Result<Self, environment::Error> {
        let settings = Settings::from_env(secret)?;
        let store = Store::from_env()?;
        Ok(Self::new(settings, store, Clock::system(), Entropy::system(), Hasher::default()))
    }
}

impl std::ops::Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}
