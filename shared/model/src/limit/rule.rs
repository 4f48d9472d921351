//! Rules: what is counted, and the standard rate of each.

use crate::limit::family::Limit;
use crate::limit::rate::Rate;

/// One rule of the deployment's limits; [`Self::summary`] is a shorter text for operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Sign-ups with a password, from an IP address.
    SignUp,
    /// Sign-ups with a password, from a network.
    SignUpNetwork,
    /// Sign-ups with a password or as an anonymous user, by a project's servers and administrators.
    SignUpServer,
    /// Anonymous users created from an IP address.
    AnonymousSignUp,
    /// Anonymous users created from a network.
    AnonymousSignUpNetwork,
    /// Sign-ins with a password or passkey, second factors, reauthentications, set-ups of
    /// authenticator apps and new sets of recovery codes, from an IP address.
    SignIn,
    /// Requests counted by [`Self::SignIn`], from a network.
    SignInNetwork,
    /// Requests counted by [`Self::SignIn`], in the sessions of a user, from any IP address.
    SignInUser,
    /// Wrong passwords for an email address, wrong current passwords when a user changes the
    /// password or reauthenticates, and wrong codes of a user's second factor; each of the three is
    /// counted separately.
    SignInFailures,
    /// Emails with a code, requested by clients from an IP address.
    SendCode,
    /// Emails with a code, requested by clients from a network.
    SendCodeNetwork,
    /// Emails caused by clients to unverified recipients at one domain, unless it is a mail
    /// provider's domain.
    SendCodeDomain,
    /// Emails with a code to one recipient, requested by clients.
    SendCodeRecipient,
    /// Emails with a code, invitations and test emails to one recipient, requested by servers or
    /// administrators.
    SendCodeRecipientServer,
    /// Emails with a code, requested by a user, from any IP address.
    SendCodeCaller,
    /// A user's requests that cause emails to possibly unverified addresses
    /// ([`GuardedOperation::Email`](crate::bot_challenge::GuardedOperation::Email)), in projects that require bot
    /// challenges.
    SendCodeUser,
    /// Codes checked or redeemed, sign-ins completed with a provider, passkeys registered, and
    /// sign-ins of command-line tools and devices started or completed, from an IP address; also
    /// uses of one link in an email.
    Code,
    /// Requests counted by [`Self::Code`], from a network.
    CodeNetwork,
    /// Requests counted by [`Self::Code`], in the sessions of a user, from any IP address.
    CodeUser,
    /// Codes checked or redeemed by a project's servers and administrators.
    CodeServer,
    /// Uses of one refresh token, authorization code or server key to get tokens.
    Token,
    /// Requests for tokens, and polls, from an IP address.
    TokenAddress,
    /// Requests for tokens, and polls, from a network.
    TokenNetwork,
    /// Unknown refresh tokens, authorization codes and polling codes from an IP address.
    TokenUnknown,
    /// Polls of one sign-in of a command-line tool or device.
    CliPoll,
    /// OAuth flows started from an IP address.
    Authorize,
    /// OAuth flows started from a network.
    AuthorizeNetwork,
    /// Proof-of-work challenges requested from an IP address.
    Challenge,
    /// The rate above which an IP address is suspicious ([`crate::bot_challenge::rate`]).
    ChallengeUsualAddress,
    /// The rate above which a network (IPv4 /24, IPv6 /48) is suspicious.
    ChallengeUsualNetwork,
    /// Suspicious requests from a network that are permitted although the challenge could not be
    /// loaded or checked; if the rule is off, all of them are refused.
    ChallengeUnavailableNetwork,
    /// Suspicious requests in a project that are permitted although the challenge could not be
    /// loaded or checked; if the rule is off, all of them are refused.
    ChallengeUnavailableProject,
    /// Checks of a secret API key of a user or team.
    ApiKey,
    /// Test emails from a project.
    TestEmail,
    /// Test emails requested from an IP address.
    TestEmailAddress,
    /// Test events to webhook endpoints, by an administrator.
    WebhookTest,
    /// Requests by an administrator that redeliver failed events of webhook endpoints.
    WebhookReplay,
    /// Requests that lock someone out ([`Limit::SecureAccount`]), in one session, or from the IP
    /// address of a client without a session.
    SecureAccount,
    /// Requests counted by [`Self::SecureAccount`], in all sessions, from an IP address.
    SecureAccountAddress,
    /// Requests counted by [`Self::SecureAccount`], in all sessions, from a network.
    SecureAccountNetwork,
    /// Writes by a user, or from the IP address of a client without a user, if no other rule
    /// counts them.
    Write,
    /// Writes counted by [`Self::Write`], by all users, from an IP address. Each 4 KB of a body
    /// counts as one more write.
    WriteAddress,
    /// Writes counted by [`Self::Write`], by all users, from a network. Each 4 KB of a body counts
    /// as one more write.
    WriteNetwork,
    /// Writes with a server's key or by an administrator, if no other rule counts them, and
    /// previews of emails.
    WriteServer,
    /// Pictures uploaded by a user's clients.
    Picture,
    /// Pictures uploaded by clients, from an IP address.
    PictureAddress,
    /// Pictures uploaded by clients, from a network.
    PictureNetwork,
    /// Reads by a client in one session, in units of
    /// [`BYTES_PER_READ`](crate::limit::BYTES_PER_READ).
    Read,
    /// Reads by clients from an IP address, with or without a session.
    ReadAddress,
    /// Reads by clients from a network, with or without a session.
    ReadNetwork,
    /// Notices to one mailbox of a user, at a verified address.
    Notice,
    /// Wrong keys, unknown projects, flows and links, reads without a session of what does not
    /// exist, reports of exposed API keys, and checks of versions, from an IP address.
    Unproved,
    /// Requests counted by [`Self::Unproved`] and [`Self::TokenUnknown`], from a network.
    UnprovedNetwork,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 53] = [
        Self::SignUp,
        Self::SignUpNetwork,
        Self::SignUpServer,
        Self::AnonymousSignUp,
        Self::AnonymousSignUpNetwork,
        Self::SignIn,
        Self::SignInNetwork,
        Self::SignInUser,
        Self::SignInFailures,
        Self::SendCode,
        Self::SendCodeNetwork,
        Self::SendCodeDomain,
        Self::SendCodeRecipient,
        Self::SendCodeRecipientServer,
        Self::SendCodeCaller,
        Self::SendCodeUser,
        Self::Code,
        Self::CodeNetwork,
        Self::CodeUser,
        Self::CodeServer,
        Self::Token,
        Self::TokenAddress,
        Self::TokenNetwork,
        Self::TokenUnknown,
        Self::CliPoll,
        Self::Authorize,
        Self::AuthorizeNetwork,
        Self::Challenge,
        Self::ChallengeUsualAddress,
        Self::ChallengeUsualNetwork,
        Self::ChallengeUnavailableNetwork,
        Self::ChallengeUnavailableProject,
        Self::ApiKey,
        Self::TestEmail,
        Self::TestEmailAddress,
        Self::WebhookTest,
        Self::WebhookReplay,
        Self::SecureAccount,
        Self::SecureAccountAddress,
        Self::SecureAccountNetwork,
        Self::Write,
        Self::WriteAddress,
        Self::WriteNetwork,
        Self::WriteServer,
        Self::Picture,
        Self::PictureAddress,
        Self::PictureNetwork,
        Self::Read,
        Self::ReadAddress,
        Self::ReadNetwork,
        Self::Notice,
        Self::Unproved,
        Self::UnprovedNetwork,
    ];

    /// The rule's name, the limit that it belongs to, its standard rate, and a summary of what it
    /// counts.
    #[rustfmt::skip]
    const fn row(self) -> (&'static str, Limit, Rate, &'static str) {
        match self {
            Self::SignUp => ("sign-up", Limit::SignUp, Rate::new(20, 600), "Sign-ups, and changes of an unproved sign-in address, from an IP address"),
            Self::SignUpNetwork => ("sign-up-network", Limit::SignUp, Rate::new(80, 600), "Sign-ups, and changes of an unproved sign-in address, from a network (IPv4 /24, IPv6 /48)"),
            Self::SignUpServer => ("sign-up-server", Limit::SignUp, Rate::new(600, 60), "Sign-ups by the servers of a project"),
            Self::AnonymousSignUp => ("anonymous-sign-up", Limit::AnonymousSignUp, Rate::new(300, 600), "Anonymous users created from an IP address"),
            Self::AnonymousSignUpNetwork => ("anonymous-sign-up-network", Limit::AnonymousSignUp, Rate::new(1200, 600), "Anonymous users created from a network (IPv4 /24, IPv6 /48)"),
            Self::SignIn => ("sign-in", Limit::SignIn, Rate::new(60, 600), "Passwords, passkeys and second factors tried from an IP address"),
            Self::SignInNetwork => ("sign-in-network", Limit::SignIn, Rate::new(480, 600), "Passwords, passkeys and second factors tried from a network (IPv4 /24, IPv6 /48)"),
            Self::SignInUser => ("sign-in-user", Limit::SignIn, Rate::new(60, 600), "Reauthentications and set-ups of second factors by a user"),
            Self::SignInFailures => ("sign-in-failures", Limit::SignIn, Rate::new(10, 600), "Wrong passwords and second factors of an account"),
            Self::SendCode => ("send-code", Limit::SendCode, Rate::new(30, 600), "Emails with a code requested from an IP address"),
            Self::SendCodeNetwork => ("send-code-network", Limit::SendCode, Rate::new(120, 600), "Emails with a code requested from a network (IPv4 /24, IPv6 /48), also by sign-ups"),
            Self::SendCodeDomain => ("send-code-domain", Limit::SendCode, Rate::new(200, 3600), "Emails to unverified recipients at one domain other than a mail provider's, caused by clients"),
            Self::SendCodeRecipient => ("send-code-recipient", Limit::SendCode, Rate::new(5, 600), "Emails with a code to one recipient, requested by clients"),
            Self::SendCodeRecipientServer => ("send-code-recipient-server", Limit::SendCode, Rate::new(30, 600), "Emails with a code, invitations and test emails to one recipient, requested by servers"),
            Self::SendCodeCaller => ("send-code-caller", Limit::SendCode, Rate::new(30, 600), "Emails with a code requested by a user"),
            Self::SendCodeUser => ("send-code-user", Limit::SendCode, Rate::new(30, 3600), "Emails with a code to unverified addresses, requested by a user, in projects that require bot challenges"),
            Self::Code => ("code", Limit::Code, Rate::new(60, 600), "Codes, links and OAuth callbacks used, and sign-ins of tools and devices started, from an IP address"),
            Self::CodeNetwork => ("code-network", Limit::Code, Rate::new(480, 600), "Codes, links and OAuth callbacks used, and sign-ins of tools and devices started, from a network (IPv4 /24, IPv6 /48)"),
            Self::CodeUser => ("code-user", Limit::Code, Rate::new(60, 600), "Codes and links that a user uses while signed in"),
            Self::CodeServer => ("code-server", Limit::Code, Rate::new(600, 60), "Codes checked or redeemed by the servers of a project"),
            Self::Token => ("token", Limit::Token, Rate::new(60, 600), "Uses of a refresh token, an authorization code or a server key"),
            Self::TokenAddress => ("token-address", Limit::Token, Rate::new(6000, 600), "Requests for tokens, and polls, from an IP address"),
            Self::TokenNetwork => ("token-network", Limit::Token, Rate::new(24_000, 600), "Requests for tokens, and polls, from a network (IPv4 /24, IPv6 /48)"),
            Self::TokenUnknown => ("token-unknown", Limit::Token, Rate::new(300, 600), "Unknown refresh tokens, authorization codes and polling codes from an IP address"),
            Self::CliPoll => ("poll", Limit::Poll, Rate::new(600, 600), "Polls of a sign-in of a command-line tool or a device"),
            Self::Authorize => ("authorize", Limit::Authorize, Rate::new(60, 600), "OAuth flows started from an IP address"),
            Self::AuthorizeNetwork => ("authorize-network", Limit::Authorize, Rate::new(480, 600), "OAuth flows started from a network (IPv4 /24, IPv6 /48)"),
            Self::Challenge => ("challenge", Limit::Challenge, Rate::new(60, 600), "Proof-of-work challenges requested from an IP address"),
            Self::ChallengeUsualAddress => ("challenge-usual-address", Limit::Challenge, Rate::new(40, 3600), "Sign-ups, emails with a code and OAuth flows that are usual for an IP address"),
            Self::ChallengeUsualNetwork => ("challenge-usual-network", Limit::Challenge, Rate::new(80, 3600), "Sign-ups, emails with a code and OAuth flows that are usual for a network"),
            Self::ChallengeUnavailableNetwork => ("challenge-unavailable-network", Limit::Challenge, Rate::new(3, 3600), "Suspicious requests permitted from a network while challenges are unavailable"),
            Self::ChallengeUnavailableProject => ("challenge-unavailable-project", Limit::Challenge, Rate::new(10, 3600), "Suspicious requests permitted in a project while challenges are unavailable"),
            Self::ApiKey => ("api-key", Limit::ApiKey, Rate::new(600, 60), "Checks of one secret API key of a user or team"),
            Self::TestEmail => ("test-email", Limit::TestEmail, Rate::new(20, 600), "Test emails of a project"),
            Self::TestEmailAddress => ("test-email-address", Limit::TestEmail, Rate::new(20, 600), "Test emails requested from an IP address"),
            Self::WebhookTest => ("webhook-test", Limit::WebhookTest, Rate::new(20, 600), "Test events that an administrator sends to webhook endpoints"),
            Self::WebhookReplay => ("webhook-replay", Limit::WebhookReplay, Rate::new(120, 600), "Requests by an administrator that redeliver failed events"),
            Self::SecureAccount => ("secure-account", Limit::SecureAccount, Rate::new(60, 600), "Sign-outs, ended sessions, password changes, removed credentials, addresses and devices, and changed API keys in a session"),
            Self::SecureAccountAddress => ("secure-account-address", Limit::SecureAccount, Rate::new(600, 600), "The same from an IP address, in all sessions"),
            Self::SecureAccountNetwork => ("secure-account-network", Limit::SecureAccount, Rate::new(2400, 600), "The same from a network (IPv4 /24, IPv6 /48), in all sessions"),
            Self::Write => ("write", Limit::Write, Rate::new(300, 60), "Other writes by a user"),
            Self::WriteAddress => ("write-address", Limit::Write, Rate::new(600, 60), "Other writes by users from an IP address; each 4 KB of a body counts once more"),
            Self::WriteNetwork => ("write-network", Limit::Write, Rate::new(1200, 60), "Other writes by users from a network (IPv4 /24, IPv6 /48); each 4 KB of a body counts once more"),
            Self::WriteServer => ("write-server", Limit::Write, Rate::new(3000, 60), "Other writes, and previews of emails, with the key of a server or an administrator"),
            Self::Picture => ("picture", Limit::Picture, Rate::new(10, 600), "Pictures that a user uploads with client access"),
            Self::PictureAddress => ("picture-address", Limit::Picture, Rate::new(30, 600), "Pictures uploaded with client access from an IP address"),
            Self::PictureNetwork => ("picture-network", Limit::Picture, Rate::new(120, 600), "Pictures uploaded with client access from a network (IPv4 /24, IPv6 /48)"),
            Self::Read => ("read", Limit::Read, Rate::new(2400, 600), "Reads by a client in a session, in units of 16 KB; smaller reads do not count"),
            Self::ReadAddress => ("read-address", Limit::Read, Rate::new(4800, 600), "Reads by clients from an IP address, in units of 16 KB; smaller reads do not count"),
            Self::ReadNetwork => ("read-network", Limit::Read, Rate::new(19_200, 600), "Reads by clients from a network (IPv4 /24, IPv6 /48), in units of 16 KB; smaller reads do not count"),
            Self::Notice => ("notice", Limit::Notice, Rate::new(60, 3600), "Notices to a mailbox at a verified address; one more says that others were left out"),
            Self::Unproved => ("unproved", Limit::Unproved, Rate::new(120, 600), "Wrong keys, unknown projects, reads of unknown ids without a session, and checks of versions, from an IP address"),
            Self::UnprovedNetwork => ("unproved-network", Limit::Unproved, Rate::new(1200, 600), "Wrong keys, unknown projects and tokens, reads of unknown ids without a session, and checks of versions, from a network (IPv4 /24, IPv6 /48)"),
        }
    }

    /// The name in metrics and counters.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// The limit that a refusal names.
    pub const fn limit(self) -> Limit {
        self.row().1
    }

    /// The standard rate, for production.
    pub const fn standard(self) -> Rate {
        self.row().2
    }

    /// A summary of what the rule counts, for operators.
    pub const fn summary(self) -> &'static str {
        self.row().3
    }

    /// The environment variable for the rule's rate: `GATELET_LIMIT_` and the name in capitals,
    /// with `_` in place of `-`.
    pub fn variable(self) -> String {
        format!("GATELET_LIMIT_{}", self.name().replace('-', "_").to_uppercase())
    }
}
