//! The configuration keys of the settings that other operations change.

use wire::change::Change;

use crate::project::config_patch::ConfigPatch;

impl ConfigPatch {
    /// The configuration keys whose values the patch sets.
    pub fn keys(&self) -> Vec<&'static str> {
        let given = [
            (self.sign_up_enabled.is_some(), "auth.allowSignUp"),
            (self.credential_enabled.is_some(), "auth.password.allowSignIn"),
            (self.magic_link_enabled.is_some(), "auth.otp.allowSignIn"),
            (self.client_team_creation_enabled.is_some(), "teams.allowClientTeamCreation"),
            (self.member_invitations_enabled.is_some(), "teams.allowMemberInvitations"),
            (self.client_user_deletion_enabled.is_some(), "users.allowClientUserDeletion"),
            (self.allow_user_api_keys.is_some(), "apiKeys.enabled.user"),
            (self.allow_team_api_keys.is_some(), "apiKeys.enabled.team"),
            (self.allow_localhost.is_some(), "domains.allowLocalhost"),
            (self.create_team_on_sign_up.is_some(), "teams.createPersonalTeamOnSignUp"),
            (self.require_email_verification.is_some(), "onboarding.requireEmailVerification"),
            (self.require_publishable_client_key.is_some(), "project.requirePublishableClientKey"),
            (self.new_sign_in_mails.is_some() || self.disabled_notices.is_some(), "emails.notices"),
            (self.session_max_age_seconds.is_some(), "auth.sessions.maxAgeSeconds"),
            (self.session_max_idle_seconds.is_some(), "auth.sessions.maxIdleSeconds"),
            (self.reauthentication_max_age_seconds.is_some(), "auth.reauthentication.maxAgeSeconds"),
            (self.second_factor.is_some(), "auth.secondFactor"),
            (self.audit_log_retention_days.is_some(), "auditLog.retentionDays"),
            (self.bot_challenge.is_some() || self.bot_challenge_usual_requests_per_hour.is_some(), "auth.botChallenge"),
            (self.oauth_account_merge_strategy.is_some(), "auth.oauth.accountMergeStrategy"),
            (self.oauth_providers.is_some(), "auth.oauth.providers"),
            (self.sign_up_rules.is_some(), "auth.signUpRules"),
            (self.sign_up_rules_default_action.is_some(), "auth.signUpRulesDefaultAction"),
            (self.domains.is_some(), "domains.trustedDomains"),
            (self.email_config.is_some(), "emails.server"),
            (!matches!(self.email_theme, Change::Keep), "emails.selectedThemeId"),
            (self.team_creator_default_permissions.is_some(), "rbac.defaultPermissions.teamCreator"),
            (self.team_member_default_permissions.is_some(), "rbac.defaultPermissions.teamMember"),
            (self.user_default_permissions.is_some(), "rbac.defaultPermissions.signUp"),
        ];
        given.into_iter().filter_map(|(is_given, key)| is_given.then_some(key)).collect()
    }
}
