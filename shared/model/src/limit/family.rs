//! The rate limit of an operation, as its route names it.

/// The rate limit of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// Signing up.
    SignUp,
    /// Signing in with a password, a passkey or a second factor, reauthentication, and changes to
    /// the second factor.
    SignIn,
    /// Operations that email a code or an invitation.
    SendCode,
    /// Operations that check or redeem a code, complete an OAuth flow, or start the sign-in of a
    /// command-line tool or device.
    Code,
    /// Refreshing and exchanging tokens.
    Token,
    /// Polling for the sign-in of a command-line tool.
    Poll,
    /// Starting an OAuth flow.
    Authorize,
    /// Requesting proof-of-work challenges; also the rates above which requests are suspicious and
    /// may require a bot challenge.
    Challenge,
    /// Checking API keys of users and teams.
    ApiKey,
    /// Sending test emails, which contacts a mail server that the request names.
    TestEmail,
    /// Every other operation that writes.
    Write,
    /// Requests that name a project or key that does not exist. Applies to every operation.
    Unproved,
}
