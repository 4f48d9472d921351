//! Who asks: the headers of interface B as security schemes, and which of them an access level needs.

use utoipa::openapi::SecurityRequirement;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};
use wire::level::Level;

/// A header that proves something.
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
        description: "Which access the request wants: `client`, `server` or `admin`. A higher one may do all that a lower one may.",
    },
    Scheme { name: "projectId", header: "X-Service-Project-Id", description: "The project, a UUID." },
    Scheme {
        name: "publishableClientKey",
        header: "X-Service-Publishable-Client-Key",
        description: "For client access; begins with `pck_`. It identifies an app and is no secret, as every user of the app has it. A request with client \
                      access may leave it out unless the project requires it (`require_publishable_client_key`, in a configuration \
                      `project.requirePublishableClientKey`); a wrong one is always refused.",
    },
    Scheme {
        name: "secretServerKey",
        header: "X-Service-Secret-Server-Key",
        description: "For server access; begins with `ssk_`, never in the hands of a client.",
    },
    Scheme {
        name: "superSecretAdminKey",
        header: "X-Service-Super-Secret-Admin-Key",
        description: "For admin access; begins with `sak_`.",
    },
    Scheme {
        name: "accessToken",
        header: "X-Service-Access-Token",
        description: "The current user's access token; optional, the request then acts for that user.",
    },
];

fn all_of(keys: &[&str]) -> SecurityRequirement {
    let always = SecurityRequirement::new("accessType", [""; 0]).add("projectId", [""; 0]);
    keys.iter().fold(always, |requirement, key| requirement.add(*key, [""; 0]))
}

/// The ways to prove a level; any one of them does.
pub(super) fn requirements(level: Option<Level>) -> Vec<SecurityRequirement> {
    let (client, server, admin) = (["publishableClientKey"], ["secretServerKey"], ["superSecretAdminKey"]);
    let with_user = ["publishableClientKey", "accessToken"];
    match level {
        // An empty list says: none is needed.
        None => Vec::new(),
        Some(Level::Client) => vec![all_of(&client), all_of(&with_user), all_of(&server), all_of(&admin)],
        Some(Level::Server) => vec![all_of(&server), all_of(&admin)],
        Some(Level::Admin) => vec![all_of(&admin)],
    }
}
