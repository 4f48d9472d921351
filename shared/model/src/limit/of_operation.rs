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
            Self::Unproved => "unproved",
        }
    }

    /// Whether requests are counted in the table. Those that may name no existing project are
    /// counted in the process's memory.
    pub fn is_in_table(self) -> bool {
        self != Self::Unproved
    }

    /// The rules by which a request is counted before its operation runs; `is_client` is false for
    /// servers and administrators. All other rules, and these in operations that require no access,
    /// are applied once it is known whom they count, mostly by the operation itself.
    pub const fn of_request(self, is_client: bool) -> &'static [(Rule, By)] {
        match (self, is_client) {
            (Self::SignUp, true) => &[(Rule::SignUp, By::Address), (Rule::SignUpNetwork, By::Network)],
            (Self::AnonymousSignUp, true) => &[(Rule::AnonymousSignUp, By::Address), (Rule::AnonymousSignUpNetwork, By::Network)],
            (Self::SignUp | Self::AnonymousSignUp, false) => &[(Rule::SignUpServer, By::Project)],
            (Self::SignIn, true) => &[(Rule::SignIn, By::Address)],
            (Self::SendCode, true) => &[(Rule::SendCode, By::Address), (Rule::SendCodeNetwork, By::Network)],
            (Self::Code, true) => &[(Rule::Code, By::Address)],
            (Self::Code, false) => &[(Rule::CodeServer, By::Project)],
            (Self::ApiKey, _) => &[(Rule::ApiKey, By::ApiKey)],
            (Self::TestEmail, _) => &[(Rule::TestEmail, By::Project), (Rule::TestEmailAddress, By::Address)],
            (Self::WebhookTest, _) => &[(Rule::WebhookTest, By::Caller)],
            (Self::WebhookReplay, _) => &[(Rule::WebhookReplay, By::Caller)],
            (Self::SecureAccount, true) => &[(Rule::SecureAccount, By::Session)],
            (Self::Write, true) => &[(Rule::Write, By::Caller)],
            (Self::SecureAccount | Self::Write, false) => &[(Rule::WriteServer, By::Caller)],
            (Self::SignIn | Self::SendCode, false) | (Self::Token | Self::Authorize | Self::Challenge | Self::Poll | Self::Unproved, _) => {
                &[]
            }
        }
    }
}

/// The subject that a request is counted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The IPv4 address, or the /64 of an IPv6 address.
    Address,
    /// The network of the IP address: IPv4 /24 or IPv6 /48.
    Network,
    /// The project: all its requests count together.
    Project,
    /// The secret API key of a user or team that the request names. A request that names none, or a
    /// public key, is not counted.
    ApiKey,
    /// The session of a client's access token; without a token, the IP address.
    Session,
    /// The user of a client or an administrator, or the key of a server or an administrator;
    /// otherwise, the IP address.
    Caller,
}
