//! Which limit an operation is under.

use crate::limit::family::Limit;
use crate::limit::rule::Rule;

impl Limit {
    /// What clients and operators call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SignUp => "sign-up",
            Self::SignIn => "sign-in",
            Self::SendCode => "send-code",
            Self::Code => "code",
            Self::Token => "token",
            Self::Authorize => "authorize",
            Self::Challenge => "challenge",
            Self::Write => "write",
            Self::Unproved => "unproved",
        }
    }

    /// What a request of a client, or of a server, is counted by as soon as it is known who sends it. What is not here is counted by the
    /// operation, which knows its subject later.
    pub const fn of_request(self, is_client: bool) -> &'static [(Rule, By)] {
        match (self, is_client) {
            (Self::SignUp, true) => &[(Rule::SignUp, By::Address), (Rule::SignUpNetwork, By::Network)],
            (Self::SignUp, false) => &[(Rule::SignUpServer, By::Project)],
            (Self::SignIn, true) => &[(Rule::SignIn, By::Address)],
            (Self::SendCode, true) => &[(Rule::SendCode, By::Address), (Rule::SendCodeNetwork, By::Network)],
            (Self::Code, true) => &[(Rule::Code, By::Address)],
            (Self::Code, false) => &[(Rule::CodeServer, By::Project)],
            (Self::Write, true) => &[(Rule::Write, By::Caller)],
            (Self::Write, false) => &[(Rule::WriteServer, By::Caller)],
            (Self::SignIn | Self::SendCode, false) | (Self::Token | Self::Authorize | Self::Challenge | Self::Unproved, _) => &[],
        }
    }
}

/// Whom a request is counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    Address,
    /// The addresses of a site: IPv4 /24, IPv6 /48.
    Network,
    /// All requests of the project together.
    Project,
    /// The user of a client, or the key of a server; the address of a client without a user.
    Caller,
}
