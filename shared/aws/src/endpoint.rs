//! URLs of AWS services, and the credentials for them.

use std::fmt::Debug;

use aws_credential_types::Credentials;
use aws_smithy_runtime_api::client::identity::Identity;
use wire::environment::{Error, required, variable};

/// An AWS service.
#[derive(Debug, Clone, Copy)]
pub enum Service {
    /// Amazon DynamoDB.
    DynamoDb,
    /// AWS Lambda.
    Lambda,
    /// Amazon S3.
    S3,
    /// Amazon SES, version 2 of its API.
    Ses,
}

impl Service {
    /// The name of the service in signatures.
    pub(crate) fn signing_name(self) -> &'static str {
        match self {
            Self::DynamoDb => "dynamodb",
            Self::Lambda => "lambda",
            Self::S3 => "s3",
            Self::Ses => "ses",
        }
    }

    /// The URL of the service in a region, with the suffix of the region's partition.
    pub(crate) fn url(self, region: &str) -> String {
        let host = match self {
            Self::DynamoDb => "dynamodb",
            Self::Lambda => "lambda",
            Self::S3 => "s3",
            Self::Ses => "email",
        };
        let suffix = SUFFIXES.iter().find(|(prefix, _)| region.starts_with(prefix)).map_or("amazonaws.com", |(_, suffix)| suffix);
        format!("https://{host}.{region}.{suffix}")
    }

    /// The URL that replaces the regional URL, from the environment variables that AWS's SDKs also
    /// read; `None` if these variables are not set.
    fn url_from_env(self) -> Option<String> {
        let own = match self {
            Self::DynamoDb => "AWS_ENDPOINT_URL_DYNAMODB",
            Self::Lambda => "AWS_ENDPOINT_URL_LAMBDA",
            Self::S3 => "AWS_ENDPOINT_URL_S3",
            Self::Ses => "AWS_ENDPOINT_URL_SESV2",
        };
        variable(own).or_else(|| variable("AWS_ENDPOINT_URL"))
    }
}

/// Prefixes of regions, each with the host suffix of its AWS partition; all other regions have
/// `amazonaws.com`.
const SUFFIXES: [(&str, &str); 6] = [
    ("cn-", "amazonaws.com.cn"),
    ("eusc-", "amazonaws.eu"),
    ("us-iso-", "c2s.ic.gov"),
    ("us-isob-", "sc2s.sgov.gov"),
    ("eu-isoe-", "cloud.adc-e.uk"),
    ("us-isof-", "csp.hci.ic.gov"),
];

/// The URL of a service, and the credentials for it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub(crate) service: Service,
    pub(crate) url: String,
    pub(crate) region: String,
    /// The signer; `None` if the service does not check signatures.
    pub(crate) identity: Option<Identity>,
}

impl Endpoint {
    /// The service at the base URL `url`; requests are signed for `region`.
    pub fn new(service: Service, url: &str, region: &str, credentials: Credentials) -> Self {
        Self { service, url: url.trim_end_matches('/').to_owned(), region: region.to_owned(), identity: Some(credentials.into()) }
    }

    /// The service in the function's region, or at the URL that the environment sets instead, with
    /// the credentials that Lambda sets for the function's role. Fails if `AWS_REGION` or a
    /// credential is missing.
    pub fn from_env(service: Service) -> Result<Self, Error> {
        Ok(Self::in_region(service, &required("AWS_REGION")?, credentials_from_env()?))
    }

    /// The service in a region, or at the URL that the environment sets instead.
    pub fn in_region(service: Service, region: &str, credentials: Credentials) -> Self {
        let url = service.url_from_env().unwrap_or_else(|| service.url(region));
        Self::new(service, &url, region, credentials)
    }

    /// A bucket in a region: at the bucket's host or, if the environment sets a URL for S3, at a
    /// path below that URL.
    pub fn for_bucket(bucket: &str, region: &str, credentials: Credentials) -> Self {
        let own = || Service::S3.url(region).replacen("https://", &format!("https://{bucket}."), 1);
        let url = Service::S3.url_from_env().map_or_else(own, |url| format!("{}/{bucket}", url.trim_end_matches('/')));
        Self::new(Service::S3, &url, region, credentials)
    }

    /// Like [`Self::for_bucket`], in the function's region and with the credentials of the
    /// function's role.
    pub fn bucket_from_env(bucket: &str) -> Result<Self, Error> {
        Ok(Self::for_bucket(bucket, &required("AWS_REGION")?, credentials_from_env()?))
    }

    /// A table in this process. The connector responds to the calls itself, so requests are not
    /// signed and the address is never resolved.
    pub fn embedded() -> Self {
        let (url, region) = ("http://embedded.invalid".to_owned(), "local".to_owned());
        Self { service: Service::DynamoDb, url, region, identity: None }
    }
}

/// The credentials that Lambda sets for the function's role.
fn credentials_from_env() -> Result<Credentials, Error> {
    let (key, secret) = (required("AWS_ACCESS_KEY_ID")?, required("AWS_SECRET_ACCESS_KEY")?);
    Ok(Credentials::new(key, secret, variable("AWS_SESSION_TOKEN"), None, "environment"))
}
