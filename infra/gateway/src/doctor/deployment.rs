//! The deployment that the doctor examines.

use crypto::deployment_secret::DeploymentSecret;
use model::provider::shared::SharedClients;
use store::Store;
use wire::environment;

use crate::aws::Aws;

/// A deployment as the operator describes it. A part that the operator did not specify is not
/// examined, and the report says so.
pub struct Deployment {
    pub aws: Aws,
    pub store: Store,
    pub secret: Option<Result<DeploymentSecret, environment::Error>>,
    /// The base URL of the API, without a trailing slash.
    pub api_url: Option<String>,
    /// The sender of emails: an address or a domain.
    pub sender: Option<String>,
    pub configuration_set: Option<String>,
    /// The deployment's clients at OAuth providers.
    pub shared_clients: SharedClients,
}
