//! The interfaces of the service.

/// The interfaces of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interface {
    /// The content API: the public content of a site.
    Content,
    /// The product API: users and everything about them.
    Product,
    /// JSON-RPC for agents, about the public content.
    Agents,
    /// Pages for the users of projects.
    Pages,
}
