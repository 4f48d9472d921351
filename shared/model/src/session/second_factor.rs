//! Sessions in which the user has not proved a required second factor.

use crate::project::ProjectConfig;
use crate::session::Session;
use crate::user::User;
use crate::user::restriction::RestrictedReason;

impl User {
    /// Why the user is restricted in a session; `None` if the user is not. Beside a user who lacks
    /// a required second factor, this is a user who has one but has not proved it in this session:
    /// a session that began before the user's first app, or, for a user whose passkey counts as two
    /// factors, a session that began with another credential.
    pub fn restricted_reason_in(&self, session: &Session, config: &ProjectConfig) -> Option<RestrictedReason> {
        let lacks_factor = || self.lacks_factor_in(session, config).then_some(RestrictedReason::SecondFactorRequired);
        self.restricted_reason(config).or_else(lacks_factor)
    }

    /// Whether the user has not proved a required second factor in this session but could, whether
    /// or not the user is restricted for another reason.
    pub fn owes_second_factor(&self, session: &Session, config: &ProjectConfig) -> bool {
        self.lacks_factor_in(session, config) && self.can_prove_two_factors(config)
    }

    fn lacks_factor_in(&self, session: &Session, config: &ProjectConfig) -> bool {
        session.proved_one_factor() && self.must_prove_two_factors(config)
    }
}
