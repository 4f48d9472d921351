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
    /// Wrong passwords for an email address, wrong current passwords when a user changes the
    /// password or reauthenticates, and wrong codes of a user's second factor; each of the three is
    /// counted separately.
    SignInFailures,
    /// Emails with a code, requested by clients from an IP address.
    SendCode,
    /// Emails with a code, requested by clients from a network.
    SendCodeNetwork,
    /// Emails with a code to one recipient, requested by clients.
    SendCodeRecipient,
    /// Emails with a code, invitations and test emails to one recipient, requested by servers or
    /// administrators.
    SendCodeRecipientServer,
    /// A user's requests that cause emails to email addresses that may be unverified
    /// ([`Guarded::Email`](crate::bot_challenge::Guarded::Email)), in projects that require bot
    /// challenges.
    SendCodeUser,
    /// Codes checked or redeemed, sign-ins completed with a provider, passkeys registered, and
    /// sign-ins of command-line tools and devices started or completed, from an IP address; also
    /// uses of one link in an email.
    Code,
    /// Codes checked or redeemed by a project's servers and administrators.
    CodeServer,
    /// Uses of one refresh token, authorization code or server key to get tokens.
    Token,
    /// Unknown refresh tokens, authorization codes and polling codes from an IP address.
    TokenUnknown,
    /// Polls of one sign-in of a command-line tool or device.
    CliPoll,
    /// OAuth flows started from an IP address.
    Authorize,
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
    /// Test emails of a project.
    TestEmail,
    /// Test emails requested from an IP address.
    TestEmailAddress,
    /// Test events to webhook endpoints, by an administrator.
    WebhookTest,
    /// Requests that deliver the failed events of webhook endpoints again, by an administrator.
    WebhookReplay,
    /// Requests by which a user shuts somebody out ([`Limit::SecureAccount`]), in one session, or
    /// from the IP address of a client without a session.
    SecureAccount,
    /// Writes by a user, or from the IP address of a client without a user, if no other rule
    /// counts them.
    Write,
    /// Writes with a server's key or by an administrator, if no other rule counts them, and
    /// previews of emails.
    WriteServer,
    /// Wrong keys, unknown projects, flows and links, reports of exposed API keys, and checks of
    /// versions, from an IP address.
    Unproved,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 32] = [
        Self::SignUp,
        Self::SignUpNetwork,
        Self::SignUpServer,
        Self::AnonymousSignUp,
        Self::AnonymousSignUpNetwork,
        Self::SignIn,
        Self::SignInFailures,
        Self::SendCode,
        Self::SendCodeNetwork,
        Self::SendCodeRecipient,
        Self::SendCodeRecipientServer,
        Self::SendCodeUser,
        Self::Code,
        Self::CodeServer,
        Self::Token,
        Self::TokenUnknown,
        Self::CliPoll,
        Self::Authorize,
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
        Self::Write,
        Self::WriteServer,
        Self::Unproved,
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
            Self::SignIn => ("sign-in", Limit::SignIn, Rate::new(60, 600), "Passwords, passkeys and second factors that an IP address tries"),
            Self::SignInFailures => ("sign-in-failures", Limit::SignIn, Rate::new(10, 600), "Wrong passwords and second factors of an account"),
            Self::SendCode => ("send-code", Limit::SendCode, Rate::new(30, 600), "Emails with a code requested by an IP address"),
            Self::SendCodeNetwork => ("send-code-network", Limit::SendCode, Rate::new(120, 600), "Emails with a code requested by a network (IPv4 /24, IPv6 /48)"),
            Self::SendCodeRecipient => ("send-code-recipient", Limit::SendCode, Rate::new(5, 600), "Emails with a code to one recipient, requested by clients"),
            Self::SendCodeRecipientServer => ("send-code-recipient-server", Limit::SendCode, Rate::new(30, 600), "Emails with a code, invitations and test emails to one recipient, requested by servers"),
            Self::SendCodeUser => ("send-code-user", Limit::SendCode, Rate::new(30, 3600), "Emails with a code to unverified addresses, requested by a user, in projects that require bot challenges"),
            Self::Code => ("code", Limit::Code, Rate::new(60, 600), "Codes, links and OAuth callbacks that an IP address uses, and sign-ins of tools and devices that it starts"),
            Self::CodeServer => ("code-server", Limit::Code, Rate::new(600, 60), "Codes checked or redeemed by the servers of a project"),
            Self::Token => ("token", Limit::Token, Rate::new(60, 600), "Uses of a refresh token, an authorization code or a server key"),
            Self::TokenUnknown => ("token-unknown", Limit::Token, Rate::new(300, 600), "Unknown refresh tokens, authorization codes and polling codes from an IP address"),
            Self::CliPoll => ("poll", Limit::Poll, Rate::new(600, 600), "Polls of a sign-in of a command-line tool or a device"),
            Self::Authorize => ("authorize", Limit::Authorize, Rate::new(60, 600), "OAuth flows started by an IP address"),
            Self::Challenge => ("challenge", Limit::Challenge, Rate::new(60, 600), "Proof-of-work challenges requested by an IP address"),
            Self::ChallengeUsualAddress => ("challenge-usual-address", Limit::Challenge, Rate::new(40, 3600), "Sign-ups, emails with a code and OAuth flows that are usual for an IP address"),
            Self::ChallengeUsualNetwork => ("challenge-usual-network", Limit::Challenge, Rate::new(80, 3600), "Sign-ups, emails with a code and OAuth flows that are usual for a network"),
            Self::ChallengeUnavailableNetwork => ("challenge-unavailable-network", Limit::Challenge, Rate::new(3, 3600), "Suspicious requests permitted from a network while challenges are unavailable"),
            Self::ChallengeUnavailableProject => ("challenge-unavailable-project", Limit::Challenge, Rate::new(10, 3600), "Suspicious requests permitted in a project while challenges are unavailable"),
            Self::ApiKey => ("api-key", Limit::ApiKey, Rate::new(600, 60), "Checks of one secret API key of a user or team"),
            Self::TestEmail => ("test-email", Limit::TestEmail, Rate::new(20, 600), "Test emails of a project"),
            Self::TestEmailAddress => ("test-email-address", Limit::TestEmail, Rate::new(20, 600), "Test emails requested by an IP address"),
            Self::WebhookTest => ("webhook-test", Limit::WebhookTest, Rate::new(20, 600), "Test events that an administrator sends to webhook endpoints"),
            Self::WebhookReplay => ("webhook-replay", Limit::WebhookReplay, Rate::new(120, 600), "Requests of an administrator that deliver failed events again"),
            Self::SecureAccount => ("secure-account", Limit::SecureAccount, Rate::new(60, 600), "Sign-outs, ended sessions, password changes, removed credentials, addresses and devices, and changed API keys in a session"),
            Self::Write => ("write", Limit::Write, Rate::new(300, 60), "Other writes by a user"),
            Self::WriteServer => ("write-server", Limit::Write, Rate::new(3000, 60), "Other writes, and previews of emails, with the key of a server or an administrator"),
            Self::Unproved => ("unproved", Limit::Unproved, Rate::new(120, 600), "Wrong keys, unknown projects and checks of versions from an IP address"),
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

    /// The environment variable that sets the rule's rate: `GATELET_LIMIT_` and the name in
    /// capitals, with `_` in place of `-`.
    pub fn variable(self) -> String {
        format!("GATELET_LIMIT_{}", self.name().replace('-', "_").to_uppercase())
    }
}
