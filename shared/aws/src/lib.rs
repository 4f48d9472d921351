//! Calls to AWS that use the operations of AWS's SDK, but not the SDK's clients.
//!
//! The SDK's clients pass each call through an orchestrator. For each call, the orchestrator
//! assembles parts that never change here: the endpoint, the authentication scheme, plugins,
//! interceptors, and retries, even if they are off. The orchestrator took half of each call's time
//! and a fifth of each function's size (`infra/README.md`, "How functions are built"). In this
//! crate, an operation of the SDK serializes the request, `aws-sigv4` signs the request, a
//! connector sends it, and the operation parses the response. Timeouts and retries are up to the
//! caller and the connector.

#![warn(missing_docs)]

pub mod bucket;
pub mod endpoint;
pub mod runtime;
#[cfg(test)]
mod tests;

pub mod connector;

use std::any::Any;
use std::error::Error as StdError;
use std::fmt::Debug;
use std::sync::Arc;

use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings, UriPathNormalizationMode, sign,
};
use aws_sigv4::sign::v4;
use aws_smithy_runtime_api::client::http::{HttpConnector, SharedHttpConnector};
use aws_smithy_runtime_api::client::interceptors::context;
pub use aws_smithy_runtime_api::client::interceptors::context::{Input, Output};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse, OrchestratorError};
use aws_smithy_runtime_api::client::result::{ConnectorError, SdkError};
use aws_smithy_runtime_api::client::runtime_plugin::RuntimePlugin;
use aws_smithy_runtime_api::client::ser_de::{
    DeserializeResponse as _, SerializeRequest as _, SharedRequestSerializer, SharedResponseDeserializer,
};
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::config_bag::{ConfigBag, FrozenLayer};
use aws_smithy_types::error::operation::BuildError;
use http_body_util::BodyExt as _;
use wire::clock::Clock;

pub use aws_credential_types::Credentials;
pub use endpoint::{Endpoint, Service};

/// Identifies this program in AWS's logs.
const USER_AGENT: &str = concat!("gatelet/", env!("CARGO_PKG_VERSION"));

/// Why a call failed.
pub type CallError<E> = SdkError<E, HttpResponse>;

/// Why a request did not get a complete response.
#[derive(Debug)]
pub enum ExchangeError {
    /// The request could not be addressed or signed.
    Request(Box<dyn StdError + Send + Sync>),
    /// The request was not sent, or no response arrived.
    Connector(ConnectorError),
    /// The response was cut off; the second field contains the headers.
    Body(Box<dyn StdError + Send + Sync>, Box<HttpResponse>),
}

/// The input of an SDK operation.
pub trait Request: Sized {
    /// The operation, which serializes requests and parses responses.
    type Operation: RuntimePlugin + Default;
    /// What the operation returns.
    type Output: Any + Debug + Send + Sync;
    /// The service's error if it refuses the operation.
    type Error: StdError + Send + Sync + 'static;

    /// The operation's input. The error type is that of the SDK's builder; the builders used here
    /// never fail, so only the service reports missing fields.
    fn input(self) -> Result<Input, BuildError>;
}

macro_rules! requests {
    ($sdk:ident: $($operation:ident in $module:ident: $builder:ident, $output:ident, $error:ident;)*) => {$(
        impl Request for $sdk::operation::$module::builders::$builder {
            type Operation = $sdk::operation::$module::$operation;
            type Output = $sdk::operation::$module::$output;
            type Error = $sdk::operation::$module::$error;

            fn input(self) -> Result<Input, BuildError> {
                self.build().map(Input::erase)
            }
        }
    )*};
}

requests! { aws_sdk_dynamodb:
    BatchGetItem in batch_get_item: BatchGetItemInputBuilder, BatchGetItemOutput, BatchGetItemError;
    BatchWriteItem in batch_write_item: BatchWriteItemInputBuilder, BatchWriteItemOutput, BatchWriteItemError;
    CreateTable in create_table: CreateTableInputBuilder, CreateTableOutput, CreateTableError;
    DeleteItem in delete_item: DeleteItemInputBuilder, DeleteItemOutput, DeleteItemError;
    DescribeContinuousBackups in describe_continuous_backups:
        DescribeContinuousBackupsInputBuilder, DescribeContinuousBackupsOutput,
        DescribeContinuousBackupsError;
    DescribeTable in describe_table: DescribeTableInputBuilder, DescribeTableOutput, DescribeTableError;
    DescribeTimeToLive in describe_time_to_live: DescribeTimeToLiveInputBuilder, DescribeTimeToLiveOutput, DescribeTimeToLiveError;
    GetItem in get_item: GetItemInputBuilder, GetItemOutput, GetItemError;
    PutItem in put_item: PutItemInputBuilder, PutItemOutput, PutItemError;
    Query in query: QueryInputBuilder, QueryOutput, QueryError;
    Scan in scan: ScanInputBuilder, ScanOutput, ScanError;
    TransactWriteItems in transact_write_items: TransactWriteItemsInputBuilder, TransactWriteItemsOutput, TransactWriteItemsError;
    UpdateItem in update_item: UpdateItemInputBuilder, UpdateItemOutput, UpdateItemError;
    UpdateTable in update_table: UpdateTableInputBuilder, UpdateTableOutput, UpdateTableError;
    UpdateTimeToLive in update_time_to_live: UpdateTimeToLiveInputBuilder, UpdateTimeToLiveOutput, UpdateTimeToLiveError;
}

/// A service that handles calls in this process, without HTTP, such as an embedded engine.
pub trait InProcess: Debug + Send + Sync {
    /// What a call returns. Returns `None` if the call must use HTTP: either the service does not
    /// handle this operation in the process, or the call fails and the error must come from an HTTP
    /// response. The input may also be of a type unknown to the SDK ([`Client::in_process`]).
    fn answer(&self, input: &Input) -> Option<Output>;
}

/// A client of one service; clones share connections.
#[derive(Debug, Clone)]
pub struct Client {
    endpoint: Arc<Endpoint>,
    http: SharedHttpConnector,
    in_process: Option<Arc<dyn InProcess>>,
}

impl Client {
    /// A client of the service at `endpoint` that sends requests with `http`.
    pub fn new(endpoint: Endpoint, http: impl HttpConnector + 'static) -> Self {
        Self { endpoint: Arc::new(endpoint), http: SharedHttpConnector::new(http), in_process: None }
    }

    /// This client, but with `service` handling the calls that it can.
    #[must_use]
    pub fn answered_by(self, service: Arc<dyn InProcess>) -> Self {
        Self { in_process: Some(service), ..self }
    }

    /// The in-process service's response to a request of a type unknown to the SDK; returns the
    /// request if the service does not handle it.
    pub fn in_process<R, A>(&self, request: R) -> Result<A, R>
    where
        R: Any + Debug + Send + Sync,
        A: Any + Debug + Send + Sync,
    {
        let Some(service) = &self.in_process else { return Err(request) };
        let input = Input::erase(request);
        match service.answer(&input) {
            Some(answer) => Ok(expected(answer.downcast())),
            None => Err(expected(input.downcast())),
        }
    }

    /// Makes a call, without a time limit or retries; the connector may add both.
    pub async fn call<R: Request>(&self, request: R) -> Result<R::Output, CallError<R::Error>> {
        let input = request.input().map_err(SdkError::construction_failure)?;
        if let Some(output) = self.in_process.as_ref().and_then(|service| service.answer(&input)) {
            return Ok(expected(output.downcast()));
        }
        let operation =
            R::Operation::default().config().ok_or_else(|| SdkError::construction_failure("the operation has no configuration"))?;
        match self.call_erased(operation, input).await {
            Ok(output) => Ok(expected(output.downcast())),
            Err(failure) => Err(failure.map_service_error(|error| expected(error.downcast()))),
        }
    }

    /// The part of [`Self::call`] shared by all operations; not generic, so that it is compiled
    /// once.
    async fn call_erased(&self, operation: FrozenLayer, input: Input) -> Result<Output, CallError<context::Error>> {
        let (writer, reader) = (operation.load::<SharedRequestSerializer>(), operation.load::<SharedResponseDeserializer>());
        let (Some(writer), Some(reader)) = (writer, reader) else {
            return Err(SdkError::construction_failure("the operation has no serializer or no deserializer"));
        };
        let mut settings = ConfigBag::base();
        let request = writer.serialize_input(input, &mut settings).and_then(|request| self.addressed(request));
        let answer = match self.carry(request.map_err(SdkError::construction_failure)?).await {
            Ok(answer) => answer,
            Err(ExchangeError::Request(error)) => return Err(SdkError::construction_failure(error)),
            Err(ExchangeError::Connector(error)) => return Err(SdkError::dispatch_failure(error)),
            Err(ExchangeError::Body(error, answer)) => return Err(SdkError::response_error(error, *answer)),
        };
        match reader.deserialize_nonstreaming_with_config(&answer, &settings) {
            Ok(output) => Ok(output),
            Err(error) => Err(refused(error, answer)),
        }
    }

    /// Sends a request to the service and reads the whole response. The URI of `request` is only a
    /// path.
    pub async fn exchange(&self, request: HttpRequest) -> Result<HttpResponse, ExchangeError> {
        self.carry(self.addressed(request).map_err(ExchangeError::Request)?).await
    }

    async fn carry(&self, request: HttpRequest) -> Result<HttpResponse, ExchangeError> {
        let mut answer = self.http.call(request).await.map_err(ExchangeError::Connector)?;
        match answer.take_body().collect().await {
            Ok(body) => *answer.body_mut() = SdkBody::from(body.to_bytes()),
            Err(error) => return Err(ExchangeError::Body(error, Box::new(answer))),
        }
        Ok(answer)
    }

    /// Completes a request's URI with the service's URL, and signs the request if the service
    /// checks signatures.
    fn addressed(&self, mut request: HttpRequest) -> Result<HttpRequest, Box<dyn StdError + Send + Sync>> {
        let Endpoint { service, url, region, identity } = &*self.endpoint;
        request.set_uri(format!("{url}{}", request.uri()))?;
        request.headers_mut().insert("user-agent", USER_AGENT);
        let Some(identity) = identity else { return Ok(request) };
        let parameters = v4::SigningParams::builder()
            .identity(identity)
            .region(region)
            .name(service.signing_name())
            // The system's clock is used instead of the app's clock: AWS refuses signatures whose
            // time is minutes off.
            .time(Clock::system().now().into())
            .settings(settings(*service))
            .build()?;
        let body = SignableBody::Bytes(request.body().bytes().unwrap_or_default());
        let signable = SignableRequest::new(request.method(), request.uri(), request.headers().iter(), body)?;
        let (headers, _) = sign(signable, &parameters.into())?.into_parts().0.into_parts();
        for header in headers {
            request.headers_mut().try_insert(header.name(), header.value().to_owned())?;
        }
        Ok(request)
    }
}

/// How requests to a service are signed: S3 takes paths as they are, and requires a header with a
/// digest of the body.
fn settings(service: Service) -> SigningSettings {
    let mut settings = SigningSettings::default();
    if let Service::S3 = service {
        settings.percent_encoding_mode = PercentEncodingMode::Single;
        settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
    }
    settings
}

/// Downcasts what an operation returned to the operation's own type.
#[expect(clippy::expect_used, reason = "an operation returns the types that its `Request` implementation names")]
fn expected<T, E: Debug>(read: Result<T, E>) -> T {
    read.expect("an operation returns its own output and errors")
}

/// Why a call failed although a response arrived: the error in the response, or the parser's error
/// if the response cannot be parsed.
fn refused(error: OrchestratorError<context::Error>, answer: HttpResponse) -> CallError<context::Error> {
    let mut said = None;
    let other = error.map_operation_error(|error| {
        said = Some(error);
        std::fmt::Error
    });
    match said {
        Some(error) => SdkError::service_error(error, answer),
        None => SdkError::response_error(other, answer),
    }
}
