//! The types of a complete configuration after parsing. Missing keys get their default values.

use crate::bot_challenge::{ChallengeProvider, Policy};
use crate::document::theme::ThemeId;
use crate::project::MergeStrategy;
use crate::project::config::documents::{TemplateInput, ThemeInput};
use crate::project::config::parts::{Domain, Entries, Provider, Rule, Server, parts};
use crate::project::config::permissions::Permission;
use crate::project::passkeys::UserVerification;
use crate::sign_up::rule::DefaultAction;

parts! {
    Document {
        project: ProjectPart,
        auth: Auth,
        domains: Domains,
        users: Users,
        teams: Teams,
        onboarding: Onboarding,
        api_keys: ApiKeys,
        audit_log: AuditLog,
        emails: Emails,
        rbac: Rbac,
    }

    ProjectPart {
        require_publishable_client_key: bool,
    }

    Auth {
        allow_sign_up: bool = true,
        password: Method,
        otp: Method,
        passkey: Passkey,
        oauth: OAuth,
        sessions: Sessions,
        reauthentication: Reauthentication,
        second_factor: SecondFactor,
        bot_challenge: Challenge,
        sign_up_rules: Entries<Rule>,
        sign_up_rules_default_action: DefaultAction,
    }

    Method {
        allow_sign_in: bool,
    }

    Passkey {
        allow_sign_in: bool,
        rp_ids: Vec<String>,
        user_verification: UserVerification,
        replaces_second_factor: bool,
    }

    Sessions {
        max_age_seconds: Option<u32>,
        max_idle_seconds: Option<u32>,
    }

    Reauthentication {
        max_age_seconds: u32,
    }

    SecondFactor {
        remember_device_days: u16,
        required_of_everyone: bool,
        required_of_teams: Entries<bool>,
        required_of_permissions: Entries<bool>,
    }

    Challenge {
        provider: ChallengeProvider,
        site_key: Option<String>,
        secret_key: Option<String>,
        sign_up: Policy,
        send_sign_in_code: Policy,
        oauth: Policy,
        usual_requests_per_hour: Option<u32>,
    }

    OAuth {
        account_merge_strategy: MergeStrategy,
        providers: Entries<Provider>,
    }

    Domains {
        allow_localhost: bool,
        trusted_domains: Entries<Domain>,
    }

    Users {
        allow_client_user_deletion: bool,
        allow_anonymous_creation: bool,
    }

    Teams {
        create_personal_team_on_sign_up: bool,
        allow_client_team_creation: bool,
        allow_member_invitations: bool = true,
        max_per_user: Option<u16>,
    }

    Onboarding {
        require_email_verification: bool,
    }

    ApiKeys {
        enabled: ApiKeysEnabled,
    }

    ApiKeysEnabled {
        user: bool,
        team: bool,
    }

    AuditLog {
        retention_days: Option<u16>,
    }

    Emails {
        server: Server,
        selected_theme_id: Option<ThemeId>,
        templates: Entries<TemplateInput>,
        themes: Entries<ThemeInput>,
        notices: Entries<bool>,
    }

    Rbac {
        permissions: Entries<Permission>,
        default_permissions: DefaultPermissions,
    }

    DefaultPermissions {
        team_creator: Entries<bool>,
        team_member: Entries<bool>,
        sign_up: Entries<bool>,
    }
}
