//! Maps an error in a setting to the setting's path in the configuration.

use crate::setting::SettingRefusal;

pub(crate) const PROVIDERS: &str = "auth.oauth.providers";
pub(crate) const RULES: &str = "auth.signUpRules";
pub(crate) const DOMAINS: &str = "domains.trustedDomains";
pub(crate) const SERVER: &str = "emails.server";
pub(crate) const SECOND_FACTOR: &str = "auth.secondFactor";
pub(crate) const REQUIRED_OF_PERMISSIONS: &str = "auth.secondFactor.requiredOfPermissions";
const CHALLENGE: &str = "auth.botChallenge";

/// The ids of list elements, in order. Errors refer to an element by its position in the list,
/// whereas a configuration refers to it by its id.
pub(crate) struct Ids {
    pub(crate) providers: Vec<String>,
    pub(crate) rules: Vec<String>,
    pub(crate) domains: Vec<String>,
}

impl Ids {
    /// The configuration path of an invalid setting.
    pub(crate) fn path_of(&self, error: &SettingRefusal) -> String {
        let lists = [
            ("config.oauth_providers", PROVIDERS, &self.providers),
            ("config.sign_up_rules", RULES, &self.rules),
            ("config.domains", DOMAINS, &self.domains),
        ];
        for (setting, path, ids) in lists {
            let Some(rest) = error.path.strip_prefix(setting) else { continue };
            let place = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            let id = place.and_then(|(index, field)| Some((ids.get(index.parse::<usize>().ok()?)?, field)));
            return id.map_or_else(|| path.to_owned(), |(id, field)| format!("{path}.{id}{}", field_name(field)));
        }
        if let Some(field) = error.path.strip_prefix("config.email_config.") {
            return format!("{SERVER}.{}", field_name(field));
        }
        if let Some(field) = error.path.strip_prefix("config.bot_challenge.") {
            return format!("{CHALLENGE}.{}", field_name(field));
        }
        if let Some(rest) = error.path.strip_prefix("config.passkey_rp_ids") {
            return format!("auth.passkey.rpIds{rest}");
        }
        if let Some(field) = error.path.strip_prefix("config.second_factor.") {
            return format!("{SECOND_FACTOR}.{}", field_name(field));
        }
        let others = [
            ("config.bot_challenge_usual_requests_per_hour", "auth.botChallenge.usualRequestsPerHour"),
            ("config.session_max_age_seconds", "auth.sessions.maxAgeSeconds"),
            ("config.session_max_idle_seconds", "auth.sessions.maxIdleSeconds"),
            ("config.reauthentication_max_age_seconds", "auth.reauthentication.maxAgeSeconds"),
            ("config.audit_log_retention_days", "auditLog.retentionDays"),
            ("config.max_teams_per_user", "teams.maxPerUser"),
            ("config.team_creator_default_permissions", "rbac.defaultPermissions.teamCreator"),
            ("config.team_member_default_permissions", "rbac.defaultPermissions.teamMember"),
            ("config.user_default_permissions", "rbac.defaultPermissions.signUp"),
        ];
        let other = others.iter().find(|(setting, _)| error.path == *setting);
        other.map_or_else(|| error.path.clone(), |(_, path)| (*path).to_owned())
    }
}

/// The name of a setting's field in a configuration.
fn field_name(field: &str) -> String {
    let field = match field {
        ".domain" => ".base_url",
        ".apple_bundle_ids" => ".apple_bundles",
        // In a configuration, `isShared` selects the deployment's client, and `type` names the
        // provider.
        ".type" => ".is_shared",
        field => field,
    };
    let mut words = field.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (head, tail) = word.split_at(word.len().min(1));
        name + &head.to_uppercase() + tail
    })
}
