//! Environment variables, and what is wrong with one.

/// Why a process cannot start with its environment.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the environment variable {0} is not set")]
    Missing(&'static str),
    #[error("{0} must have at least 32 characters and not be one that is known")]
    WeakSecret(&'static str),
    #[error("{0} is not an absolute http or https URL")]
    InvalidUrl(&'static str),
    #[error("GATELET_ACCESS_TOKEN_SECONDS must be a number from 20 to 3600")]
    InvalidTokenLife,
    #[error("GATELET_SENDER must be an e-mail address")]
    InvalidSender,
    #[error("GATELET_SENDER_DOMAINS must be domains and e-mail addresses with commas between, or *")]
    InvalidSenderDomains,
    #[error("GATELET_MAILS_PER_HOUR must be a positive number or off")]
    InvalidMailRate,
    #[error("GATELET_LIMITS must be standard, generous or off")]
    InvalidLimits,
    #[error("SSL_CERT_FILE must name a file of certificates (PEM)")]
    InvalidCertificates,
    #[error("{0} must be a number of requests and a number of seconds, as in 60/600, or off")]
    InvalidLimit(String),
}

/// Reads one variable; an empty one counts as absent.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

pub fn required(name: &'static str) -> Result<String, Error> {
    variable(name).ok_or(Error::Missing(name))
}
