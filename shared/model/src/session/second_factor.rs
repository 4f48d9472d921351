//! Sessions in which the user has not proved a required second factor.

use crate::project::ProjectConfig;
use crate::session::Session;
use crate::user::User;
use crate::user::restriction::RestrictedReason;

impl User {
    /// Why the user is restricted in a session; `None` if the user is not restricted. In addition
    /// to restrictions of the user, a required second factor may be missing, or may not have been
    /// proved in this session. A second factor was not proved if the session began before the user
    /// added the first app or, if the user's passkey counts as two factors, with another
    /// credential.
    pub fn restricted_reason_in(&self, session: &Session, config: &ProjectConfig) -> Option<RestrictedReason> {
        let lacks_factor = || self.lacks_factor_in(session, config).then_some(RestrictedReason::SecondFactorRequired);
        self.restricted_reason(config).or_else(lacks_factor)
    }

    /// Whether the user could prove a required second factor in this session but has not done so,
    /// regardless of other restrictions.
    pub fn owes_second_factor(&self, session: &Session, config: &ProjectConfig) -> bool {
        self.lacks_factor_in(session, config) && self.can_prove_two_factors(config)
    }

    fn lacks_factor_in(&self, session: &Session, config: &ProjectConfig) -> bool {
        session.proved_one_factor() && self.must_prove_two_factors(config)
    }
}
