//! The rules that apply to an operation.

use crate::limit::family::Limit;
use crate::limit::rule::Rule;

impl Limit {
    /// The name of the limit, for clients and operators.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether requests are counted in the table. Reads, and requests whose project might not
    /// exist, are counted in the memory of the process.
    pub fn is_in_table(self) -> bool {
        !matches!(self, Self::Unproved | Self::Read)
    }

    /// The rules by which a request is counted before its operation runs; `is_client` is false for
    /// servers and administrators. All other rules apply once their subject is known, mostly in the
    /// operation itself. An operation that does not require access also applies the early rules
    /// itself.
    pub const fn early_rules(self, is_client: bool) -> &'static [(Rule, SubjectKind)] {
        match (self, is_client) {
            (Self::SignUp, true) => &[(Rule::SignUp, SubjectKind::Address), (Rule::SignUpNetwork, SubjectKind::Network)],
            (Self::AnonymousSignUp, true) => {
                &[(Rule::AnonymousSignUp, SubjectKind::Address), (Rule::AnonymousSignUpNetwork, SubjectKind::Network)]
            }
            (Self::SignUp | Self::AnonymousSignUp, false) => &[(Rule::SignUpServer, SubjectKind::Project)],
            (Self::SignIn, true) => {
                &[(Rule::SignIn, SubjectKind::Address), (Rule::SignInNetwork, SubjectKind::Network), (Rule::SignInUser, SubjectKind::User)]
            }
            (Self::SendCode, true) => &[
                (Rule::SendCode, SubjectKind::Address),
                (Rule::SendCodeNetwork, SubjectKind::Network),
                (Rule::SendCodeCaller, SubjectKind::User),
            ],
            (Self::Code, true) => {
                &[(Rule::Code, SubjectKind::Address), (Rule::CodeNetwork, SubjectKind::Network), (Rule::CodeUser, SubjectKind::User)]
            }
            (Self::Code, false) => &[(Rule::CodeServer, SubjectKind::Project)],
            (Self::Token | Self::Poll, true) => &[(Rule::TokenAddress, SubjectKind::Address), (Rule::TokenNetwork, SubjectKind::Network)],
            (Self::Authorize, true) => &[(Rule::Authorize, SubjectKind::Address), (Rule::AuthorizeNetwork, SubjectKind::Network)],
            (Self::OauthClient, true) => {
                &[(Rule::OauthClientAddress, SubjectKind::Address), (Rule::OauthClientNetwork, SubjectKind::Network)]
            }
            (Self::Challenge, true) => &[(Rule::Challenge, SubjectKind::Address)],
            (Self::ApiKey, _) => &[(Rule::ApiKey, SubjectKind::ApiKey)],
            (Self::TestEmail, _) => &[(Rule::TestEmail, SubjectKind::Project), (Rule::TestEmailAddress, SubjectKind::Address)],
            (Self::WebhookTest, _) => &[(Rule::WebhookTest, SubjectKind::Caller)],
            (Self::WebhookReplay, _) => &[(Rule::WebhookReplay, SubjectKind::Caller)],
            (Self::SecureAccount, true) => &[
                (Rule::SecureAccount, SubjectKind::Session),
                (Rule::SecureAccountAddress, SubjectKind::Address),
                (Rule::SecureAccountNetwork, SubjectKind::Network),
            ],
            (Self::Write, true) => &[
                (Rule::Write, SubjectKind::Caller),
                (Rule::WriteAddress, SubjectKind::Address),
                (Rule::WriteNetwork, SubjectKind::Network),
            ],
            (Self::SecureAccount | Self::Write, false) => &[(Rule::WriteServer, SubjectKind::Caller)],
            (Self::Picture, true) => &[
                (Rule::Picture, SubjectKind::Caller),
                (Rule::PictureAddress, SubjectKind::Address),
                (Rule::PictureNetwork, SubjectKind::Network),
            ],
            (
                Self::SignIn
                | Self::SendCode
                | Self::Token
                | Self::Poll
                | Self::Authorize
                | Self::OauthClient
                | Self::Challenge
                | Self::Picture,
                false,
            )
            | (Self::Read | Self::Notice | Self::Unproved, _) => &[],
        }
    }
}

impl Rule {
    /// Whether each process first counts requests in its memory and adds them to the count in the
    /// table ten at a time. These rules apply to frequent requests, such as every write by a
    /// client, and counting in memory saves most of the additional calls to the table. Each process
    /// may permit up to ten requests beyond the quota.
    pub const fn is_batched(self) -> bool {
        matches!(
            self,
            Self::SignInNetwork
                | Self::SignInUser
                | Self::CodeNetwork
                | Self::CodeUser
                | Self::TokenAddress
                | Self::TokenNetwork
                | Self::TokenClient
                | Self::OauthClientOther
                | Self::OauthClientAddress
                | Self::OauthClientNetwork
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
pub enum SubjectKind {
    /// The IPv4 address, or the /64 of an IPv6 address.
    Address,
    /// The network of the IP address: IPv4 /24 or IPv6 /48.
    Network,
    /// The entire project: all requests of a project count together.
    Project,
    /// The secret API key in the request, which belongs to a user or team. Requests without a key,
    /// or with a public key, are not counted.
    ApiKey,
    /// The user of a client's access token. Requests without an access token are not counted.
    User,
    /// The session of a client's access token; without a token, the IP address.
    Session,
    /// The user of a client or an administrator, or the key of a server or an administrator;
    /// otherwise, the IP address.
    Caller,
}
