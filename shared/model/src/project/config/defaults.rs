//! The default values of a configuration.

use serde_json::{Value, json};

use crate::bot_challenge::BotChallenge;
use crate::document::theme::DEFAULT_THEME;
use crate::passkey::settings::PasskeySettings;
use crate::project::config::documents::MailDocuments;
use crate::project::config::notices;
use crate::project::{ProjectConfig, SessionSettings};
use crate::trail::retention::RETENTION_DAYS;

/// The default values of a configuration, except for keys that are absent by default.
pub(crate) fn defaults() -> Value {
    let (ours, sessions, challenge) = (MailDocuments::default(), SessionSettings::default(), BotChallenge::default());
    let passkeys = PasskeySettings::default();
    json!({
        "project": { "requirePublishableClientKey": false },
        "auth": {
            "allowSignUp": true,
            "password": { "allowSignIn": false },
            "otp": { "allowSignIn": false },
            "passkey": {
                "allowSignIn": passkeys.enabled,
                "rpIds": passkeys.rp_ids,
                "userVerification": passkeys.user_verification,
                "replacesSecondFactor": passkeys.replaces_second_factor,
            },
            "oauth": { "accountMergeStrategy": "link_method" },
            "sessions": { "maxAgeSeconds": sessions.max_age_seconds, "maxIdleSeconds": sessions.max_idle_seconds },
            "reauthentication": { "maxAgeSeconds": 0 },
            "secondFactor": { "rememberDeviceDays": 0, "requiredOfEveryone": false },
            "botChallenge": {
                "provider": challenge.provider,
                "siteKey": null,
                "signUp": challenge.sign_up,
                "sendSignInCode": challenge.send_sign_in_code,
                "oauth": challenge.oauth,
                "usualRequestsPerHour": challenge.usual_requests_per_hour,
            },
            "signUpRulesDefaultAction": "allow",
        },
        "domains": { "allowLocalhost": false },
        "users": { "allowClientUserDeletion": false },
        "teams": { "createPersonalTeamOnSignUp": false, "allowClientTeamCreation": false, "allowMemberInvitations": true },
        "onboarding": { "requireEmailVerification": false },
        "apiKeys": { "enabled": { "user": false, "team": false } },
        "auditLog": { "retentionDays": RETENTION_DAYS },
        "emails": {
            "server": {
                "isShared": true, "provider": "smtp", "host": null, "port": null, "username": null, "senderName": null, "senderEmail": null,
            },
            "selectedThemeId": DEFAULT_THEME,
            "notices": notices::of(&ProjectConfig::default()),
            "templates": ours.templates(),
            "themes": ours.themes(),
        },
    })
}
