//! The trail: what happened to a project and its accounts, by whom, from where. Entries are added and never changed; they expire.
//!
//! An entry has names and ids: of the operation, of whoever asked, of what it was about, and of the fields that were sent. It never has
//! a value that was sent, as it may be a secret.

pub mod chain;
pub mod check;
pub mod retention;
pub mod view;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use wire::id::{KeySetId, SessionId, TrailEntryId, UserId};
use wire::level::Level;

use crate::document::DocumentKind;
use crate::email::Email;
use crate::notice::changes;
use crate::notice::kind::Kind;
use crate::place::Place;
use crate::project::{KeyKind, ProjectConfig};
use crate::session::Amr;
use crate::user::User;

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

impl From<Level> for Access {
    fn from(level: Level) -> Self {
        match level {
            Level::Client => Self::Client,
            Level::Server => Self::Server,
            Level::Admin => Self::Admin,
        }
    }
}

/// Who did it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
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

impl From<DocumentKind> for TargetKind {
    fn from(kind: DocumentKind) -> Self {
        match kind {
            DocumentKind::Template => Self::EmailTemplate,
            DocumentKind::Theme => Self::EmailTheme,
            DocumentKind::Draft => Self::EmailDraft,
        }
    }
}

impl Target {
    pub fn new(kind: TargetKind, id: impl ToString) -> Self {
        Self { kind, id: id.to_string().chars().take(MAX_TARGET_ID).collect() }
    }
}

/// How long entries of a project are kept, in days.
pub fn retention_days(config: &ProjectConfig) -> u16 {
    config.audit_log_retention_days
}

impl Entry {
    /// When the entry expires.
    pub fn expires_at(&self, retention_days: u16) -> Timestamp {
        wire::clock::after(self.at, SignedDuration::from_hours(i64::from(retention_days) * 24))
    }
}

/// What a change of a user did to the account.
pub fn events(before: &User, after: &User) -> Vec<Event> {
    let is_verified = |user: &User, email: &Email| user.channel_of(email).is_some_and(|channel| channel.is_verified);
    let verifies = after.channels.iter().any(|channel| channel.is_verified && !is_verified(before, &channel.value));
    let restriction = match (&before.restriction, &after.restriction) {
        (None, Some(_)) => Some(Event::Restricted),
        (Some(_), None) => Some(Event::Unrestricted),
        _ => None,
    };
    let ends = after.session_epoch != before.session_epoch;
    let others = [verifies.then_some(Event::AddressVerified), restriction, ends.then_some(Event::SessionsEnded)];
    changes(before, after).into_iter().map(|change| change.kind.into()).chain(others.into_iter().flatten()).collect()
}

/// What a user has since a change that others are named by: addresses and accounts at providers.
pub fn additions(before: &User, after: &User) -> Vec<Target> {
    let channels = after.channels.iter().filter(|channel| before.channel(channel.id).is_none());
    let channels = channels.map(|channel| Target::new(TargetKind::ContactChannel, channel.id));
    let accounts = after.provider_accounts.iter().filter(|account| before.provider_accounts.iter().all(|old| old.id != account.id));
    channels.chain(accounts.map(|account| Target::new(TargetKind::ProviderAccount, account.id))).collect()
}

/// The names of the fields of a body, with those of settings in their place, with dots; no values. Keys of other objects are values: they
/// are named by whoever sends them.
pub fn fields(body: &Value) -> Vec<String> {
    let mut names = Vec::new();
    if let Value::Object(fields) = body {
        for (name, value) in fields {
            match (name.as_str(), value) {
                ("config", Value::Object(settings)) if !settings.is_empty() => add_settings(Some(name), settings, 1, &mut names),
                // The settings are a JSON text of their own, or named by a list.
                ("config_string" | "config_override_string", Value::String(text)) => {
                    let settings = serde_json::from_str(text).unwrap_or_default();
                    add_settings(None, &settings, 1, &mut names);
                }
                ("keys", Value::Array(keys)) => keys.iter().filter_map(Value::as_str).for_each(|key| add(key.to_owned(), &mut names)),
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

fn add_settings(path: Option<&str>, settings: &Map<String, Value>, depth: usize, names: &mut Vec<String>) {
    for (name, value) in settings {
        let path = path.map_or_else(|| name.clone(), |path| format!("{path}.{name}"));
        match value {
            Value::Object(inner) if !inner.is_empty() && depth < MAX_DEPTH => add_settings(Some(&path), inner, depth + 1, names),
            _ => add(path, names),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_fields_of_a_body_are_named_without_a_value_or_a_key_of_metadata() {
        let body = json!({ "display_name": "Ada", "client_metadata": { "4111 1111 1111 1111": true }, "password": null });
        assert_eq!(fields(&body), ["client_metadata", "display_name", "password"]);
        assert!(fields(&json!("correct horse battery")).is_empty() && fields(&json!(["a"])).is_empty());
    }

    #[test]
    fn settings_are_named_with_dots_whether_they_are_an_object_or_a_text() {
        let of_object =
            json!({ "config": { "sign_up_enabled": false, "email_config": { "password": "x" }, "domains": [{ "domain": "y" }] } });
        assert_eq!(fields(&of_object), ["config.domains", "config.email_config.password", "config.sign_up_enabled"]);
        let text = json!({ "config_override_string": r#"{"auth.allowSignUp":false,"emails":{"server":{"host":"x"}}}"# });
        assert_eq!(fields(&text), ["auth.allowSignUp", "emails.server.host"]);
        assert_eq!(fields(&json!({ "keys": ["auth.signUpRules"] })), ["auth.signUpRules"]);
    }

    #[test]
    fn many_names_and_long_ones_are_left_out() {
        let many: Map<String, Value> = (0..MAX_FIELDS + 7).map(|number| (format!("field{number}"), Value::Null)).collect();
        assert_eq!(fields(&Value::Object(many)).len(), MAX_FIELDS);
        assert!(fields(&json!({ ("a".repeat(MAX_FIELD + 1)): 1 })).is_empty());
        let deep = (0..20).fold(json!(1), |inner, _| json!({ "a": inner }));
        assert_eq!(fields(&json!({ "config": deep })), ["config.a.a.a.a.a.a"]);
    }
}
