//! Names of writes, so that whoever makes a transaction knows whose condition failed.

/// What a write is about within its transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// The account that the transaction changes.
    Account,
    /// A claim of the account on an address or a provider account: its number among them.
    Claim(usize),
    /// The code, link or invitation that the transaction uses up.
    Code,
    /// How many there are of something that is limited.
    Count,
    /// An entry of the outbox: its number among those that are moved.
    Entry(usize),
    /// A membership.
    Member,
    /// A team.
    Team,
    /// The time step of an authenticator app's code.
    TotpStep,
    /// A user who has to be there, or to be as it was read.
    User,
}

/// The writes whose conditions did not hold, by their labels. Those without one are not told apart.
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

    /// The number of the first claim that somebody else has.
    pub(crate) fn claim(&self) -> Option<usize> {
        self.0.iter().find_map(|label| if let Label::Claim(number) = label { Some(*number) } else { None })
    }
}
