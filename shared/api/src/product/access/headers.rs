//! The claims in a request's headers. At this stage, only the signatures of tokens are verified;
//! the table has not been read, except for RSA keys that the process does not know.

use crypto::digest::Digest;
use errors::{Error, KeySlip, KnownError};
use flows::{App, signing_keys};
use http::HeaderMap;
use model::project::KeyKind;
use wire::id::ProjectId;
use wire::level::Level;

use crate::http::need::Need;
use crate::http::route::Route;
use crate::product::access_token::AccessToken;
use crate::product::admin_token::AdminToken;
use crate::product::header_family::header;

/// The value that SDKs send if they do not have a key.
pub const NO_KEY: &str = "__stack_public_client__";

const KEY_HEADERS: [(&str, KeyKind); 3] = [
    ("publishable-client-key", KeyKind::PublishableClient),
    ("secret-server-key", KeyKind::SecretServer),
    ("super-secret-admin-key", KeyKind::SuperSecretAdmin),
];

/// The maximum length of a malformed id that an error repeats, in bytes: the length of a UUID. Keys
/// and tokens are longer: if one is sent in the wrong header, the error must not repeat it.
const MAX_ECHO: usize = 36;

fn echoed(id: &str) -> &str {
    if id.len() <= MAX_ECHO { id } else { "…" }
}

pub(super) struct Headers<'a> {
    pub(super) level: Level,
    pub(super) project: ProjectId,
    pub(super) key: Option<Digest>,
    /// The likely mistake with the key, for the error when the access level is not proved.
    pub(super) slip: KeySlip,
    pub(super) token: Option<AccessToken>,
    /// An invalid token is reported only once the project is known to exist.
    pub(super) admin_token: Option<Result<AdminToken, KnownError>>,
    branch: &'a str,
    pub(super) has_override_key: bool,
}

impl<'a> Headers<'a> {
    /// Runs the checks that do not need items from the table, in this order: access level, presence
    /// of the project id, access token, form of the project id. Conflicting values of a header are
    /// reported when the header is read.
    pub(super) async fn read(headers: &'a HeaderMap, route: Option<&Route>, app: &App) -> Result<Self, Error> {
        // Functions without the secret ignore tokens. The gateway has the secret, but must respond
        // the way such functions do.
        let verifies = route.is_none_or(|route| route.needs.has(Need::Secret));
        let keys = KEY_HEADERS.into_iter().map(|(name, kind)| Ok((kind, header(headers, name)?)));
        let mut keys = keys.collect::<Result<Vec<_>, KnownError>>()?;
        let admin_token = header(headers, "admin-access-token")?.filter(|_| verifies);
        let level = level(headers, admin_token.is_some() || keys.iter().any(|(_, key)| key.is_some()))?;
        let Some(id) = header(headers, "project-id")? else {
            return Err(KnownError::AccessTypeWithoutProjectId { request_type: level.name().to_owned() }.into());
        };
        let project = ProjectId::parse(id);
        let named = project.as_ref().map_or_else(|_| echoed(id), ProjectId::as_str);
        let token = header(headers, "access-token")?.filter(|_| verifies);
        let limited = route.filter(|route| level == Level::Client && route.limit.is_some());
        for token in token.iter().chain(&admin_token) {
            signing_keys::learn(app, token).await?;
        }
        let token = token.map(|token| AccessToken::read(token, named, headers, limited, app)).transpose()?;
        let project = project.map_err(|_| KnownError::CurrentProjectNotFound { project_id: echoed(id).to_owned() })?;
        for (_, key) in &mut keys {
            *key = key.filter(|key| *key != NO_KEY);
        }
        let wanted = KeyKind::of(level);
        let key = keys.iter().find(|(kind, _)| *kind == wanted).and_then(|(_, key)| *key);
        let may_be_token = level == Level::Server && verifies;
        Ok(Self {
            level,
            key: key.map(|key| if may_be_token { server_key_digest(key, &project, app) } else { Digest::of(key) }),
            project,
            slip: KeySlip::of(wanted, &keys),
            token,
            admin_token: admin_token.map(|text| AdminToken::read(text, app)),
            branch: header(headers, "branch-id")?.unwrap_or("main"),
            has_override_key: header(headers, "development-override-key")?.is_some(),
        })
    }

    /// Checks that the branch exists, and then that the access level is sufficient for the
    /// operation.
    pub(super) fn suffice(&self, min_level: Level) -> Result<(), KnownError> {
        if self.branch != "main" {
            return Err(KnownError::BranchDoesNotExist { branch_id: echoed(self.branch).to_owned() });
        }
        if self.level >= min_level {
            return Ok(());
        }
        Err(KnownError::InsufficientAccessType {
            actual_access_type: self.level.name().to_owned(),
            allowed_access_types: Level::ALL.into_iter().filter(|level| *level >= min_level).map(Level::name).collect(),
        })
    }

    /// The valid admin access token.
    pub(super) fn owner(&self) -> Option<&AdminToken> {
        self.admin_token.as_ref().and_then(|token| token.as_ref().ok())
    }
}

/// The claimed access level. If no level is claimed, the error depends on whether the request has a
/// key or an admin access token.
fn level(headers: &HeaderMap, has_key: bool) -> Result<Level, KnownError> {
    match header(headers, "access-type")? {
        Some(text) => Level::ALL.into_iter().find(|level| level.name() == text).ok_or(KnownError::InvalidAccessType),
        None if has_key => Err(KnownError::ProjectKeyWithoutAccessType),
        None => Err(KnownError::AccessTypeRequired),
    }
}

/// The digest for looking up a server's key. Instead of its key, a machine sends an access token
/// that contains the key's digest. The key's revocation, expiry and permissions then apply as if
/// the machine had sent the key itself. A token that is not valid for the project is treated as a
/// key that does not exist.
fn server_key_digest(key: &str, project: &ProjectId, app: &App) -> Digest {
    let is_token = key.starts_with("eyJ");
    let claims = is_token.then(|| app.signer.verify_machine(key, project, app.clock.now()).ok()).flatten();
    claims.map_or_else(|| Digest::of(key), |claims| claims.key)
}
