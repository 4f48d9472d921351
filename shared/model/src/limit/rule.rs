//! Rules: what is counted, and the standard rate of each.

use crate::limit::family::Limit;
use crate::limit::rate::Rate;

/// Defines the rules, one per row. A row contains the variant, its name in metrics and counters,
/// its limit, its standard rate (a number of requests in a number of seconds), and a summary for
/// operators of what the rule counts. Comments contain the details that matter only to the code.
macro_rules! rules {
    ($($variant:ident = $name:literal, $limit:ident, $quota:literal in $seconds:literal, $summary:literal;)+) => {
        /// A rule by which a deployment counts requests.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Rule {
            $(#[doc = $summary] $variant,)+
        }

        impl Rule {
            /// Every rule.
            pub const ALL: [Self; [$(Self::$variant),+].len()] = [$(Self::$variant),+];

            /// The name, the limit, the standard rate and the summary.
            const fn row(self) -> (&'static str, Limit, Rate, &'static str) {
                match self {
                    $(Self::$variant => ($name, Limit::$limit, Rate::new($quota, $seconds), $summary),)+
                }
            }
        }
    };
}

rules! {
    SignUp = "sign-up", SignUp, 20 in 600, "Sign-ups and changes of unproved sign-in addresses, from an IP address";
    SignUpNetwork = "sign-up-network", SignUp, 80 in 600, "Sign-ups and changes of unproved sign-in addresses, from a network (IPv4 /24, IPv6 /48)";
    // Sign-ups with a password or as an anonymous user, by a project's servers and administrators.
    SignUpServer = "sign-up-server", SignUp, 600 in 60, "Sign-ups by the servers of a project";
    AnonymousSignUp = "anonymous-sign-up", AnonymousSignUp, 300 in 600, "Anonymous users created from an IP address";
    AnonymousSignUpNetwork = "anonymous-sign-up-network", AnonymousSignUp, 1200 in 600, "Anonymous users created from a network (IPv4 /24, IPv6 /48)";
    // Sign-ins with a password or passkey, second factors, reauthentications, set-ups of
    // authenticator apps and new sets of recovery codes, from an IP address.
    SignIn = "sign-in", SignIn, 60 in 600, "Attempts with passwords, passkeys and second factors, from an IP address";
    SignInNetwork = "sign-in-network", SignIn, 480 in 600, "Attempts with passwords, passkeys and second factors, from a network (IPv4 /24, IPv6 /48)";
    SignInUser = "sign-in-user", SignIn, 60 in 600, "Reauthentications and second-factor setups by a user";
    // Wrong passwords for an email address, wrong current passwords in password changes and
    // reauthentications, and wrong codes of a user's second factor; each of the three is counted
    // separately.
    SignInFailures = "sign-in-failures", SignIn, 10 in 600, "Wrong passwords and wrong second factors for an account";
    SendCode = "send-code", SendCode, 30 in 600, "Emails with a code requested from an IP address";
    SendCodeNetwork = "send-code-network", SendCode, 120 in 600, "Emails with a code requested from a network (IPv4 /24, IPv6 /48), including by sign-ups";
    SendCodeDomain = "send-code-domain", SendCode, 200 in 3600, "Emails to unverified recipients at one domain, caused by clients; domains of mail providers are not counted";
    SendCodeRecipient = "send-code-recipient", SendCode, 5 in 600, "Emails with a code to one recipient, requested by clients";
    SendCodeRecipientServer = "send-code-recipient-server", SendCode, 30 in 600, "Emails with a code, invitations and test emails to one recipient, requested by servers";
    SendCodeCaller = "send-code-caller", SendCode, 30 in 600, "Emails with a code requested by a user";
    // A user's requests that cause emails to possibly unverified addresses
    // (`GuardedOperation::Email`), in projects that require bot challenges.
    SendCodeUser = "send-code-user", SendCode, 30 in 3600, "Emails with a code to unverified addresses, requested by a user, in projects that require bot challenges";
    // Codes checked or redeemed, sign-ins completed with a provider, passkeys registered, and
    // sign-ins of command-line tools and devices started or completed, from an IP address; also
    // uses of one link in an email.
    Code = "code", Code, 60 in 600, "Uses of codes, links and OAuth callbacks, and started sign-ins of tools and devices, from an IP address";
    CodeNetwork = "code-network", Code, 480 in 600, "Uses of codes, links and OAuth callbacks, and started sign-ins of tools and devices, from a network (IPv4 /24, IPv6 /48)";
    CodeUser = "code-user", Code, 60 in 600, "Uses of codes and links by a signed-in user";
    CodeServer = "code-server", Code, 600 in 60, "Codes checked or redeemed by the servers of a project";
    Token = "token", Token, 60 in 600, "Uses of a refresh token, an authorization code or a server key";
    TokenAddress = "token-address", Token, 6000 in 600, "Token requests and polls from an IP address";
    TokenNetwork = "token-network", Token, 24_000 in 600, "Token requests and polls from a network (IPv4 /24, IPv6 /48)";
    TokenUnknown = "token-unknown", Token, 300 in 600, "Unknown refresh tokens, authorization codes and polling codes from an IP address";
    // Requests that have proved the client's secret, because the IP address of a server does not
    // say anything about its users.
    TokenClient = "token-client", Token, 1_200_000 in 600, "Token requests by one confidential OAuth client";
    OauthClientOther = "oauth-client-other", OauthClient, 1_200_000 in 600, "Requests by one confidential OAuth client, except token requests";
    OauthClientAddress = "oauth-client-address", OauthClient, 1200 in 600, "Authorization requests by OAuth clients from an IP address";
    OauthClientNetwork = "oauth-client-network", OauthClient, 9600 in 600, "Authorization requests by OAuth clients from a network (IPv4 /24, IPv6 /48)";
    OauthClientDocument = "oauth-client-document", OauthClient, 30 in 600, "Metadata documents of unknown OAuth clients fetched for an IP address";
    OauthClientDocumentNetwork = "oauth-client-document-network", OauthClient, 120 in 600, "Metadata documents of unknown OAuth clients fetched for a network (IPv4 /24, IPv6 /48)";
    OauthClientDocumentHost = "oauth-client-document-host", OauthClient, 120 in 600, "Metadata documents of unknown OAuth clients fetched from one host";
    OauthClientRegistration = "oauth-client-registration", OauthClient, 20 in 3600, "OAuth clients that register themselves, from an IP address";
    OauthClientRegistrationNetwork = "oauth-client-registration-network", OauthClient, 100 in 3600, "OAuth clients that register themselves, from a network (IPv4 /24, IPv6 /48)";
    CliPoll = "poll", Poll, 600 in 600, "Polls for one sign-in to a command-line tool or device";
    Authorize = "authorize", Authorize, 60 in 600, "OAuth flows started from an IP address";
    AuthorizeNetwork = "authorize-network", Authorize, 480 in 600, "OAuth flows started from a network (IPv4 /24, IPv6 /48)";
    Challenge = "challenge", Challenge, 60 in 600, "Proof-of-work challenges requested from an IP address";
    // The rate above which an IP address is suspicious (see `crate::bot_challenge::rate`).
    ChallengeUsualAddress = "challenge-usual-address", Challenge, 40 in 3600, "Sign-ups, emails with a code and OAuth flows from an IP address before the address counts as suspicious";
    ChallengeUsualNetwork = "challenge-usual-network", Challenge, 80 in 3600, "Sign-ups, emails with a code and OAuth flows from a network before the network counts as suspicious";
    // If this rule or the next one is off, all suspicious requests are refused while the challenge
    // cannot be loaded or checked.
    ChallengeUnavailableNetwork = "challenge-unavailable-network", Challenge, 3 in 3600, "Suspicious requests permitted from a network while challenges are unavailable";
    ChallengeUnavailableProject = "challenge-unavailable-project", Challenge, 10 in 3600, "Suspicious requests permitted in a project while challenges are unavailable";
    ApiKey = "api-key", ApiKey, 600 in 60, "Checks of one secret API key of a user or team";
    TestEmail = "test-email", TestEmail, 20 in 600, "Test emails of a project";
    TestEmailAddress = "test-email-address", TestEmail, 20 in 600, "Test emails requested from an IP address";
    WebhookTest = "webhook-test", WebhookTest, 20 in 600, "Test events that an administrator sends to webhook endpoints";
    WebhookReplay = "webhook-replay", WebhookReplay, 120 in 600, "Requests by an administrator to redeliver failed events";
    // Requests that lock someone out (`Limit::SecureAccount`), in one session, or from the IP
    // address of a client without a session.
    SecureAccount = "secure-account", SecureAccount, 60 in 600, "Requests that secure an account, in a session: sign-outs, ended sessions, password changes, removed credentials, addresses and devices, and changed API keys";
    SecureAccountAddress = "secure-account-address", SecureAccount, 600 in 600, "Sign-outs, password changes and other requests that secure an account, from an IP address, in all sessions";
    SecureAccountNetwork = "secure-account-network", SecureAccount, 2400 in 600, "Sign-outs, password changes and other requests that secure an account, from a network (IPv4 /24, IPv6 /48), in all sessions";
    // Writes by a user, or from the IP address of a client without a user, if no other rule counts
    // them.
    Write = "write", Write, 300 in 60, "Writes by a user, if no other rule counts them";
    WriteAddress = "write-address", Write, 600 in 60, "Writes by users from an IP address, if no other rule counts them; each 4 KB of a body counts as another write";
    WriteNetwork = "write-network", Write, 1200 in 60, "Writes by users from a network (IPv4 /24, IPv6 /48), if no other rule counts them; each 4 KB of a body counts as another write";
    WriteServer = "write-server", Write, 3000 in 60, "Writes with a server or admin key, if no other rule counts them, and previews of emails";
    Picture = "picture", Picture, 10 in 600, "Pictures that a user uploads with client access";
    PictureAddress = "picture-address", Picture, 30 in 600, "Pictures uploaded with client access from an IP address";
    PictureNetwork = "picture-network", Picture, 120 in 600, "Pictures uploaded with client access from a network (IPv4 /24, IPv6 /48)";
    // Reads by a client in one session, in units of `BYTES_PER_READ`.
    Read = "read", Read, 2400 in 600, "Reads by a client in a session, in units of 16 KB; smaller reads do not count";
    ReadAddress = "read-address", Read, 4800 in 600, "Reads by clients from an IP address, in units of 16 KB; smaller reads do not count";
    ReadNetwork = "read-network", Read, 19_200 in 600, "Reads by clients from a network (IPv4 /24, IPv6 /48), in units of 16 KB; smaller reads do not count";
    Notice = "notice", Notice, 60 in 3600, "Notices to the mailbox of a verified address; a final notice then says that no further notices are sent";
    // Counted by IP address: wrong keys; unknown projects, flows and links; reads without a session
    // of anything that does not exist; reports of exposed API keys; and checks of versions.
    Unproved = "unproved", Unproved, 120 in 600, "Wrong keys, unknown projects, reads of unknown ids without a session, and version checks, from an IP address";
    UnprovedNetwork = "unproved-network", Unproved, 1200 in 600, "Wrong keys, unknown projects and tokens, reads of unknown ids without a session, and version checks, from a network (IPv4 /24, IPv6 /48)";
}

impl Rule {
    /// The name in metrics and counters.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// The limit that a refusal reports.
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
