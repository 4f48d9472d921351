//! Reads environment variables; the errors describe how the variables can be invalid.

/// Why a process cannot start with its environment.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A required variable is absent, empty or not UTF-8.
    #[error("environment variable {0} must be set to non-empty UTF-8 text")]
    Missing(&'static str),
    /// A deployment secret is too short, or is published in an example.
    #[error("{0} must be at least 32 bytes long and must not be a published example")]
    WeakSecret(&'static str),
    /// A variable is not a base URL.
    #[error("{0} must be an absolute http or https URL without query or fragment, such as https://auth.example.com")]
    InvalidUrl(&'static str),
    /// The domain of hosted pages is not a domain name.
    #[error("GATELET_HOSTED_DOMAIN must be a domain name in lower case, optionally with a port, such as sign-in.example.com")]
    InvalidHostedDomain,
    /// The lifetime of access tokens is not a number, or is out of range.
    #[error("GATELET_ACCESS_TOKEN_SECONDS must be a whole number of seconds from 20 to 3600")]
    InvalidTokenLife,
    /// The cost of password hashes is malformed, below OWASP's minimum or above the maximum.
    #[error(
        "GATELET_PASSWORD_HASH must be `standard`, `low-memory`, `high-memory`, `strong`, or argon2id costs such as `m=19456,t=2,p=1`: at \
         least those of m=47104,t=1 or m=19456,t=2 or m=12288,t=3 or m=9216,t=4 or m=7168,t=5 (OWASP's minimum), at most m=262144 and \
         t=16, and p=1"
    )]
    InvalidPasswordHash,
    /// The caching time of projects and keys is not a number, or is out of range.
    #[error("GATELET_PROJECT_CACHE_SECONDS (--project-cache-seconds) must be a whole number of seconds from 0 to 10")]
    InvalidProjectCache,
    /// The sender is not an email address.
    #[error("GATELET_SENDER must be an email address")]
    InvalidSender,
    /// The sender domains are neither a list of domains and email addresses nor `*`.
    #[error("GATELET_SENDER_DOMAINS must be a comma-separated list of domains and email addresses, or *")]
    InvalidSenderDomains,
    /// The mail relays are not a list of hosts with ports.
    #[error("GATELET_MAIL_RELAYS must be a comma-separated list of HOST:PORT, such as relay.internal:25")]
    InvalidMailRelays,
    /// The hourly rate of emails is neither a positive number nor `off`.
    #[error("GATELET_MAILS_PER_HOUR must be a positive whole number, or off")]
    InvalidMailRate,
    /// The name is not that of a set of rate limits.
    #[error("GATELET_LIMITS must be `standard`, `generous` or `off`")]
    InvalidLimits,
    /// The contacts or the expiry of `security.txt` are malformed.
    #[error("{0}: {1}")]
    InvalidSecurityText(&'static str, String),
    /// The certificate file cannot be read, or a certificate in it cannot be parsed.
    #[error("SSL_CERT_FILE must be the path of a PEM file with certificates")]
    InvalidCertificates,
    /// The proxy is not an `http` URL.
    #[error("HTTPS_PROXY must be the URL of a proxy, such as http://proxy.internal:3128")]
    InvalidProxy,
    /// The variable of a single rate limit is malformed.
    #[error("{0} must be `REQUESTS/SECONDS`, such as 60/600, or `off`")]
    InvalidLimit(String),
}

/// Reads a variable; `None` if the variable is absent, empty or not UTF-8.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Reads a variable that must be set and not empty.
pub fn required(name: &'static str) -> Result<String, Error> {
    variable(name).ok_or(Error::Missing(name))
}
