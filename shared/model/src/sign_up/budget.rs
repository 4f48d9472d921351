//! The budget of an evaluation, which limits the work and memory of all sign-up rules of a project
//! together.
//!
//! The work of a condition is an upper bound that is computed from its text (`sign_up::cost`) and
//! does not depend on the sign-up. Otherwise, a sufficiently long address could cause the rule that
//! rejects it to be skipped. The rules to skip are therefore known when the rules are set, and are
//! the same for every sign-up.

/// The maximum number of steps for all rules of a project together. A step takes about a tenth of a
/// microsecond, so an evaluation takes less than five milliseconds of processor time. Most rules
/// take much less than their bound, which assumes an address of maximum length.
pub const MAX_STEPS: u64 = 40_000;
/// The maximum memory for all compiled rules of a project together, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// The work and memory that remain for an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    steps: u64,
    bytes: usize,
}

/// A condition exceeds the remaining budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BudgetRefusal {
    #[error(
        "the condition would take {needed} steps, but earlier rules leave only {left} of the {MAX_STEPS} steps that all rules of a project may take"
    )]
    Steps { needed: u64, left: u64 },
    #[error(
        "the condition would take {needed} bytes of memory, but earlier rules leave only {left} of the {MAX_BYTES} bytes that all rules of a project \
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

    /// Returns steps that were reserved but not used.
    pub(crate) fn refund(&mut self, steps: u64) {
        self.steps = self.steps.saturating_add(steps).min(MAX_STEPS);
    }

    /// Reserves this many bytes of memory.
    pub(crate) fn keep(&mut self, needed: usize) -> Result<(), BudgetRefusal> {
        let left = self.bytes;
        self.bytes = left.checked_sub(needed).ok_or(BudgetRefusal::Bytes { needed, left })?;
        Ok(())
    }

    /// The reserved memory, in bytes.
    pub(crate) fn kept(&self) -> usize {
        MAX_BYTES - self.bytes
    }

    pub(crate) fn spent(&self) -> u64 {
        MAX_STEPS - self.steps
    }
}
