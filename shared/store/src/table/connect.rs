//! Connects a store to its table, configured either by a Lambda function's environment or
//! explicitly.

use std::sync::Arc;

use aws::connector::AwsHttp;
use aws::{Client, Endpoint, Service};
use aws_smithy_runtime_api::client::http::HttpConnector;
use wire::entropy::Entropy;
use wire::environment::{Error, required};

use crate::table::client::Store;
use crate::table::retry::Retrying;
use crate::table::row::Items;

impl Store {
    /// The store of a function, for the table configured in the environment.
    pub fn from_env() -> Result<Self, Error> {
        Ok(Self::connect(&required("GATELET_TABLE")?)?.carrying_entries())
    }

    /// The store for a table in the region and at the endpoint configured in the environment.
    pub fn connect(table: &str) -> Result<Self, Error> {
        Ok(Self::at(Endpoint::from_env(Service::DynamoDb)?, AwsHttp::from_env()?, table, Entropy::system()))
    }

    /// The store for a table at an endpoint. Failed calls are retried ([`crate::table::retry`]).
    pub fn at(endpoint: Endpoint, http: impl HttpConnector + 'static, table: &str, entropy: Entropy) -> Self {
        let client = Client::new(endpoint, Retrying::new(http, entropy.clone()));
        Self::with(client, table, entropy)
    }

    /// The store for a table in an engine that runs in this process; calls have no time limit.
    pub fn in_process(engine: impl HttpConnector + 'static, table: &str, entropy: Entropy) -> Self {
        let client = Client::new(Endpoint::embedded(), Retrying::in_process(engine, entropy.clone()));
        Self::with(client, table, entropy)
    }

    fn with(client: Client, table: &str, entropy: Entropy) -> Self {
        Self { client, table: table.to_owned(), entropy, known: Arc::new(Items::default()), carries_entries: false }
    }

    /// This store, but with `engine` in this process handling the calls that it can.
    #[must_use]
    pub fn answered_by(self, engine: Arc<dyn aws::InProcess>) -> Self {
        Self { client: self.client.answered_by(engine), ..self }
    }
}
