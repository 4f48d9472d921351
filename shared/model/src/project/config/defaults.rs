//! The default values of a configuration.

use serde_json::{Map, Value, json};

use crate::bot_challenge::BotChallenge;
use crate::document::theme::DEFAULT_THEME;
use crate::project::config::documents::MailDocuments;
use crate::project::config::notices;
use crate::project::config::paths::{PROVIDERS, RULES};
use crate::project::passkeys::PasskeySettings;
use crate::project::retention::RETENTION_DAYS;
use crate::project::{ProjectConfig, SessionSettings};
use crate::quota::QuotaSettings;

/// The default values of a configuration; keys without a default value are omitted.
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
                "secretKey": null,
                "signUp": challenge.sign_up,
                "sendSignInCode": challenge.send_sign_in_code,
                "oauth": challenge.oauth,
                "usualRequestsPerHour": challenge.usual_requests_per_hour,
            },
            "signUpRulesDefaultAction": "allow",
        },
        "domains": { "allowLocalhost": false },
        "users": { "allowClientUserDeletion": false, "allowAnonymousCreation": false },
        "teams": {
            "createPersonalTeamOnSignUp": false,
            "allowClientTeamCreation": false,
            "allowMemberInvitations": true,
            "maxPerUser": QuotaSettings::default().teams_per_user,
        },
        "onboarding": { "requireEmailVerification": false },
        "apiKeys": { "enabled": { "user": false, "team": false } },
        "auditLog": { "retentionDays": RETENTION_DAYS },
        "emails": {
            "server": {
                "isShared": true, "provider": "smtp", "host": null, "port": null, "username": null, "password": null,
                "senderName": null, "senderEmail": null,
            },
            "selectedThemeId": DEFAULT_THEME,
            "notices": notices::to_value(&ProjectConfig::default()),
            "templates": ours.templates(),
            "themes": ours.themes(),
        },
    })
}

/// The apps offered by the service for which the SDK was written. In Gatelet, enabling an app has
/// no effect.
const APPS: [&str; 21] = [
    "analytics",
    "api-keys",
    "authentication",
    "catalyst",
    "convex",
    "data-vault",
    "email-api",
    "emails",
    "fraud-protection",
    "launch-checklist",
    "neon",
    "onboarding",
    "payments",
    "rbac",
    "session-replays",
    "support",
    "tanstack-start",
    "teams",
    "tv-mode",
    "vercel",
    "webhooks",
];

/// The paths without effect that are set in a new project, with their values.
pub(crate) const OF_NEW_PROJECTS: [(&str, bool); 2] =
    [("apps.installed.authentication.enabled", true), ("apps.installed.emails.enabled", true)];

/// The default values of the areas without effect, which match those of the service for which the
/// SDK was written.
pub(crate) fn without_effect() -> Value {
    let apps: Map<_, _> = APPS.iter().map(|app| ((*app).to_owned(), json!({ "enabled": false }))).collect();
    json!({
        "analytics": { "queryFolders": {} },
        "apps": { "installed": apps },
        "customDashboards": {},
        "dataVault": { "stores": {} },
        "dbSync": { "externalDatabases": {} },
        "payments": { "blockNewPurchases": false, "testMode": true, "productLines": {}, "items": {}, "products": {} },
        "sourceOfTruth": { "type": "hosted" },
    })
}

/// Records that may contain entries outside the project's settings. Those entries are shown as set
/// in the levels, with the defaults of [`entry_defaults`].
pub(crate) const RECORDS: [&str; 5] = [PROVIDERS, RULES, "payments.items", "payments.products", "analytics.queryFolders"];

/// The default values of the entry `id` in one of these [`RECORDS`].
pub(crate) fn entry_defaults(record: &str, id: &str) -> Value {
    match record {
        PROVIDERS => json!({ "isShared": false, "allowSignIn": true, "allowConnectedAccounts": true }),
        RULES => json!({ "enabled": true, "priority": 0, "action": { "type": "allow" } }),
        "payments.items" => json!({ "displayName": id, "customerType": "user" }),
        "payments.products" => json!({
            "displayName": id, "customerType": "user", "serverOnly": false, "isAddOnTo": false, "prices": {}, "includedItems": {},
        }),
        _ => json!({ "sortOrder": 0, "queries": {} }),
    }
}
