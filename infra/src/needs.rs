//! What a function, or at least one function of a stack, needs in addition to the resources that
//! all functions have.

use std::collections::BTreeSet;

use api::http::{Interface, Need, Route};

/// The memory of a function, in MB.
pub const MEMORY: u16 = 256;
/// The memory of a function that hashes passwords or makes keys, in MB; with this much memory, a
/// Lambda gets a whole core.
pub const HASHING_MEMORY: u16 = 1769;
/// The timeout of a function, in seconds. API Gateway waits for 30 seconds, but an operation that
/// takes more than ten seconds is broken.
pub const TIMEOUT: u16 = 10;
/// The timeout of a function that calls providers, in seconds: the time limit for all calls
/// together (`PROVIDERS_TIMEOUT` of the crate `net`), plus a reserve.
const PROVIDERS_TIMEOUT: u16 = 25;

/// Needs, and their names in the templates.
pub(crate) type Names = BTreeSet<&'static str>;

/// The name of a need in the templates.
fn name(need: Need) -> &'static str {
    match need {
        Need::Secret => "secret",
        Need::Providers => "providers",
        Need::Images => "images",
        Need::Console => "console",
        Need::Hashing => "hashing",
        Need::WholeCore => "whole core",
    }
}

pub(crate) fn names(needs: impl IntoIterator<Item = Need>) -> Names {
    needs.into_iter().map(name).collect()
}

/// The needs of an operation's function: those that its route lists, and those that follow from
/// other properties of the route.
pub(crate) fn names_for_route(route: &Route) -> Names {
    let mut names = names(route.needs.iter());
    names.extend((route.interface == Interface::Content).then_some("content"));
    names.extend(route.renews_sessions().then_some("renewal"));
    names
}

/// The memory of an operation's function, in MB.
pub fn memory(route: &Route) -> u16 {
    let needs_core = [Need::Hashing, Need::WholeCore].into_iter().any(|need| route.needs.has(need));
    if needs_core { HASHING_MEMORY } else { MEMORY }
}

/// The timeout of an operation's function, in seconds.
pub(crate) fn timeout(route: &Route) -> u16 {
    if route.needs.has(Need::Providers) { PROVIDERS_TIMEOUT } else { TIMEOUT }
}
