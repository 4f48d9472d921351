//! Calls to others: whom the service trusts, which addresses it may call on behalf of a project.

pub mod outgoing;
pub mod public_address;
pub mod tls;
