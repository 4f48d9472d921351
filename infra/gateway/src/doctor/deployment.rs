//! Describes the deployment that the doctor examines.

use crypto::deployment_secret::DeploymentSecret;
use model::provider::shared::SharedClients;
use store::Store;
use wire::environment;

use crate::aws::Aws;

/// A deployment as the operator describes it. The report lists the checks that are skipped because
/// the operator has not described the part that they check.
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
