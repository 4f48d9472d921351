//! The configuration keys for the account notices that users receive: one key per topic, and one
//! key for sign-ins from new places.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use strum::IntoEnumIterator as _;
use wire::problem::Problems;

use crate::email::notice::Topic;
use crate::project::ProjectConfig;
use crate::project::config::parts::Entries;

pub(crate) const NOTICES: &str = "emails.notices";
/// The key for sign-ins from new places.
const NEW_SIGN_IN: &str = "newSignIn";

fn key(topic: Topic) -> &'static str {
    match topic {
        Topic::Password => "password",
        Topic::SignInAddress => "signInAddress",
        Topic::AuthenticatorApp => "authenticatorApp",
        Topic::ProviderAccount => "providerAccount",
        Topic::ApiKey => "apiKey",
        Topic::Passkey => "passkey",
        Topic::OauthClient => "oauthClient",
    }
}

/// The keys with their values.
pub(crate) fn to_value(config: &ProjectConfig) -> Value {
    let topics = Topic::iter().map(|topic| (key(topic), !config.disabled_notices.contains(&topic)));
    json!(topics.chain([(NEW_SIGN_IN, config.new_sign_in_mails)]).collect::<BTreeMap<_, _>>())
}

/// The values of these keys as they appear in a configuration.
pub(crate) struct Notices {
    pub(crate) new_sign_in: bool,
    pub(crate) disabled: BTreeSet<Topic>,
}

impl Notices {
    /// Parses the keys; a missing key has its default value.
    pub(crate) fn read(keys: Entries<bool>) -> Result<Self, Problems> {
        let defaults = ProjectConfig::default();
        let mut notices = Self { new_sign_in: defaults.new_sign_in_mails, disabled: defaults.disabled_notices };
        for (name, is_on) in keys.0 {
            match Topic::iter().find(|topic| key(*topic) == name) {
                Some(topic) if is_on => drop(notices.disabled.remove(&topic)),
                Some(topic) => drop(notices.disabled.insert(topic)),
                None if name == NEW_SIGN_IN => notices.new_sign_in = is_on,
                None => return Err(Problems::one(&format!("{NOTICES}.{name}"), "is not known")),
            }
        }
        Ok(notices)
    }
}
