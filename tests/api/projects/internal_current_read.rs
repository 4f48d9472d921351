//! `GET /api/v1/internal/projects/current`.

use serde_json::json;
use support::{START, TestApp};

use super::{INTERNAL, public_config};

#[tokio::test]
async fn an_administrator_can_read_all_settings() {
    let app = TestApp::start().await;
    let answer = app.admin().get(INTERNAL).await;
    let mut config = public_config();
    let settings = json!({
        "passkey_rp_ids": [], "passkey_user_verification": "preferred", "passkey_replaces_second_factor": false,
        "bot_challenge_usual_requests_per_hour": 100, "oauth_providers": [], "email_config": { "type": "shared" },
        "email_theme": "1df07ae6-abf3-4a40-83a5-a1a2cbe336ac", "new_sign_in_mails": false, "disabled_notices": [], "create_team_on_sign_up": false,
        "member_invitations_enabled": true, "max_teams_per_user": 50, "anonymous_creation_enabled": false,
        "require_email_verification": false, "require_publishable_client_key": false,
        "oauth_account_merge_strategy": "link_method", "sign_up_rules": [], "sign_up_rules_default_action": "allow",
        "password_min_length": 8, "team_creator_default_permissions": [{ "id": "team_admin" }],
        "team_member_default_permissions": [{ "id": "team_member" }], "user_default_permissions": [],
        "session_max_age_seconds": 365 * 86_400, "session_max_idle_seconds": 30 * 86_400, "reauthentication_max_age_seconds": 0,
        "audit_log_retention_days": 90, "oauth_client_documents_enabled": false, "oauth_client_document_hosts": [],
        "oauth_client_registration_enabled": false,
        "second_factor": {
            "remember_device_days": 0, "required_of_everyone": false, "required_of_teams": [], "required_of_permissions": [],
        },
    });
    config.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    let expected = json!({
        "id": app.project_id(), "display_name": "Development", "description": "", "logo_url": null, "logo_full_url": null,
        "logo_dark_mode_url": null, "logo_full_dark_mode_url": null, "is_production_mode": false, "is_development_environment": true,
        "created_at_millis": START.parse::<jiff::Timestamp>().unwrap().as_millisecond(), "owner_team_id": null,
        "onboarding_status": "completed", "access_token_algorithm": "ES256",
        "config": config,
    });
    assert_eq!((answer.status(), answer.json()), (200, expected));
}

#[tokio::test]
async fn other_access_types_cannot_read_them() {
    let app = TestApp::start().await;
    for caller in [app.client(), app.server()] {
        let answer = caller.get(INTERNAL).await;
        assert_eq!((answer.status(), answer.code().as_str()), (403, "INSUFFICIENT_ACCESS_TYPE"));
        assert_eq!(answer.json()["details"]["allowed_access_types"], json!(["admin"]));
    }
    let without = app.admin().without("x-stack-super-secret-admin-key");
    assert_eq!(without.get(INTERNAL).await.code(), "ADMIN_AUTHENTICATION_REQUIRED");
    let with_another_kind = without.with("x-stack-secret-server-key", "ssk_x");
    assert_eq!(with_another_kind.get(INTERNAL).await.code(), "ADMIN_AUTHENTICATION_REQUIRED");
}
