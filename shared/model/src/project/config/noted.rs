//! The configuration keys of the settings in a [`ConfigPatch`].

use wire::change::Change;

use crate::project::config_patch::ConfigPatch;

/// For each field in braces, the key of the field, or `None` if the patch does not set the field.
/// The fields after the `;` are ignored. The pattern has no `..`, so a field of [`ConfigPatch`]
/// that is in neither list causes a compile error.
macro_rules! keys_of {
    ($patch:expr, { $($field:ident: $key:literal,)* } ; $($other:ident),*) => {{
        let ConfigPatch { $($field,)* $($other: _),* } = $patch;
        [$($field.is_some().then_some($key)),*]
    }};
}

impl ConfigPatch {
    /// The configuration keys of the values in the patch. The minimum length of passwords
    /// and the settings for OAuth clients are not part of a configuration.
    pub fn keys(&self) -> Vec<&'static str> {
        let keys = keys_of!(self, {
            sign_up_enabled: "auth.allowSignUp",
            credential_enabled: "auth.password.allowSignIn",
            magic_link_enabled: "auth.otp.allowSignIn",
            passkey_enabled: "auth.passkey.allowSignIn",
            passkey_rp_ids: "auth.passkey.rpIds",
            passkey_user_verification: "auth.passkey.userVerification",
            passkey_replaces_second_factor: "auth.passkey.replacesSecondFactor",
            client_team_creation_enabled: "teams.allowClientTeamCreation",
            member_invitations_enabled: "teams.allowMemberInvitations",
            max_teams_per_user: "teams.maxPerUser",
            anonymous_creation_enabled: "users.allowAnonymousCreation",
            client_user_deletion_enabled: "users.allowClientUserDeletion",
            allow_user_api_keys: "apiKeys.enabled.user",
            allow_team_api_keys: "apiKeys.enabled.team",
            allow_localhost: "domains.allowLocalhost",
            create_team_on_sign_up: "teams.createPersonalTeamOnSignUp",
            require_email_verification: "onboarding.requireEmailVerification",
            require_publishable_client_key: "project.requirePublishableClientKey",
            new_sign_in_mails: "emails.notices",
            disabled_notices: "emails.notices",
            session_max_age_seconds: "auth.sessions.maxAgeSeconds",
            session_max_idle_seconds: "auth.sessions.maxIdleSeconds",
            reauthentication_max_age_seconds: "auth.reauthentication.maxAgeSeconds",
            second_factor: "auth.secondFactor",
            audit_log_retention_days: "auditLog.retentionDays",
            bot_challenge: "auth.botChallenge",
            bot_challenge_usual_requests_per_hour: "auth.botChallenge",
            oauth_account_merge_strategy: "auth.oauth.accountMergeStrategy",
            oauth_providers: "auth.oauth.providers",
            sign_up_rules: "auth.signUpRules",
            sign_up_rules_default_action: "auth.signUpRulesDefaultAction",
            domains: "domains.trustedDomains",
            email_config: "emails.server",
            team_creator_default_permissions: "rbac.defaultPermissions.teamCreator",
            team_member_default_permissions: "rbac.defaultPermissions.teamMember",
            user_default_permissions: "rbac.defaultPermissions.signUp",
        }; password_min_length, email_theme, oauth_client_documents_enabled, oauth_client_document_hosts, oauth_client_registration_enabled);
        let theme = (!matches!(self.email_theme, Change::Keep)).then_some("emails.selectedThemeId");
        keys.into_iter().chain([theme]).flatten().collect()
    }
}
