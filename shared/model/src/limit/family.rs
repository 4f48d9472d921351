//! The rate limit of an operation, as declared by the operation's route.

use strum::IntoStaticStr;

/// The rate limit of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Limit {
    /// Signing up with a password.
    SignUp,
    /// Creating an anonymous user. Apps may create an anonymous user for each visitor, and many
    /// visitors may share an IP address.
    AnonymousSignUp,
    /// Signing in with a password, a passkey or a second factor, reauthentication, setting up an
    /// authenticator app, and creating recovery codes.
    SignIn,
    /// Operations that email a code or an invitation.
    SendCode,
    /// Operations that check or redeem a code or link, complete a sign-in with a provider, register
    /// a passkey, or start or complete the sign-in of a command-line tool or device.
    Code,
    /// Getting tokens with a refresh token, an authorization code or a server key.
    Token,
    /// Polling for the sign-in of a command-line tool or device.
    Poll,
    /// Starting an OAuth flow.
    Authorize,
    /// Requests of OAuth clients that do not get tokens: authorization requests, and queries about
    /// tokens.
    OauthClient,
    /// Requesting proof-of-work challenges. This limit also contains the rates above which requests
    /// are suspicious, and the number of suspicious requests permitted while challenges are
    /// unavailable.
    Challenge,
    /// Checking API keys of users and teams.
    ApiKey,
    /// Sending test emails, each through a mail server named in the request.
    TestEmail,
    /// Sending test events to webhook endpoints, which may delay the response.
    WebhookTest,
    /// Redelivering all failed events of a webhook endpoint, page by page.
    WebhookReplay,
    /// Operations that lock someone out: signing out, ending sessions, changing the password,
    /// removing credentials, and revoking API keys. The limit of these operations is counted by
    /// session, so that an intruder cannot use up the user's limit.
    SecureAccount,
    /// Every other operation that writes, and previews of emails.
    Write,
    /// Uploads of pictures by clients, in any operation, counted in addition to the operation's
    /// limit.
    Picture,
    /// Reads by clients, in operations without another limit. A request is counted after its reads,
    /// in the memory of the process, and only if it has read at least
    /// [`BYTES_PER_READ`](crate::limit::BYTES_PER_READ) bytes. Few requests read that much, so for
    /// most requests the limit does not cost anything. Once the limit is exceeded, the next request
    /// is refused.
    Read,
    /// Notices to users about their accounts. Notices beyond the limit are not sent; this limit
    /// never causes a request to be refused.
    Notice,
    /// Requests with a wrong key, or for a project, flow or link that does not exist, in any
    /// operation. This limit also counts reads without a session of anything that does not exist,
    /// all reports of exposed API keys, and all checks of versions.
    Unproved,
}
