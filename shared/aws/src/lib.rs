//! Calls of AWS: by the operations of its SDK, without the clients of its SDK.
//!
//! A client of the SDK takes each call through an orchestrator, which gathers anew what is the same for all of ours: the endpoint, the
//! scheme of authentication, plugins, interceptors, and retries that are off. That was half of what a call takes, and a fifth of each
//! function (`infra/README.md`, "How functions are built"). Here an operation of the SDK writes the request, `aws-sigv4` signs it, a
//! connector carries it, and the operation reads the answer. Who calls decides how long to wait and what to try again.

pub mod connector;

use std::any::Any;
use std::error::Error as StdError;
use std::fmt::Debug;
use std::sync::Arc;

use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use aws_smithy_runtime_api::client::http::{HttpConnector, SharedHttpConnector};
use aws_smithy_runtime_api::client::identity::Identity;
use aws_smithy_runtime_api::client::interceptors::context::{self, Input, Output};
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
use wire::environment::{Error, required, variable};

pub use aws_credential_types::Credentials;

/// What the logs of AWS know this program by.
const USER_AGENT: &str = concat!("gatelet/", env!("CARGO_PKG_VERSION"));

/// Why a call has no answer.
pub type Failure<E> = SdkError<E, HttpResponse>;

/// Why a request has no answer.
#[derive(Debug)]
pub enum ExchangeError {
    /// It could not be signed.
    Request(Box<dyn StdError + Send + Sync>),
    /// It was not carried, or nothing came back.
    Connector(ConnectorError),
    /// The answer broke off.
    Body(Box<dyn StdError + Send + Sync>, Box<HttpResponse>),
}

/// A service of AWS.
#[derive(Debug, Clone, Copy)]
pub enum Service {
    DynamoDb,
    /// Version 2 of its API.
    Ses,
}

impl Service {
    /// What requests are signed for.
    fn signing_name(self) -> &'static str {
        match self {
            Self::DynamoDb => "dynamodb",
            Self::Ses => "ses",
        }
    }

    /// The URL of the service in a region, for the suffix of the region's partition.
    fn url(self, region: &str) -> String {
        let host = match self {
            Self::DynamoDb => "dynamodb",
            Self::Ses => "email",
        };
        let suffix = SUFFIXES.iter().find(|(prefix, _)| region.starts_with(prefix)).map_or("amazonaws.com", |(_, suffix)| suffix);
        format!("https://{host}.{region}.{suffix}")
    }

    /// The URL that the environment names instead, by the variables of AWS's SDKs.
    fn url_from_env(self) -> Option<String> {
        let own = match self {
            Self::DynamoDb => "AWS_ENDPOINT_URL_DYNAMODB",
            Self::Ses => "AWS_ENDPOINT_URL_SESV2",
        };
        variable(own).or_else(|| variable("AWS_ENDPOINT_URL"))
    }
}

/// The partitions of AWS with a suffix of their own, by how the names of their regions begin.
const SUFFIXES: [(&str, &str); 6] = [
    ("cn-", "amazonaws.com.cn"),
    ("eusc-", "amazonaws.eu"),
    ("us-iso-", "c2s.ic.gov"),
    ("us-isob-", "sc2s.sgov.gov"),
    ("eu-isoe-", "cloud.adc-e.uk"),
    ("us-isof-", "csp.hci.ic.gov"),
];

/// Where a service is, and who asks it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    service: Service,
    url: String,
    region: String,
    identity: Identity,
}

impl Endpoint {
    pub fn new(service: Service, url: &str, region: &str, credentials: Credentials) -> Self {
        Self { service, url: url.trim_end_matches('/').to_owned(), region: region.to_owned(), identity: credentials.into() }
    }

    /// The service in the function's region, by the credentials that Lambda sets for its role.
    pub fn from_env(service: Service) -> Result<Self, Error> {
        let region = required("AWS_REGION")?;
        let (key, secret) = (required("AWS_ACCESS_KEY_ID")?, required("AWS_SECRET_ACCESS_KEY")?);
        let credentials = Credentials::new(key, secret, variable("AWS_SESSION_TOKEN"), None, "environment");
        Ok(Self::in_region(service, &region, credentials))
    }

    /// The service in a region, or where the environment says that it is.
    pub fn in_region(service: Service, region: &str, credentials: Credentials) -> Self {
        let url = service.url_from_env().unwrap_or_else(|| service.url(region));
        Self::new(service, &url, region, credentials)
    }

    /// A service that asks nobody who they are: an engine of this process, or of this machine.
    pub fn local(service: Service, url: &str) -> Self {
        Self::new(service, url, "local", Credentials::new("local", "local", None, None, "local"))
    }
}

/// The input of an operation of the SDK.
pub trait Request: Sized {
    type Operation: RuntimePlugin + Default;
    type Output: Any + Debug + Send + Sync;
    type Error: StdError + Send + Sync + 'static;

    /// What the operation takes, unless something is missing.
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

/// A client of a service; its clones share its connections.
#[derive(Debug, Clone)]
pub struct Client {
    endpoint: Arc<Endpoint>,
    http: SharedHttpConnector,
}

impl Client {
    pub fn new(endpoint: Endpoint, http: impl HttpConnector + 'static) -> Self {
        Self { endpoint: Arc::new(endpoint), http: SharedHttpConnector::new(http) }
    }

    /// Makes a call: once, and as long as its connector waits.
    pub async fn call<R: Request>(&self, request: R) -> Result<R::Output, Failure<R::Error>> {
        let input = request.input().map_err(SdkError::construction_failure)?;
        let operation =
            R::Operation::default().config().ok_or_else(|| SdkError::construction_failure("an operation has a configuration"))?;
        match self.call_erased(operation, input).await {
            Ok(output) => Ok(expected(output.downcast())),
            Err(failure) => Err(failure.map_service_error(|error| expected(error.downcast()))),
        }
    }

    /// [`Self::call`] for every operation: the compiler makes it once.
    async fn call_erased(&self, operation: FrozenLayer, input: Input) -> Result<Output, Failure<context::Error>> {
        let (writer, reader) = (operation.load::<SharedRequestSerializer>(), operation.load::<SharedResponseDeserializer>());
        let (Some(writer), Some(reader)) = (writer, reader) else {
            return Err(SdkError::construction_failure("an operation writes its requests and reads its answers"));
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

    /// Sends a request to the service, which `request` names by its path alone; the answer is read to its end.
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

    /// A request with its address and signature.
    fn addressed(&self, mut request: HttpRequest) -> Result<HttpRequest, Box<dyn StdError + Send + Sync>> {
        let Endpoint { service, url, region, identity } = &*self.endpoint;
        request.set_uri(format!("{url}{}", request.uri()))?;
        request.headers_mut().insert("user-agent", USER_AGENT);
        let parameters = v4::SigningParams::builder()
            .identity(identity)
            .region(region)
            .name(service.signing_name())
            // The machine's, whatever the app's: AWS refuses what is minutes off.
            .time(Clock::system().now().into())
            .settings(SigningSettings::default())
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

/// What an operation read, as what it reads.
#[expect(clippy::expect_used, reason = "the types of an operation are written beside it")]
fn expected<T, E: Debug>(read: Result<T, E>) -> T {
    read.expect("an operation reads its own output and errors")
}

/// What the service answered instead of an output.
fn refused(error: OrchestratorError<context::Error>, answer: HttpResponse) -> Failure<context::Error> {
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use aws_sdk_dynamodb::config::retry::RetryConfig;
    use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
    use aws_sdk_dynamodb::config::{BehaviorVersion, IdentityCache, Region, StalledStreamProtectionConfig};
    use aws_sdk_dynamodb::operation::get_item::GetItemInput;
    use aws_sdk_dynamodb::types::AttributeValue;
    use aws_smithy_runtime_api::client::http::{HttpConnectorFuture, http_client_fn};
    use ring::{digest, hmac};

    use super::*;

    const REGION: &str = "eu-central-1";

    /// A connector that keeps what it is to carry.
    #[derive(Debug, Clone, Default)]
    struct Kept(Arc<Mutex<Option<HttpRequest>>>);

    impl HttpConnector for Kept {
        fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
            *self.0.lock().expect("a request") = Some(request);
            HttpConnectorFuture::ready(Ok(HttpResponse::new(200.try_into().expect("a status"), SdkBody::from("{}"))))
        }
    }

    impl Kept {
        fn request(self) -> HttpRequest {
            self.0.lock().expect("a request").take().expect("a request")
        }
    }

    fn credentials() -> Credentials {
        Credentials::new("AKIDEXAMPLE", "a secret key", Some("a session".to_owned()), None, "test")
    }

    fn get_item() -> aws_sdk_dynamodb::operation::get_item::builders::GetItemInputBuilder {
        GetItemInput::builder().table_name("gatelet").key("pk", AttributeValue::S("U#1".to_owned())).consistent_read(true)
    }

    fn header(request: &HttpRequest, name: &str) -> String {
        request.headers().get(name).unwrap_or_default().to_owned()
    }

    async fn sent(service: Service, request: impl Request) -> HttpRequest {
        let kept = Kept::default();
        let client = Client::new(Endpoint::new(service, &service.url(REGION), REGION, credentials()), kept.clone());
        client.call(request).await.expect("an answer");
        kept.request()
    }

    #[tokio::test]
    async fn a_call_is_what_the_client_of_the_sdk_sends() {
        let own = sent(Service::DynamoDb, get_item()).await;
        let kept = Kept::default();
        let connector = SharedHttpConnector::new(kept.clone());
        let config = aws_sdk_dynamodb::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new(REGION))
            .credentials_provider(credentials())
            .retry_config(RetryConfig::disabled())
            .timeout_config(TimeoutConfig::disabled())
            .identity_cache(IdentityCache::no_cache())
            .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
            .http_client(http_client_fn(move |_, _| connector.clone()))
            .build();
        get_item().send_with(&aws_sdk_dynamodb::Client::from_conf(config)).await.expect("an answer");
        let sdks = kept.request();
        assert_eq!((own.method(), own.uri(), own.body().bytes()), (sdks.method(), sdks.uri(), sdks.body().bytes()));
        // What the SDK says of itself besides is of no use to the service.
        let of_itself = ["amz-sdk-invocation-id", "amz-sdk-request", "x-amz-user-agent"];
        let differs = ["authorization", "user-agent", "x-amz-date"];
        for (name, value) in sdks.headers().iter().filter(|(name, _)| !of_itself.contains(name)) {
            assert!(header(&own, name) == value || differs.contains(&name) && !header(&own, name).is_empty(), "{name}: {value}");
        }
    }

    /// The signature of a request, by AWS's description of version 4 ("Create a signed AWS API request").
    fn signature(request: &HttpRequest, service: &str, signed: &str) -> String {
        let sha256 = |bytes: &[u8]| base16ct::lower::encode_string(digest::digest(&digest::SHA256, bytes).as_ref());
        let url = url::Url::parse(request.uri()).expect("a URL");
        let value = |name: &str| if name == "host" { url.host_str().unwrap_or_default().to_owned() } else { header(request, name) };
        let headers = signed.split(';').fold(String::new(), |headers, name| headers + name + ":" + &value(name) + "\n");
        let body = sha256(request.body().bytes().expect("a body"));
        let canonical = format!("{}\n{}\n\n{headers}\n{signed}\n{body}", request.method(), url.path());
        let (time, mac) = (header(request, "x-amz-date"), |key: &[u8], text: &str| {
            hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
        });
        let scope = [&time[..8], REGION, service, "aws4_request"];
        let key = scope.iter().fold(b"AWS4a secret key".to_vec(), |key, part| mac(&key, part));
        base16ct::lower::encode_string(&mac(
            &key,
            &format!("AWS4-HMAC-SHA256\n{time}\n{}\n{}", scope.join("/"), sha256(canonical.as_bytes())),
        ))
    }

    fn assert_signed(request: &HttpRequest, service: &str, names: &[&str]) {
        let authorization = header(request, "authorization");
        let part = |name: &str| authorization.split([' ', ',']).find_map(|part| part.strip_prefix(name)).unwrap_or_default();
        assert!(part("Credential=").ends_with(&format!("/{REGION}/{service}/aws4_request")), "{authorization}");
        let signed = part("SignedHeaders=");
        for name in names {
            assert!(signed.split(';').any(|other| other == *name), "{name} is not signed: {authorization}");
        }
        assert_eq!(part("Signature="), signature(request, service, signed));
    }

    #[tokio::test]
    async fn calls_are_signed() {
        let request = sent(Service::DynamoDb, get_item()).await;
        assert_signed(&request, "dynamodb", &["content-type", "host", "x-amz-date", "x-amz-security-token"]);
    }

    #[tokio::test]
    async fn calls_of_ses_are_signed() {
        let kept = Kept::default();
        let client = Client::new(Endpoint::new(Service::Ses, &Service::Ses.url(REGION), REGION, credentials()), kept.clone());
        let mut asked = HttpRequest::new(SdkBody::empty());
        asked.set_uri("/v2/email/account").expect("a path");
        client.exchange(asked).await.expect("an answer");
        let request = kept.request();
        assert_eq!(request.uri(), "https://email.eu-central-1.amazonaws.com/v2/email/account");
        assert_signed(&request, "ses", &["host", "x-amz-date", "x-amz-security-token"]);
    }

    const REGIONS: [&str; 10] = [
        "us-east-1",
        "eu-central-1",
        "us-gov-west-1",
        "cn-north-1",
        "eusc-de-east-1",
        "us-iso-east-1",
        "us-isob-east-1",
        "eu-isoe-west-1",
        "us-isof-south-1",
        "ap-southeast-7",
    ];

    #[tokio::test]
    async fn the_table_is_where_the_sdk_would_look_for_it() {
        use aws_sdk_dynamodb::config::endpoint::{DefaultResolver, Params, ResolveEndpoint as _};
        for region in REGIONS {
            let parameters = Params::builder().region(region).build().expect("parameters");
            let endpoint = DefaultResolver::new().resolve_endpoint(&parameters).await.expect("an endpoint");
            assert_eq!(Service::DynamoDb.url(region), endpoint.url(), "{region}");
            // The partition decides the suffix, for every service alike.
            assert_eq!(Service::Ses.url(region), endpoint.url().replacen("//dynamodb.", "//email.", 1), "{region}");
        }
    }
}
