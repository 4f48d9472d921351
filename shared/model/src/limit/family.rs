//! Which kind of limit an operation is under.

/// What an operation is under, as its route says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    SignUp,
    SignIn,
    /// Everything that mails a code.
    SendCode,
    /// Everything that checks or redeems a code.
    Code,
    /// Refreshing and exchanging tokens.
    Token,
    Authorize,
    /// Proof-of-work challenges, and what decides whether a project asks for a bot challenge.
    Challenge,
    /// Every other operation that writes.
    Write,
    /// What every operation counts: requests that name what does not exist, or prove nothing.
    Unproved,
}
