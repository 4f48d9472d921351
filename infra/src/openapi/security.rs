//! Authentication: the headers of the product API as security schemes, and the headers that each
//! access level requires.

use utoipa::openapi::SecurityRequirement;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};
use wire::level::Level;

/// A header for authentication, which contains a credential, the access level or the project.
pub(super) struct Scheme {
    pub(super) name: &'static str,
    header: &'static str,
    description: &'static str,
}

impl Scheme {
    pub(super) fn build(&self) -> SecurityScheme {
        let suffix = self.header.trim_start_matches("X-Service-");
        let description = format!("{} Synonyms: `X-Stack-{suffix}`, `X-Hexclave-{suffix}`.", self.description);
        SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description(self.header.to_owned(), description)))
    }
}

pub(super) const SCHEMES: [Scheme; 6] = [
    Scheme {
        name: "accessType",
        header: "X-Service-Access-Type",
        description: "The access level of the request: `client`, `server` or `admin`. A higher level includes all rights of the lower ones.",
    },
    Scheme { name: "projectId", header: "X-Service-Project-Id", description: "The project, a UUID." },
    Scheme {
        name: "publishableClientKey",
        header: "X-Service-Publishable-Client-Key",
        description: "For client access; begins with `pck_`. It identifies an app and is not secret, as every user of the app has it. A request with client \
                      access may leave it out unless the project requires it (`require_publishable_client_key`, in a configuration \
                      `project.requirePublishableClientKey`); a wrong one is always rejected.",
    },
    Scheme {
        name: "secretServerKey",
        header: "X-Service-Secret-Server-Key",
        description: "For server access; begins with `ssk_`; never give it to a client.",
    },
    Scheme {
        name: "superSecretAdminKey",
        header: "X-Service-Super-Secret-Admin-Key",
        description: "For admin access; begins with `sak_`.",
    },
    Scheme {
        name: "accessToken",
        header: "X-Service-Access-Token",
        description: "The current user's access token. Optional: with it, the request acts for that user.",
    },
];

fn all_of(keys: &[&str]) -> SecurityRequirement {
    let always = SecurityRequirement::new("accessType", [""; 0]).add("projectId", [""; 0]);
    keys.iter().fold(always, |requirement, key| requirement.add(*key, [""; 0]))
}

/// The combinations of headers that prove an access level; each of them is sufficient.
pub(super) fn requirements(level: Option<Level>) -> Vec<SecurityRequirement> {
    let (client, server, admin) = (["publishableClientKey"], ["secretServerKey"], ["superSecretAdminKey"]);
    let with_user = ["publishableClientKey", "accessToken"];
    match level {
        // An empty list means that no headers are required.
        None => Vec::new(),
        Some(Level::Client) => vec![all_of(&client), all_of(&with_user), all_of(&server), all_of(&admin)],
        Some(Level::Server) => vec![all_of(&server), all_of(&admin)],
        Some(Level::Admin) => vec![all_of(&admin)],
    }
}
