//! The types that a whole configuration is parsed into. Missing keys get their defaults.

use deserr::Deserr;

use crate::bot_challenge::{ChallengeProvider, Policy};
use crate::document::theme::ThemeId;
use crate::project::MergeStrategy;
use crate::project::config::documents::{TemplateInput, ThemeInput};
use crate::project::config::parts::{Domain, Entries, Provider, Rule, Server};
use crate::project::config::permissions::Permission;
use crate::project::passkeys::UserVerification;
use crate::sign_up::rule::DefaultAction;

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct Document {
    #[deserr(default)]
    pub(crate) project: ProjectPart,
    #[deserr(default)]
    pub(crate) auth: Auth,
    #[deserr(default)]
    pub(crate) domains: Domains,
    #[deserr(default)]
    pub(crate) users: Users,
    #[deserr(default)]
    pub(crate) teams: Teams,
    #[deserr(default)]
    pub(crate) onboarding: Onboarding,
    #[deserr(default)]
    pub(crate) api_keys: ApiKeys,
    #[deserr(default)]
    pub(crate) audit_log: AuditLog,
    #[deserr(default)]
    pub(crate) emails: Emails,
    #[deserr(default)]
    pub(crate) rbac: Rbac,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct ProjectPart {
    #[deserr(default)]
    pub(crate) require_publishable_client_key: bool,
}

#[derive(Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct Auth {
    #[deserr(default = true)]
    pub(crate) allow_sign_up: bool,
    #[deserr(default)]
    pub(crate) password: Method,
    #[deserr(default)]
    pub(crate) otp: Method,
    #[deserr(default)]
    pub(crate) passkey: Passkey,
    #[deserr(default)]
    pub(crate) oauth: OAuth,
    #[deserr(default)]
    pub(crate) sessions: Sessions,
    #[deserr(default)]
    pub(crate) reauthentication: Reauthentication,
    #[deserr(default)]
    pub(crate) second_factor: SecondFactor,
    #[deserr(default)]
    pub(crate) bot_challenge: Challenge,
    #[deserr(default)]
    pub(crate) sign_up_rules: Entries<Rule>,
    #[deserr(default)]
    pub(crate) sign_up_rules_default_action: DefaultAction,
}

impl Default for Auth {
    fn default() -> Self {
        Self {
            allow_sign_up: true,
            password: Method::default(),
            otp: Method::default(),
            passkey: Passkey::default(),
            oauth: OAuth::default(),
            sessions: Sessions::default(),
            reauthentication: Reauthentication::default(),
            second_factor: SecondFactor::default(),
            bot_challenge: Challenge::default(),
            sign_up_rules: Entries::default(),
            sign_up_rules_default_action: DefaultAction::default(),
        }
    }
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct Method {
    #[deserr(default)]
    pub(crate) allow_sign_in: bool,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct Passkey {
    #[deserr(default)]
    pub(crate) allow_sign_in: bool,
    #[deserr(default)]
    pub(crate) rp_ids: Vec<String>,
    #[deserr(default)]
    pub(crate) user_verification: UserVerification,
    #[deserr(default)]
    pub(crate) replaces_second_factor: bool,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct Sessions {
    #[deserr(default)]
    pub(crate) max_age_seconds: Option<u32>,
    #[deserr(default)]
    pub(crate) max_idle_seconds: Option<u32>,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct Reauthentication {
    #[deserr(default)]
    pub(crate) max_age_seconds: u32,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct SecondFactor {
    #[deserr(default)]
    pub(crate) remember_device_days: u16,
    #[deserr(default)]
    pub(crate) required_of_everyone: bool,
    #[deserr(default)]
    pub(crate) required_of_teams: Entries<bool>,
    #[deserr(default)]
    pub(crate) required_of_permissions: Entries<bool>,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct Challenge {
    #[deserr(default)]
    pub(crate) provider: ChallengeProvider,
    #[deserr(default)]
    pub(crate) site_key: Option<String>,
    #[deserr(default)]
    pub(crate) secret_key: Option<String>,
    #[deserr(default)]
    pub(crate) sign_up: Policy,
    #[deserr(default)]
    pub(crate) send_sign_in_code: Policy,
    #[deserr(default)]
    pub(crate) oauth: Policy,
    #[deserr(default)]
    pub(crate) usual_requests_per_hour: Option<u32>,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct OAuth {
    #[deserr(default)]
    pub(crate) account_merge_strategy: MergeStrategy,
    #[deserr(default)]
    pub(crate) providers: Entries<Provider>,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct Domains {
    #[deserr(default)]
    pub(crate) allow_localhost: bool,
    #[deserr(default)]
    pub(crate) trusted_domains: Entries<Domain>,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct Users {
    #[deserr(default)]
    pub(crate) allow_client_user_deletion: bool,
    #[deserr(default)]
    pub(crate) allow_anonymous_creation: bool,
}

#[derive(Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct Teams {
    #[deserr(default)]
    pub(crate) create_personal_team_on_sign_up: bool,
    #[deserr(default)]
    pub(crate) allow_client_team_creation: bool,
    #[deserr(default = true)]
    pub(crate) allow_member_invitations: bool,
    #[deserr(default)]
    pub(crate) max_per_user: Option<u16>,
}

impl Default for Teams {
    fn default() -> Self {
        Self {
            create_personal_team_on_sign_up: false,
            allow_client_team_creation: false,
            allow_member_invitations: true,
            max_per_user: None,
        }
    }
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct Onboarding {
    #[deserr(default)]
    pub(crate) require_email_verification: bool,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct ApiKeys {
    #[deserr(default)]
    pub(crate) enabled: ApiKeysEnabled,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct ApiKeysEnabled {
    #[deserr(default)]
    pub(crate) user: bool,
    #[deserr(default)]
    pub(crate) team: bool,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct AuditLog {
    #[deserr(default)]
    pub(crate) retention_days: Option<u16>,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct Emails {
    #[deserr(default)]
    pub(crate) server: Server,
    #[deserr(default)]
    pub(crate) selected_theme_id: Option<ThemeId>,
    #[deserr(default)]
    pub(crate) templates: Entries<TemplateInput>,
    #[deserr(default)]
    pub(crate) themes: Entries<ThemeInput>,
    #[deserr(default)]
    pub(crate) notices: Entries<bool>,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct Rbac {
    #[deserr(default)]
    pub(crate) permissions: Entries<Permission>,
    #[deserr(default)]
    pub(crate) default_permissions: DefaultPermissions,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct DefaultPermissions {
    #[deserr(default)]
    pub(crate) team_creator: Entries<bool>,
    #[deserr(default)]
    pub(crate) team_member: Entries<bool>,
    #[deserr(default)]
    pub(crate) sign_up: Entries<bool>,
}
