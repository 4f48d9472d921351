//! The rules that apply to an operation.

use crate::limit::family::Limit;
use crate::limit::rule::Rule;

impl Limit {
    /// The name of the limit, for clients and operators.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SignUp => "sign-up",
            Self::AnonymousSignUp => "anonymous-sign-up",
            Self::SignIn => "sign-in",
            Self::SendCode => "send-code",
            Self::Code => "code",
            Self::Token => "token",
            Self::Poll => "poll",
            Self::Authorize => "authorize",
            Self::Challenge => "challenge",
            Self::ApiKey => "api-key",
            Self::TestEmail => "test-email",
            Self::WebhookTest => "webhook-test",
            Self::WebhookReplay => "webhook-replay",
            Self::SecureAccount => "secure-account",
            Self::Write => "write",
            Self::Picture => "picture",
            Self::Read => "read",
            Self::Notice => "notice",
            Self::Unproved => "unproved",
        }
    }

    /// Whether requests are counted in the table. Reads, and requests whose project might not
    /// exist, are counted in the process's memory.
    pub fn is_in_table(self) -> bool {
        !matches!(self, Self::Unproved | Self::Read)
    }

    /// The rules that count a request before its operation runs; `is_client` is false for servers
    /// and administrators. All other rules, and these in operations that require no access, apply
    /// once their subject is known, mostly in the operation itself.
    pub const fn of_request(self, is_client: bool) -> &'static [(Rule, By)] {
        match (self, is_client) {
            (Self::SignUp, true) => &[(Rule::SignUp, By::Address), (Rule::SignUpNetwork, By::Network)],
            (Self::AnonymousSignUp, true) => &[(Rule::AnonymousSignUp, By::Address), (Rule::AnonymousSignUpNetwork, By::Network)],
            (Self::SignUp | Self::AnonymousSignUp, false) => &[(Rule::SignUpServer, By::Project)],
            (Self::SignIn, true) => &[(Rule::SignIn, By::Address), (Rule::SignInNetwork, By::Network), (Rule::SignInUser, By::User)],
            (Self::SendCode, true) => {
                &[(Rule::SendCode, By::Address), (Rule::SendCodeNetwork, By::Network), (Rule::SendCodeCaller, By::User)]
            }
            (Self::Code, true) => &[(Rule::Code, By::Address), (Rule::CodeNetwork, By::Network), (Rule::CodeUser, By::User)],
            (Self::Code, false) => &[(Rule::CodeServer, By::Project)],
            (Self::Token | Self::Poll, true) => &[(Rule::TokenAddress, By::Address), (Rule::TokenNetwork, By::Network)],
            (Self::Authorize, true) => &[(Rule::Authorize, By::Address), (Rule::AuthorizeNetwork, By::Network)],
            (Self::Challenge, true) => &[(Rule::Challenge, By::Address)],
            (Self::ApiKey, _) => &[(Rule::ApiKey, By::ApiKey)],
            (Self::TestEmail, _) => &[(Rule::TestEmail, By::Project), (Rule::TestEmailAddress, By::Address)],
            (Self::WebhookTest, _) => &[(Rule::WebhookTest, By::Caller)],
            (Self::WebhookReplay, _) => &[(Rule::WebhookReplay, By::Caller)],
            (Self::SecureAccount, true) => {
                &[(Rule::SecureAccount, By::Session), (Rule::SecureAccountAddress, By::Address), (Rule::SecureAccountNetwork, By::Network)]
            }
            (Self::Write, true) => &[(Rule::Write, By::Caller), (Rule::WriteAddress, By::Address), (Rule::WriteNetwork, By::Network)],
            (Self::SecureAccount | Self::Write, false) => &[(Rule::WriteServer, By::Caller)],
            (Self::Picture, true) => {
                &[(Rule::Picture, By::Caller), (Rule::PictureAddress, By::Address), (Rule::PictureNetwork, By::Network)]
            }
            (Self::SignIn | Self::SendCode | Self::Token | Self::Poll | Self::Authorize | Self::Challenge | Self::Picture, false)
            | (Self::Read | Self::Notice | Self::Unproved, _) => &[],
        }
    }
}

impl Rule {
    /// Whether each process counts in its memory first, and adds ten requests at a time to the
    /// count in the table. So these rules, which all clients' writes share, usually need no
    /// additional call to the table. Each process may permit up to ten requests beyond the quota.
    pub const fn is_batched(self) -> bool {
        matches!(
            self,
            Self::SignInNetwork
                | Self::SignInUser
                | Self::CodeNetwork
                | Self::CodeUser
                | Self::TokenAddress
                | Self::TokenNetwork
                | Self::AuthorizeNetwork
                | Self::SecureAccountAddress
                | Self::SecureAccountNetwork
                | Self::WriteAddress
                | Self::WriteNetwork
        )
    }
}

/// The subject that a request is counted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The IPv4 address, or the /64 of an IPv6 address.
    Address,
    /// The network of the IP address: IPv4 /24 or IPv6 /48.
    Network,
    /// The whole project: all its requests count together.
    Project,
    /// The secret API key of a user or team in the request. Requests without one, or with a public
    /// key, are not counted.
    ApiKey,
    /// The user of a client's access token. A request without one is not counted.
    User,
    /// The session of a client's access token; without a token, the IP address.
    Session,
    /// The user of a client or an administrator, or the key of a server or an administrator;
    /// otherwise, the IP address.
    Caller,
}
