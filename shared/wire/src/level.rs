//! Access types.

use serde::Serialize;

/// An access type; a higher one may do all that a lower one may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Client,
    Server,
    Admin,
}

impl Level {
    pub const ALL: [Self; 3] = [Self::Client, Self::Server, Self::Admin];

    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Admin => "admin",
        }
    }
}
