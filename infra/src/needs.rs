//! What a function, or at least one function of a stack, gets beyond what all functions get.

use std::collections::BTreeSet;

use api::http::{Interface, Need, Route};

/// Memory of a function, in MB.
pub const MEMORY: u16 = 256;
/// Memory of a function that hashes passwords, in MB: with this much, a Lambda has a whole core.
pub const HASHING_MEMORY: u16 = 1769;
/// The timeout of a function, in seconds. API Gateway would wait for 30 seconds, but an operation
/// that takes longer than ten is broken.
pub const TIMEOUT: u16 = 10;
/// The timeout of a function that calls providers, in seconds: that of the calls together
/// (`PROVIDERS_TIMEOUT` of the crate `net`), and some for the rest.
const PROVIDERS_TIMEOUT: u16 = 25;

/// Needs by the names that the templates have for them.
pub(crate) type Names = BTreeSet<&'static str>;

/// The name of a need in the templates.
fn name(need: Need) -> &'static str {
    match need {
        Need::Secret => "secret",
        Need::Providers => "providers",
        Need::Images => "images",
        Need::Console => "console",
        Need::Hashing => "hashing",
    }
}

/// The names of some needs.
pub(crate) fn names(needs: impl IntoIterator<Item = Need>) -> Names {
    needs.into_iter().map(name).collect()
}

/// What the function of an operation gets: what its route needs, and what follows from the other
/// properties of the route.
pub(crate) fn of_route(route: &Route) -> Names {
    let mut names = names(route.needs.iter());
    names.extend((route.interface == Interface::Content).then_some("content"));
    names.extend(route.renews_sessions().then_some("renewal"));
    names
}

/// The memory of the function of an operation, in MB.
pub fn memory(route: &Route) -> u16 {
    if route.needs.has(Need::Hashing) { HASHING_MEMORY } else { MEMORY }
}

/// The timeout of the function of an operation, in seconds.
pub(crate) fn timeout(route: &Route) -> u16 {
    if route.needs.has(Need::Providers) { PROVIDERS_TIMEOUT } else { TIMEOUT }
}
