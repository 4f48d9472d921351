//! Compares requests and endpoints with the SDK's, and signatures with AWS's documentation.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use aws_credential_types::Credentials;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, IdentityCache, Region, StalledStreamProtectionConfig};
use aws_sdk_dynamodb::operation::get_item::GetItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture, SharedHttpConnector, http_client_fn};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_types::body::SdkBody;
use ring::{digest, hmac};

use crate::bucket::{self, Bucket};
use crate::{Client, Endpoint, Request, Service};

const REGION: &str = "eu-central-1";

/// A connector that stores the request instead of sending it.
#[derive(Debug, Clone, Default)]
struct RecordingConnector(Arc<Mutex<Option<HttpRequest>>>);

impl HttpConnector for RecordingConnector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        *self.0.lock().expect("a request") = Some(request);
        HttpConnectorFuture::ready(Ok(HttpResponse::new(200.try_into().expect("a status"), SdkBody::from("{}"))))
    }
}

impl RecordingConnector {
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
    let kept = RecordingConnector::default();
    let client = Client::new(Endpoint::new(service, &service.url(REGION), REGION, credentials()), kept.clone());
    client.call(request).await.expect("an answer");
    kept.request()
}

#[tokio::test]
async fn calls_match_those_of_the_sdk_client() {
    let own = sent(Service::DynamoDb, get_item()).await;
    let kept = RecordingConnector::default();
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
    // In these headers, which the service ignores, the SDK describes itself.
    let of_itself = ["amz-sdk-invocation-id", "amz-sdk-request", "x-amz-user-agent"];
    let differs = ["authorization", "user-agent", "x-amz-date"];
    for (name, value) in sdks.headers().iter().filter(|(name, _)| !of_itself.contains(name)) {
        assert!(header(&own, name) == value || differs.contains(&name) && !header(&own, name).is_empty(), "{name}: {value}");
    }
}

/// The signature of a request, computed as described in AWS's documentation of Signature Version 4
/// ("Create a signed AWS API request").
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
    base16ct::lower::encode_string(&mac(&key, &format!("AWS4-HMAC-SHA256\n{time}\n{}\n{}", scope.join("/"), sha256(canonical.as_bytes()))))
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
async fn calls_to_ses_are_signed() {
    let kept = RecordingConnector::default();
    let client = Client::new(Endpoint::new(Service::Ses, &Service::Ses.url(REGION), REGION, credentials()), kept.clone());
    let mut asked = HttpRequest::new(SdkBody::empty());
    asked.set_uri("/v2/email/account").expect("a path");
    client.exchange(asked).await.expect("an answer");
    let request = kept.request();
    assert_eq!(request.uri(), "https://email.eu-central-1.amazonaws.com/v2/email/account");
    assert_signed(&request, "ses", &["host", "x-amz-date", "x-amz-security-token"]);
}

#[tokio::test]
async fn an_object_of_a_bucket_is_put_by_a_signed_request_with_the_digest_of_its_bytes() {
    let kept = RecordingConnector::default();
    let bucket = Bucket::new(Client::new(Endpoint::for_bucket("pictures", REGION, credentials()), kept.clone()));
    bucket.put("images/a_-b.png", "image/png", "public", b"bytes".to_vec()).await.expect("an answer");
    let request = kept.request();
    assert_eq!((request.method(), request.uri()), ("PUT", "https://pictures.s3.eu-central-1.amazonaws.com/images/a_-b.png"));
    let digest = base16ct::lower::encode_string(digest::digest(&digest::SHA256, b"bytes").as_ref());
    assert_eq!(header(&request, "x-amz-content-sha256"), digest);
    let signed = ["cache-control", "content-type", "host", "x-amz-content-sha256", "x-amz-date", "x-amz-security-token"];
    assert_signed(&request, "s3", &signed);
}

/// A connector that responds to every request in the same way.
#[derive(Debug, Clone)]
struct FixedAnswer(u16, &'static str);

impl HttpConnector for FixedAnswer {
    fn call(&self, _: HttpRequest) -> HttpConnectorFuture {
        HttpConnectorFuture::ready(Ok(HttpResponse::new(self.0.try_into().expect("a status"), SdkBody::from(self.1))))
    }
}

#[tokio::test]
async fn an_object_that_is_missing_is_told_from_a_bucket_that_fails() {
    let read = async |status, body| {
        Bucket::new(Client::new(Endpoint::for_bucket("pictures", REGION, credentials()), FixedAnswer(status, body)))
            .get("images/a.png")
            .await
    };
    assert_eq!(read(200, "bytes").await.expect("an object"), Some(b"bytes".to_vec()));
    for (status, code) in [(404, "<Error><Code>NoSuchKey</Code></Error>"), (403, "<Error><Code>AccessDenied</Code></Error>")] {
        assert_eq!(read(status, code).await.expect("an answer"), None);
    }
    let refused = read(403, "<Error><Code>SignatureDoesNotMatch</Code></Error>").await.expect_err("a refusal");
    assert!(matches!(&refused, bucket::Error::Refused(message) if message.contains("SignatureDoesNotMatch")), "{refused:?}");
    assert!(matches!(read(503, "").await, Err(bucket::Error::Unavailable(_))));
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
async fn endpoints_are_those_that_the_sdk_resolves() {
    use aws_sdk_dynamodb::config::endpoint::{DefaultResolver, Params, ResolveEndpoint as _};
    for region in REGIONS {
        let parameters = Params::builder().region(region).build().expect("parameters");
        let endpoint = DefaultResolver::new().resolve_endpoint(&parameters).await.expect("an endpoint");
        assert_eq!(Service::DynamoDb.url(region), endpoint.url(), "{region}");
        // The suffix depends on the partition, and is the same for every service.
        assert_eq!(Service::Ses.url(region), endpoint.url().replacen("//dynamodb.", "//email.", 1), "{region}");
    }
}
