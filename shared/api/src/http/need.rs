//! Resources that only some operations' functions need.

/// A resource that is available only to the functions that need it, which limits what an attacker
/// finds after breaking into a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Keys derived from the deployment secret.
    Secret,
    /// Calls to OAuth providers: the secrets of the deployment's own clients, and a longer time
    /// limit.
    Providers,
    /// Read access to the bucket that contains the content's images.
    Images,
    /// The setting that says whether the deployment has the console (`GATELET_CONSOLE`).
    Console,
    /// A whole core, to hash passwords. By default, Argon2 takes 19 MiB and all the CPU it can get.
    /// A function's CPU and price are both proportional to its memory, so with enough memory for a
    /// whole core, a hash takes a fraction of the time at about the same cost.
    Hashing,
    /// A whole core, for work other than hashing that would take many seconds on a fraction of a
    /// core.
    WholeCore,
}

impl Need {
    const ALL: [Self; 6] = [Self::Secret, Self::Providers, Self::Images, Self::Console, Self::Hashing, Self::WholeCore];

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of needs that can be composed in constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs(u8);

impl Needs {
    /// No needs.
    pub const NONE: Self = Self(0);

    /// Adds a need.
    pub const fn with(self, need: Need) -> Self {
        Self(self.0 | need.bit())
    }

    /// Adds needs.
    pub const fn with_all(self, mut needs: &[Need]) -> Self {
        let mut all = self;
        while let [need, others @ ..] = needs {
            (all, needs) = (all.with(*need), others);
        }
        all
    }

    /// Adds the needs of another set.
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Removes a need.
    pub const fn without(self, need: Need) -> Self {
        Self(self.0 & !need.bit())
    }

    /// Whether the set contains a need.
    pub const fn has(self, need: Need) -> bool {
        self.0 & need.bit() != 0
    }

    /// The needs of the set.
    pub fn iter(self) -> impl Iterator<Item = Need> {
        Need::ALL.into_iter().filter(move |need| self.has(*need))
    }
}
