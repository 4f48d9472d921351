//! What is examined.

use crypto::deployment_secret::DeploymentSecret;
use store::Store;
use wire::environment;

use crate::aws::Aws;

/// A deployment, as an operator names it. What is not given is not examined, and the report says so.
pub struct Deployment {
    pub aws: Aws,
    pub store: Store,
    pub secret: Option<Result<DeploymentSecret, environment::Error>>,
    /// Without a trailing slash.
    pub api_url: Option<String>,
    /// An address or a domain.
    pub sender: Option<String>,
    pub configuration_set: Option<String>,
}
