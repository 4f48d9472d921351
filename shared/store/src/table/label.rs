//! Labels of writes: a failed transaction reports the labels of the writes whose conditions failed.

/// The purpose of a write in its transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// The account that the transaction changes.
    Account,
    /// The account's claim to an email address, provider account or passkey, by its position among
    /// the claims.
    Claim(usize),
    /// The code, link, invitation or ID token that the transaction redeems, or the command-line
    /// sign-in that it changes.
    Code,
    /// A count with a maximum.
    Count,
    /// The note of a deletion, which must not exist.
    Ending,
    /// An outbox entry, by its position among the entries of the transaction.
    Entry(usize),
    /// A membership that must exist.
    Member,
    /// A team that must exist.
    Team,
    /// A provider's tokens that must be unchanged, or their account.
    Tokens,
    /// The time step of an authenticator app's code.
    TotpStep,
    /// A user who must exist, or whose credential epoch must be unchanged.
    User,
}

/// The labels of the writes whose conditions failed. Writes without a label are not reported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conflict(Vec<Label>);

impl Conflict {
    pub(crate) fn new(labels: impl IntoIterator<Item = Label>) -> Self {
        Self(labels.into_iter().collect())
    }

    /// Whether the condition of a write with this label failed.
    pub fn is_of(&self, label: Label) -> bool {
        self.0.contains(&label)
    }

    /// The position of the first claim held by another user.
    pub(crate) fn claim(&self) -> Option<usize> {
        self.0.iter().find_map(|label| if let Label::Claim(number) = label { Some(*number) } else { None })
    }
}
