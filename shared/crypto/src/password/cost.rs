//! The cost of a new password hash: how much memory argon2id fills, and how many times.
//!
//! The minimum comes from OWASP's Password Storage Cheat Sheet, which lists pairs of memory and
//! passes that resist guessing equally well. argon2id always uses one lane: a function that hashes
//! has one core by default, so more lanes would help only attackers, who may have more cores.

/// The memory and the number of passes of a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    memory: u32,
    passes: u32,
}

/// OWASP's minimum: a hash must use at least the memory, in KiB, and the passes of one of these
/// pairs.
const MIN_COSTS: [Cost; 5] = [Cost::of(47_104, 1), Cost::STANDARD, Cost::of(12_288, 3), Cost::of(9216, 4), Cost::of(7168, 5)];
/// The maximum memory, in KiB, and the maximum number of passes, so that a typo cannot make every
/// sign-in take minutes.
const MAX_COST: Cost = Cost::of(262_144, 16);

impl Cost {
    /// 19 MiB, two passes: the default.
    pub const STANDARD: Self = Self::of(19_456, 2);

    const fn of(memory: u32, passes: u32) -> Self {
        Self { memory, passes }
    }

    /// The memory in KiB.
    pub fn memory(self) -> u32 {
        self.memory
    }

    /// How many times the memory is filled.
    pub fn passes(self) -> u32 {
        self.passes
    }

    /// Parses the name of a cost (`standard`, `low-memory`, `high-memory` or `strong`) or its
    /// numbers, such as `m=19456,t=2,p=1`. `None` for anything else, for less than OWASP's minimum,
    /// and for more than 256 MiB or 16 passes.
    pub fn parse(text: &str) -> Option<Self> {
        let cost = match text {
            "standard" => Self::STANDARD,
            "low-memory" => Self::of(7168, 5),
            "high-memory" => Self::of(47_104, 1),
            // The memory and the passes of RFC 9106's second recommended option (§4).
            "strong" => Self::of(65_536, 3),
            _ => {
                let (memory, passes) = text.strip_prefix("m=")?.strip_suffix(",p=1")?.split_once(",t=")?;
                Self::of(memory.parse().ok()?, passes.parse().ok()?)
            }
        };
        let is_enough = MIN_COSTS.iter().any(|min| cost.memory >= min.memory && cost.passes >= min.passes);
        (is_enough && cost.memory <= MAX_COST.memory && cost.passes <= MAX_COST.passes).then_some(cost)
    }
}

/// The memory and the passes of an extra hash that takes the work missing from `part` compared with
/// `whole`, and at most the memory of `whole`. `None` if the difference is negligible. Work is
/// memory times passes.
pub(super) fn remainder(whole: (u32, u32), part: (u32, u32)) -> Option<(u32, u32)> {
    let missing = whole.0.saturating_mul(whole.1).checked_sub(part.0.saturating_mul(part.1))?;
    let passes = missing.div_ceil(whole.0);
    // argon2 needs at least 8 KiB.
    missing.checked_div(passes).filter(|memory| *memory >= 8).map(|memory| (memory, passes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_has_a_name_or_numbers() {
        let numbers = |text| Cost::parse(text).map(|cost| (cost.memory(), cost.passes()));
        assert_eq!(numbers("standard"), Some((19_456, 2)));
        assert_eq!(numbers("strong"), Some((65_536, 3)));
        assert_eq!(numbers("m=47104,t=1,p=1"), Some((47_104, 1)));
        assert_eq!(numbers("m=262144,t=16,p=1"), Some((262_144, 16)));
        for name in ["low-memory", "high-memory"] {
            assert!(MIN_COSTS.contains(&Cost::parse(name).unwrap_or(MAX_COST)), "{name}");
        }
    }

    #[test]
    fn a_cost_below_the_minimum_or_above_the_maximum_is_refused() {
        let wrong = [
            "",
            "Standard",
            "m=19455,t=2,p=1",
            "m=19456,t=1,p=1",
            "m=7167,t=16,p=1",
            "m=47103,t=1,p=1",
            "m=262145,t=2,p=1",
            "m=19456,t=17,p=1",
            "m=19456,t=2,p=4",
            "m=19456,t=2",
            "t=2,m=19456,p=1",
            "m=19456,t=2,p=1,p=1",
            "m=-1,t=2,p=1",
            "m=99999999999,t=2,p=1",
        ];
        for text in wrong {
            assert_eq!(Cost::parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_a_cheaper_hash_lacks_takes_the_rest_of_the_work() {
        for (own, other) in [((65_536, 3), (19_456, 2)), ((19_456, 2), (7168, 5)), ((47_104, 1), (19_456, 2)), ((262_144, 16), (7168, 5))] {
            let (memory, passes) = remainder(own, other).unwrap_or_default();
            let (whole, sum) = (own.0 * own.1, memory * passes + other.0 * other.1);
            assert!(memory <= own.0 && whole.abs_diff(sum) * 1000 < whole, "{own:?} {other:?}: {memory} {passes}");
        }
        assert_eq!(remainder((19_456, 2), (19_456, 2)), None);
        assert_eq!(remainder((7168, 5), (19_456, 2)), None);
    }
}
