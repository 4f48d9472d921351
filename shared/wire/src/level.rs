//! Access levels.

use serde::Serialize;

/// The access level of a request; a higher level permits everything that a lower one permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// A browser or app, with the publishable client key if the project requires it, or with an
    /// admin access token.
    Client,
    /// A backend, with the secret server key, a machine's access token or an admin access token.
    Server,
    /// An administrator, with the super-secret admin key or an admin access token.
    Admin,
}

impl Level {
    /// Every level, from lowest to highest.
    pub const ALL: [Self; 3] = [Self::Client, Self::Server, Self::Admin];

    /// The level's name in the header `X-Service-Access-Type`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Admin => "admin",
        }
    }
}
