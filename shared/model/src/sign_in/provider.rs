//! Who signs in by an account at a provider. Pure: what is known goes in, one decision comes out.

use wire::id::UserId;

use crate::email::Email;
use crate::project::MergeStrategy;
use crate::provider::authorization::Purpose;

/// What is known when a provider has named an account.
#[derive(Debug, Clone)]
pub struct Situation<'a> {
    pub purpose: Purpose,
    /// The user of the flow's token: whom to link to, or whom to upgrade.
    pub flow_user: Option<UserId>,
    /// Whose account it is already, and whether it signs in.
    pub account_owner: Option<(UserId, bool)>,
    /// The address that the provider names, and whether it says it is verified.
    pub email: Option<(&'a Email, bool)>,
    /// Who signs in with that address here, and whether it is verified here.
    pub email_owner: Option<(UserId, bool)>,
    pub strategy: MergeStrategy,
    pub sign_up_enabled: bool,
}

/// What happens with the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It is this user's already.
    SignIn(UserId),
    /// It becomes one more way for this user to sign in.
    Attach(UserId),
    /// The user of the address, which nobody has proved here, becomes whoever the provider vouches for; see
    /// [`ownership`](crate::user::ownership).
    TakeOver(UserId),
    /// A new user gets it; whether its address signs in as well.
    SignUp { email_signs_in: bool },
    /// The anonymous user of the flow becomes an ordinary one with it.
    Upgrade { user: UserId, email_signs_in: bool },
}

/// Why an account does not sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Somebody else has the account.
    OfAnother,
    /// Whoever has the account does not let it sign in.
    NotForSignIn,
    /// Somebody else signs in with the address; whether verifying it here would help.
    EmailTaken {
        would_work_if_verified: bool,
    },
    SignUpNotEnabled,
}

impl Situation<'_> {
    pub fn decide(&self) -> Result<Decision, Refusal> {
        match (self.purpose, self.flow_user, self.account_owner) {
            // Whoever links has signed in already; it is for more of the provider's scopes.
            (Purpose::Link, Some(user), Some((owner, _))) if user == owner => Ok(Decision::SignIn(user)),
            (Purpose::Link, _, Some(_)) => Err(Refusal::OfAnother),
            (Purpose::Link, Some(user), None) => Ok(Decision::Attach(user)),
            // A flow that links has a user, or it would not have begun.
            (Purpose::Link, None, None) => Err(Refusal::OfAnother),
            (Purpose::Authenticate, _, Some((owner, true))) => Ok(Decision::SignIn(owner)),
            (Purpose::Authenticate, _, Some((_, false))) => Err(Refusal::NotForSignIn),
            (Purpose::Authenticate, _, None) => self.new_account(),
        }
    }

    fn new_account(&self) -> Result<Decision, Refusal> {
        let owner = self.email_owner.filter(|(owner, _)| Some(*owner) != self.flow_user);
        let mut email_signs_in = self.email.is_some();
        if let (Some((_, verified_there)), Some((owner, verified_here))) = (self.email, owner) {
            // Strategies are about two owners of one address; an account whose address is unproved has none.
            if verified_there && !verified_here {
                return Ok(Decision::TakeOver(owner));
            }
            match self.strategy {
                MergeStrategy::LinkMethod if verified_there => return Ok(Decision::Attach(owner)),
                MergeStrategy::LinkMethod => return Err(Refusal::EmailTaken { would_work_if_verified: !verified_here }),
                MergeStrategy::RaiseError => return Err(Refusal::EmailTaken { would_work_if_verified: false }),
                MergeStrategy::AllowDuplicates => email_signs_in = false,
            }
        }
        if !self.sign_up_enabled {
            return Err(Refusal::SignUpNotEnabled);
        }
        Ok(match self.flow_user {
            Some(user) => Decision::Upgrade { user, email_signs_in },
            None => Decision::SignUp { email_signs_in },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::entropy::Entropy;

    struct World {
        ada: UserId,
        eve: UserId,
        email: Email,
    }

    fn world() -> World {
        let id = || UserId::from(Entropy::system().uuid());
        World { ada: id(), eve: id(), email: Email::parse("ada@example.com").expect("valid") }
    }

    impl World {
        fn situation(&self, purpose: Purpose) -> Situation<'_> {
            Situation {
                purpose,
                flow_user: None,
                account_owner: None,
                email: Some((&self.email, true)),
                email_owner: None,
                strategy: MergeStrategy::LinkMethod,
                sign_up_enabled: true,
            }
        }
    }

    #[test]
    fn an_account_signs_in_whom_it_belongs_to() {
        let world = world();
        for flow_user in [None, Some(world.eve)] {
            let known = Situation {
                account_owner: Some((world.ada, true)),
                flow_user,
                sign_up_enabled: false,
                ..world.situation(Purpose::Authenticate)
            };
            assert_eq!(known.decide(), Ok(Decision::SignIn(world.ada)));
        }
    }

    #[test]
    fn an_account_that_only_gives_tokens_signs_nobody_in() {
        let world = world();
        let known = Situation { account_owner: Some((world.ada, false)), ..world.situation(Purpose::Authenticate) };
        assert_eq!(known.decide(), Err(Refusal::NotForSignIn));
        let link = Situation { flow_user: Some(world.ada), purpose: Purpose::Link, ..known };
        assert_eq!(link.decide(), Ok(Decision::SignIn(world.ada)));
        assert_eq!(Situation { flow_user: Some(world.eve), ..link }.decide(), Err(Refusal::OfAnother));
    }

    #[test]
    fn accounts_are_merged_when_both_addresses_are_verified_and_taken_over_when_only_the_providers_is() {
        let world = world();
        for (here, there, wanted) in [
            (true, true, Ok(Decision::Attach(world.ada))),
            (false, true, Ok(Decision::TakeOver(world.ada))),
            (true, false, Err(Refusal::EmailTaken { would_work_if_verified: false })),
            (false, false, Err(Refusal::EmailTaken { would_work_if_verified: true })),
        ] {
            let email = Some((&world.email, there));
            let taken = Situation { email, email_owner: Some((world.ada, here)), ..world.situation(Purpose::Authenticate) };
            assert_eq!(taken.decide(), wanted, "here {here}, there {there}");
        }
    }

    #[test]
    fn the_strategy_of_the_project_decides_on_an_address_that_is_taken() {
        let world = world();
        let taken = Situation { email_owner: Some((world.ada, true)), ..world.situation(Purpose::Authenticate) };
        let raise = Situation { strategy: MergeStrategy::RaiseError, ..taken.clone() };
        assert_eq!(raise.decide(), Err(Refusal::EmailTaken { would_work_if_verified: false }));
        let duplicate = Situation { strategy: MergeStrategy::AllowDuplicates, ..taken.clone() };
        assert_eq!(duplicate.decide(), Ok(Decision::SignUp { email_signs_in: false }));
        for strategy in [MergeStrategy::LinkMethod, MergeStrategy::RaiseError, MergeStrategy::AllowDuplicates] {
            let unproved = Situation { email_owner: Some((world.ada, false)), strategy, ..taken.clone() };
            assert_eq!(unproved.decide(), Ok(Decision::TakeOver(world.ada)));
        }
    }

    #[test]
    fn who_is_new_signs_up_where_that_is_allowed() {
        let world = world();
        let new = world.situation(Purpose::Authenticate);
        assert_eq!(new.decide(), Ok(Decision::SignUp { email_signs_in: true }));
        let without_email = Situation { email: None, ..new.clone() };
        assert_eq!(without_email.decide(), Ok(Decision::SignUp { email_signs_in: false }));
        let upgraded = Situation { flow_user: Some(world.eve), ..new.clone() };
        assert_eq!(upgraded.decide(), Ok(Decision::Upgrade { user: world.eve, email_signs_in: true }));
        for closed in [new, upgraded] {
            assert_eq!(Situation { sign_up_enabled: false, ..closed }.decide(), Err(Refusal::SignUpNotEnabled));
        }
    }

    #[test]
    fn a_link_goes_to_the_user_of_the_flow_alone() {
        let world = world();
        let link = Situation { flow_user: Some(world.ada), sign_up_enabled: false, ..world.situation(Purpose::Link) };
        assert_eq!(link.decide(), Ok(Decision::Attach(world.ada)));
        // The address says nothing: whoever links has signed in.
        let taken = Situation { email_owner: Some((world.eve, false)), ..link.clone() };
        assert_eq!(taken.decide(), Ok(Decision::Attach(world.ada)));
        assert_eq!(Situation { account_owner: Some((world.ada, true)), ..link.clone() }.decide(), Ok(Decision::SignIn(world.ada)));
        assert_eq!(Situation { account_owner: Some((world.eve, true)), ..link.clone() }.decide(), Err(Refusal::OfAnother));
        assert_eq!(Situation { flow_user: None, ..link }.decide(), Err(Refusal::OfAnother));
    }
}
