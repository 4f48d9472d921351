//! The budget of an evaluation: how much work and memory a project's sign-up rules may take
//! together.
//!
//! The work of a condition is an upper bound computed from its text alone (`sign_up::cost`), not
//! from the sign-up: otherwise, a sufficiently long address could cause the rule that rejects it to
//! be skipped. So it is known when the rules are set which of them are skipped, and this is the
//! same for every sign-up.

/// The maximum number of steps for a project's rules together. A step is about a tenth of a
/// microsecond: an evaluation takes less than five milliseconds of a processor. Most rules take
/// much less than their bound, which assumes the longest address.
pub const MAX_STEPS: u64 = 40_000;
/// The maximum memory for a project's compiled rules together, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// The remaining work and memory of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    steps: u64,
    bytes: usize,
}

/// A condition exceeds the remaining budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BudgetRefusal {
    #[error(
        "it would take {needed} steps, but earlier rules leave only {left} of the {MAX_STEPS} steps that all rules of a project may take"
    )]
    Steps { needed: u64, left: u64 },
    #[error(
        "it would take {needed} bytes of memory, but earlier rules leave only {left} of the {MAX_BYTES} bytes that all rules of a project \
         may take"
    )]
    Bytes { needed: usize, left: usize },
}

impl Budget {
    /// The budget of a whole evaluation.
    pub(crate) const FULL: Self = Self { steps: MAX_STEPS, bytes: MAX_BYTES };

    /// Spends this many steps.
    pub(crate) fn work(&mut self, needed: u64) -> Result<(), BudgetRefusal> {
        let left = self.steps;
        self.steps = left.checked_sub(needed).ok_or(BudgetRefusal::Steps { needed, left })?;
        Ok(())
    }

    /// Gives back steps that were spent in advance.
    pub(crate) fn refund(&mut self, steps: u64) {
        self.steps = self.steps.saturating_add(steps).min(MAX_STEPS);
    }

    /// Spends this many bytes of memory.
    pub(crate) fn keep(&mut self, needed: usize) -> Result<(), BudgetRefusal> {
        let left = self.bytes;
        self.bytes = left.checked_sub(needed).ok_or(BudgetRefusal::Bytes { needed, left })?;
        Ok(())
    }

    /// The spent memory, in bytes.
    pub(crate) fn kept(&self) -> usize {
        MAX_BYTES - self.bytes
    }

    /// The spent steps.
    pub(crate) fn spent(&self) -> u64 {
        MAX_STEPS - self.steps
    }
}
