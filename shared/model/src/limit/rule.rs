//! Rules: what is counted, and how much of it is usual.

use crate::limit::family::Limit;
use crate::limit::rate::Rate;

/// One line of the deployment's limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    SignUp,
    SignUpNetwork,
    SignUpServer,
    SignIn,
    SignInFailures,
    SendCode,
    SendCodeNetwork,
    SendCodeRecipient,
    SendCodeRecipientServer,
    /// In projects that ask for bot challenges.
    SendCodeUser,
    Code,
    CodeServer,
    Token,
    TokenUnknown,
    Authorize,
    Challenge,
    /// Above which an address is suspicious ([`bot_challenge_rate`](crate::bot_challenge::rate)).
    ChallengeUsualAddress,
    /// The same of its network: IPv4 /24, IPv6 /48.
    ChallengeUsualNetwork,
    /// Whose challenge could not be solved or checked; off: nobody is let through for that.
    ChallengeUnavailableNetwork,
    ChallengeUnavailableProject,
    Write,
    WriteServer,
    Unproved,
}

impl Rule {
    pub const ALL: [Self; 23] = [
        Self::SignUp,
        Self::SignUpNetwork,
        Self::SignUpServer,
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
        Self::Authorize,
        Self::Challenge,
        Self::ChallengeUsualAddress,
        Self::ChallengeUsualNetwork,
        Self::ChallengeUnavailableNetwork,
        Self::ChallengeUnavailableProject,
        Self::Write,
        Self::WriteServer,
        Self::Unproved,
    ];

    /// Its name, the limit that it is a part of, its standard rate, and what it counts.
    #[rustfmt::skip]
    const fn row(self) -> (&'static str, Limit, Rate, &'static str) {
        match self {
            Self::SignUp => ("sign-up", Limit::SignUp, Rate::new(20, 600), "Sign-ups from an address"),
            Self::SignUpNetwork => ("sign-up-network", Limit::SignUp, Rate::new(80, 600), "Sign-ups from a network (IPv4 /24, IPv6 /48)"),
            Self::SignUpServer => ("sign-up-server", Limit::SignUp, Rate::new(600, 60), "Sign-ups by the servers of a project"),
            Self::SignIn => ("sign-in", Limit::SignIn, Rate::new(60, 600), "Sign-ins with a password from an address"),
            Self::SignInFailures => ("sign-in-failures", Limit::SignIn, Rate::new(10, 600), "Wrong passwords for an account"),
            Self::SendCode => ("send-code", Limit::SendCode, Rate::new(30, 600), "Mails with a code that an address asks for"),
            Self::SendCodeNetwork => ("send-code-network", Limit::SendCode, Rate::new(120, 600), "Mails with a code that a network asks for (IPv4 /24, IPv6 /48)"),
            Self::SendCodeRecipient => ("send-code-recipient", Limit::SendCode, Rate::new(5, 600), "Mails with a code to one recipient that clients ask for"),
            Self::SendCodeRecipientServer => ("send-code-recipient-server", Limit::SendCode, Rate::new(30, 600), "Mails with a code to one recipient that servers ask for"),
            Self::SendCodeUser => ("send-code-user", Limit::SendCode, Rate::new(30, 3600), "Mails with a code to addresses that nobody may have proved that a user asks for, where a project asks for bot challenges"),
            Self::Code => ("code", Limit::Code, Rate::new(60, 600), "Codes that an address checks or redeems"),
            Self::CodeServer => ("code-server", Limit::Code, Rate::new(600, 60), "Codes that the servers of a project check or redeem"),
            Self::Token => ("token", Limit::Token, Rate::new(60, 600), "Uses of a refresh token"),
            Self::TokenUnknown => ("token-unknown", Limit::Token, Rate::new(300, 600), "Unknown refresh tokens and authorization codes from an address"),
            Self::Authorize => ("authorize", Limit::Authorize, Rate::new(60, 600), "OAuth flows that an address begins"),
            Self::Challenge => ("challenge", Limit::Challenge, Rate::new(60, 600), "Proof-of-work challenges that an address asks for"),
            Self::ChallengeUsualAddress => ("challenge-usual-address", Limit::Challenge, Rate::new(40, 3600), "Sign-ups, mails with a code and OAuth flows that are usual for an address"),
            Self::ChallengeUsualNetwork => ("challenge-usual-network", Limit::Challenge, Rate::new(80, 3600), "Sign-ups, mails with a code and OAuth flows that are usual for a network"),
            Self::ChallengeUnavailableNetwork => ("challenge-unavailable-network", Limit::Challenge, Rate::new(3, 3600), "Suspicious requests from a network whose challenge is not available"),
            Self::ChallengeUnavailableProject => ("challenge-unavailable-project", Limit::Challenge, Rate::new(10, 3600), "Suspicious requests of a project whose challenge is not available"),
            Self::Write => ("write", Limit::Write, Rate::new(300, 60), "Other writing requests of a user"),
            Self::WriteServer => ("write-server", Limit::Write, Rate::new(3000, 60), "Other writing requests with a key of a server"),
            Self::Unproved => ("unproved", Limit::Unproved, Rate::new(120, 600), "Wrong keys and unknown projects from an address"),
        }
    }

    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// What a refusal names.
    pub const fn limit(self) -> Limit {
        self.row().1
    }

    pub const fn standard(self) -> Rate {
        self.row().2
    }

    /// What it counts, for operators.
    pub const fn summary(self) -> &'static str {
        self.row().3
    }

    /// The environment variable that changes it: `GATELET_LIMIT_` and the name in capitals.
    pub fn variable(self) -> String {
        format!("GATELET_LIMIT_{}", self.name().replace('-', "_").to_uppercase())
    }
}
