//! The trail: what happened to a project and its accounts, by whom, from where. Entries are added and never changed; they expire.
//!
//! An entry has names and ids: of the operation, of whoever asked, of what it was about, and of the fields that were sent. It never has
//! a value that was sent, as it may be a secret.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::id::{KeySetId, SessionId, TrailEntryId, UserId};
use super::notice::Kind;
use super::place::Place;
use super::project::KeyKind;
use super::session::Amr;

/// How long entries are kept where a project does not say, in days.
pub const RETENTION_DAYS: u16 = 90;
/// How many names of fields an entry has at most; more are left out.
pub const MAX_FIELDS: usize = 50;
/// Longest name of a field, in bytes; what is longer is left out.
pub const MAX_FIELD: usize = 128;
/// Longest id of a target, in characters; what is longer is cut there.
pub const MAX_TARGET_ID: usize = 256;
/// How deep the names of settings go.
const MAX_DEPTH: usize = 6;

/// An entry of the trail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub id: TrailEntryId,
    /// When it happened; of what is counted, when its minute began.
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub at: Timestamp,
    /// The name of the operation, as the API document has it.
    pub operation: String,
    /// What it did to an account, in the order of the enumeration. Many operations are told well enough by their name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
    /// How somebody who signed in was proved to be there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub method: Vec<Amr>,
    /// The access type that was proved; absent where an operation asks for none, and within the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    pub actor: Actor,
    /// Whose account it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<UserId>,
    /// What else it is about, from the widest to the narrowest: the team, then the permission in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Target>,
    /// The names of the fields that the request had; those of settings with dots, as `sessions.maxAgeSeconds`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// Where the request came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// How often it happened in its minute; more than once for failed sign-ins alone.
    pub count: u32,
}

/// What happened to an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema, deserr::Deserr)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// The account was created.
    #[deserr(rename = "created")]
    Created,
    #[deserr(rename = "sign-in")]
    SignIn,
    /// The first factor of a sign-in was right, and a second one was asked for.
    #[deserr(rename = "second-factor-asked")]
    SecondFactorAsked,
    /// A wrong password or code at sign-in.
    #[deserr(rename = "sign-in-failed")]
    SignInFailed,
    /// A session of the user that somebody else has.
    #[deserr(rename = "impersonation")]
    Impersonation,
    /// Somebody who was signed in was proved to be there again.
    #[deserr(rename = "reauthenticated")]
    Reauthenticated,
    /// A wrong password or code of somebody who was signed in.
    #[deserr(rename = "proof-failed")]
    ProofFailed,
    #[deserr(rename = "sign-out")]
    SignOut,
    #[deserr(rename = "sessions-ended")]
    SessionsEnded,
    #[deserr(rename = "password-set")]
    PasswordSet,
    #[deserr(rename = "password-changed")]
    PasswordChanged,
    #[deserr(rename = "password-reset")]
    PasswordReset,
    #[deserr(rename = "password-removed")]
    PasswordRemoved,
    #[deserr(rename = "address-added")]
    AddressAdded,
    #[deserr(rename = "address-removed")]
    AddressRemoved,
    #[deserr(rename = "address-made-primary")]
    AddressMadePrimary,
    #[deserr(rename = "address-verified")]
    AddressVerified,
    #[deserr(rename = "authenticator-added")]
    AuthenticatorAdded,
    #[deserr(rename = "authenticator-removed")]
    AuthenticatorRemoved,
    #[deserr(rename = "provider-linked")]
    ProviderLinked,
    #[deserr(rename = "provider-unlinked")]
    ProviderUnlinked,
    #[deserr(rename = "restricted")]
    Restricted,
    #[deserr(rename = "unrestricted")]
    Unrestricted,
    #[deserr(rename = "deleted")]
    Deleted,
}

impl From<Kind> for Event {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::PasswordSet => Self::PasswordSet,
            Kind::PasswordChanged => Self::PasswordChanged,
            Kind::PasswordReset => Self::PasswordReset,
            Kind::PasswordRemoved => Self::PasswordRemoved,
            Kind::AddressAdded => Self::AddressAdded,
            Kind::AddressRemoved => Self::AddressRemoved,
            Kind::AddressMadePrimary => Self::AddressMadePrimary,
            Kind::AuthenticatorAdded => Self::AuthenticatorAdded,
            Kind::AuthenticatorRemoved => Self::AuthenticatorRemoved,
            Kind::ProviderLinked => Self::ProviderLinked,
            Kind::ProviderUnlinked => Self::ProviderUnlinked,
        }
    }
}

/// An access type, as it was proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    Client,
    Server,
    Admin,
}

/// Who did it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum Actor {
    /// Nobody who was known.
    Anonymous,
    /// A user of the project, with the session; of a sign-in, the one that it began.
    User { user_id: UserId, session_id: SessionId },
    /// Whoever has a secret key of the project.
    Key { key_set_id: KeySetId, kind: KeyKind },
    /// A member of the team that owns the project, who is a user of the project `internal`.
    Operator { user_id: UserId },
    /// A worker, the command line, or whoever runs the process.
    System,
}

/// What an operation is about, besides an account.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct Target {
    #[serde(rename = "type")]
    pub kind: TargetKind,
    pub id: String,
}

/// Kinds of what operations are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    Project,
    Team,
    Invitation,
    Permission,
    Session,
    ContactChannel,
    Provider,
    ProviderAccount,
    KeySet,
    ConfigLevel,
    EmailTemplate,
    EmailTheme,
    EmailDraft,
    Email,
    NotificationCategory,
}

impl Target {
    pub fn new(kind: TargetKind, id: impl ToString) -> Self {
        Self { kind, id: id.to_string().chars().take(MAX_TARGET_ID).collect() }
    }
}

impl Entry {
    /// When the entry expires.
    pub fn expires_at(&self, retention_days: u16) -> Timestamp {
        super::session::after(self.at, SignedDuration::from_hours(i64::from(retention_days) * 24))
    }
}

/// The names of the fields of a body, and of the settings below `config` and in what else has settings; no values. What an object
/// has as keys elsewhere is data of whoever sent it.
pub fn fields(body: &Value) -> Vec<String> {
    let mut names = Vec::new();
    if let Value::Object(fields) = body {
        for (name, value) in fields {
            match (name.as_str(), value) {
                ("config", Value::Object(settings)) if !settings.is_empty() => add_settings(name, settings, 1, &mut names),
                _ => add(name.clone(), &mut names),
            }
        }
    }
    names
}

fn add(name: String, names: &mut Vec<String>) {
    if names.len() < MAX_FIELDS && name.len() <= MAX_FIELD && !names.contains(&name) {
        names.push(name);
    }
}

fn add_settings(path: &str, settings: &Map<String, Value>, depth: usize, names: &mut Vec<String>) {
    for (name, value) in settings {
        let path = format!("{path}.{name}");
        match value {
            Value::Object(inner) if !inner.is_empty() && depth < MAX_DEPTH => add_settings(&path, inner, depth + 1, names),
            _ => add(path, names),
        }
    }
}
