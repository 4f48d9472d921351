//! The effect of a project's sign-up rules on a new user.

use crate::sign_up::program::Status;
use crate::sign_up::verdict::{Refusal, Verdict};
use crate::user::User;
use crate::user::restriction::Restriction;

impl Verdict<'_> {
    /// Logs the rules that matched or failed, and restricts the new user if a rule requires it;
    /// fails if the sign-up is rejected.
    pub fn apply(self, user: &mut User) -> Result<(), Refusal> {
        for (rule, status) in &self.evaluations {
            match status {
                Status::Matched => tracing::info!(rule = rule.id, action = ?rule.action.r#type, "a sign-up rule matched"),
                Status::Error(reason) => tracing::warn!(rule = rule.id, reason, "a sign-up rule could not be evaluated and was skipped"),
                Status::NotMatched | Status::Disabled => {}
            }
        }
        if !self.admits() {
            return Err(Refusal);
        }
        if let Some(rule) = self.restricted_by {
            let note = rule.action.message.as_deref().map(|message| format!(": {message}")).unwrap_or_default();
            let details = format!("sign-up rule {}{note}", rule.id);
            // An anonymous user who signs up now may already have been restricted by an
            // administrator.
            let Restriction { reason, private_details } = user.restriction.take().unwrap_or_default();
            let private_details = Some(private_details.map_or_else(|| details.clone(), |before| format!("{before}\n{details}")));
            user.restriction = Some(Restriction { reason, private_details });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;
    use wire::entropy::Entropy;

    use super::*;
    use crate::email::Email;
    use crate::sign_up::risk::SignUpRisk;
    use crate::sign_up::rule::{Attempt, AuthMethod, DefaultAction, SignUpRule};
    use crate::sign_up::verdict::evaluate;

    fn rule(id: &str, condition: &str, action: &str) -> SignUpRule {
        let action = json!({ "type": action, "message": format!("says {id}") });
        let rule = json!({ "id": id, "enabled": true, "priority": 1, "condition": condition, "action": action });
        serde_json::from_value(rule).expect("a rule")
    }

    #[test]
    fn a_verdict_tells_the_user_nothing_about_the_rules() {
        let email = Email::parse("ada@example.com").expect("an address");
        let ada = Attempt { email: Some(&email), method: AuthMethod::Password, country_code: None, risk: SignUpRisk::default() };
        let mut user = User::new(&Entropy::system(), Timestamp::UNIX_EPOCH);
        let rules = [rule("r", "true", "restrict"), rule("off", "email[9] == 1", "allow")];
        let verdict = evaluate(&rules, DefaultAction::Allow, &ada);
        assert!(matches!(verdict.evaluations[0].1, Status::Error(_)), "{:?}", verdict.evaluations);
        assert_eq!(verdict.apply(&mut user), Ok(()));
        let restriction = user.restriction.clone().expect("restricted");
        assert_eq!((restriction.reason, restriction.private_details.as_deref()), (None, Some("sign-up rule r: says r")));
        // An anonymous user's restriction is kept when the user signs up.
        user.restriction = Some(Restriction { reason: Some("unpaid".to_owned()), private_details: Some("ticket 7".to_owned()) });
        assert_eq!(evaluate(&rules, DefaultAction::Allow, &ada).apply(&mut user), Ok(()));
        let restriction = user.restriction.clone().expect("restricted");
        assert_eq!(restriction.reason.as_deref(), Some("unpaid"));
        assert_eq!(restriction.private_details.as_deref(), Some("ticket 7\nsign-up rule r: says r"));
        let rules = [rule("r", "true", "reject")];
        assert_eq!(evaluate(&rules, DefaultAction::Allow, &ada).apply(&mut user), Err(Refusal));
        assert!(!Refusal.to_string().contains("says r"));
    }
}
